// The symmetric addresses of OpenSHMEM's calls: a sym<T>, or a plain pointer into symmetric memory of the caller's own
// PE, as OpenSHMEM has them.
#pragma once

#include <type_traits>

#include "starling/device/group.hpp"
#include "starling/device/own_address.hpp"

namespace starling::shmem {

namespace detail {
template <class Address>
struct symmetric_traits {};
template <class T>
struct symmetric_traits<sym<T>> {
  using element = T;
};
template <class T>
struct symmetric_traits<T*> {
  using element = T;
};
}  // namespace detail

// What calls take for an object that every PE has. A group of threads is no address, a literal null is none either.
template <class Address>
concept symmetric_address = requires { typename detail::symmetric_traits<std::remove_cvref_t<Address>>::element; };

// The type of the objects there.
template <symmetric_address Address>
using element_of = std::remove_const_t<typename detail::symmetric_traits<std::remove_cvref_t<Address>>::element>;

// A source for this destination: of objects of the same type, or const ones.
template <class Source, class Dest>
concept source_for = symmetric_address<Source> && std::is_same_v<element_of<Source>, element_of<Dest>>;

// The same address as a sym<T>. A pointer that is not into symmetric memory of the group's own PE ends the program: the
// host throws range_error, which names the address and the PE whose memory it is. A collective of the group.
template <class Group, class T>
STARLING_HD sym<T> symmetric(const Group&, sym<T> address, where = where::current()) {
  return address;
}
template <class Group, class T>
STARLING_HD sym<T> symmetric(const Group& g, T* address, where at = where::current()) {
  const program_state& s = g.state();
  if (!is_own_symmetric(s, address)) {
    if constexpr (target::on_gpu) {
      if (g.member() == 0) gpu::refuse_address(s, g.index(), address, at);
      g.sync();
      g.give_up();
    } else {
      g.port().refuse_address(address, at);
    }
  }
  using byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  const index_t stride = s.heap.stride_bytes();
  return {reinterpret_cast<T*>(reinterpret_cast<byte*>(address) - s.pe * stride), stride};
}

// The same of a source, whose elements may be const.
template <class Group, symmetric_address Address>
STARLING_HD sym<element_of<Address>> symmetric_source(const Group& g, Address address, where at = where::current()) {
  const auto x = symmetric(g, address, at);
  return {const_cast<element_of<Address>*>(x.on(0)), x.stride_bytes()};
}

// The bytes of a symmetric object, for calls that move memory of any type.
template <class T>
STARLING_HD auto bytes_at(sym<T> address) {
  using byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return sym<byte>(reinterpret_cast<byte*>(address.on(0)), address.stride_bytes());
}
STARLING_HD inline std::byte* bytes_at(void* address) { return static_cast<std::byte*>(address); }
STARLING_HD inline const std::byte* bytes_at(const void* address) { return static_cast<const std::byte*>(address); }

}  // namespace starling::shmem
