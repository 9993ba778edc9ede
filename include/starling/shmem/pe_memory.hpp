// The memory of one PE as the host reaches it: puts, gets and signals of a world (shmem/world.hpp). Every call is done
// when it returns. Elements are counted, and strides are in elements.
#pragma once

#include <type_traits>

#include "starling/machine/machine.hpp"

namespace starling::shmem {

// What the host takes for an object that every PE has: an array or a handle into one.
template <class Address>
struct host_traits {};
template <class T>
struct host_traits<sym<T>> {
  using element = T;
  static sym<T> handle(const sym<T>& x) { return x; }
};
template <class T>
struct host_traits<symmetric_array<T>> {
  using element = T;
  static sym<T> handle(const symmetric_array<T>& x) { return x.data(); }
};
template <class Address>
using host_element = typename host_traits<Address>::element;

class world;

// The memory of one PE, as the host reaches it. Lives as long as its world.
class pe_memory {
 public:
  int pe() const { return pe_; }

  // n elements to the PE and from it.
  template <class Dest>
  void put(const Dest& dest, const host_element<Dest>* source, index_t n, where at = where::current()) const {
    copy(on(dest), source, bytes<host_element<Dest>>("put", n), at);
  }
  template <class Source>
  void get(std::remove_const_t<host_element<Source>>* dest, const Source& source, index_t n,
           where at = where::current()) const {
    copy(dest, on(source), bytes<host_element<Source>>("get", n), at);
  }
  template <class Dest>
  void putmem(const Dest& dest, const void* source, index_t n, where at = where::current()) const {
    copy(on(dest), source, bytes<std::byte>("putmem", n), at);
  }
  template <class Source>
  void getmem(void* dest, const Source& source, index_t n, where at = where::current()) const {
    copy(dest, on(source), bytes<std::byte>("getmem", n), at);
  }

  // The same with strides in elements, at least 1.
  template <class Dest>
  void iput(const Dest& dest, const host_element<Dest>* source, index_t dest_stride, index_t source_stride,
            index_t n) const {
    ibput(dest, source, dest_stride, source_stride, 1, n);
  }
  template <class Source>
  void iget(std::remove_const_t<host_element<Source>>* dest, const Source& source, index_t dest_stride,
            index_t source_stride, index_t n) const {
    ibget(dest, source, dest_stride, source_stride, 1, n);
  }
  // Pieces of `piece` elements each, whose starts are so many elements apart: at least as many as a piece has.
  template <class Dest>
  void ibput(const Dest& dest, const host_element<Dest>* source, index_t dest_stride, index_t source_stride,
             index_t piece, index_t pieces) const {
    copy_pieces(on(dest), dest_stride, source, source_stride, piece, pieces, sizeof(host_element<Dest>));
  }
  template <class Source>
  void ibget(std::remove_const_t<host_element<Source>>* dest, const Source& source, index_t dest_stride,
             index_t source_stride, index_t piece, index_t pieces) const {
    copy_pieces(dest, dest_stride, on(source), source_stride, piece, pieces, sizeof(host_element<Source>));
  }

  // One element.
  template <class Dest>
  void p(const Dest& dest, const host_element<Dest>& value, where at = where::current()) const {
    copy(on(dest), &value, sizeof value, at);
  }
  template <class Source>
  std::remove_const_t<host_element<Source>> g(const Source& source, where at = where::current()) const {
    std::remove_const_t<host_element<Source>> value;
    copy(&value, on(source), sizeof value, at);
    return value;
  }

  // Data, then its signal. The host's signal_add reads and writes: no kernel may raise the same signal meanwhile.
  template <class Dest, class Signal>
  void put_signal(const Dest& dest, const host_element<Dest>* source, index_t n, const Signal& sig, std::uint64_t value,
                  signal_op op = signal_op::set, where at = where::current()) const {
    put(dest, source, n, at);
    if (op == signal_op::set)
      signal_set(sig, value, at);
    else
      signal_add(sig, value, at);
  }
  template <class Signal>
  void signal_set(const Signal& sig, std::uint64_t value, where at = where::current()) const {
    p(sig, host_element<Signal>{value}, at);
  }
  template <class Signal>
  void signal_add(const Signal& sig, std::uint64_t value, where at = where::current()) const {
    signal_set(sig, signal_fetch(sig, at) + value, at);
  }
  template <class Signal>
  std::uint64_t signal_fetch(const Signal& sig, where at = where::current()) const {
    static_assert(sizeof(host_element<Signal>) == sizeof(std::uint64_t), "a signal is a 64-bit word");
    const auto seen = g(sig, at);
    if constexpr (std::is_same_v<host_element<Signal>, signal>)
      return seen.value;
    else
      return seen;
  }

  // Where the host can load and store it in place; null where only calls reach it: on GPUs.
  template <class Address>
  host_element<Address>* ptr(const Address& x) const {
    return in_place() ? on(x) : nullptr;
  }

 private:
  friend class world;
  pe_memory(world& of, int pe) : world_(&of), pe_(pe) {}

  template <class Address>
  host_element<Address>* on(const Address& x) const {
    return host_traits<Address>::handle(x).on(pe_);
  }
  template <class T>
  static std::size_t bytes(const char* call, index_t n) {
    return bytes_of(call, n, sizeof(T));
  }
  static std::size_t bytes_of(const char* call, index_t n, std::size_t element);
  void copy(void* dest, const void* source, std::size_t bytes, where at) const;
  void copy_pieces(void* dest, index_t dest_stride, const void* source, index_t source_stride, index_t piece,
                   index_t pieces, std::size_t element) const;
  bool in_place() const;

  world* world_;
  int pe_;
};

}  // namespace starling::shmem
