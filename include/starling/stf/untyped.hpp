// Untyped logical data: so many bytes, of which only the alignment is known, as libraries and bindings have them. Tasks
// get an `untyped` view, or name the same data with a type:
//
//   auto u = ctx.logical_data(untyped(pointer, bytes, alignof(double)));
//   auto v = ctx.logical_data_of<untyped>({bytes, alignof(double)});          // without a value
//   auto x = typed<slice<double>>(v, shape_of<slice<double>>(n));             // v as n doubles
//   auto w = untyped_of(x);                                                   // and back
//
// Tasks on any of them are ordered as on one, since it is the same data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "starling/stf/logical_data.hpp"

namespace starling::stf {

// Of an instance, and of the user's memory; a power of two, up to that of instances.
inline constexpr std::size_t most_alignment = 256;

struct untyped_shape {
  std::size_t bytes = 0;
  std::size_t alignment = 1;

  index_t size() const { return static_cast<index_t>(bytes); }
  friend bool operator==(const untyped_shape&, const untyped_shape&) = default;
};

namespace detail {

// Throw argument_error.
[[noreturn]] void refuse_bytes_as(std::size_t bytes, const void* start, std::size_t size, std::size_t alignment);
void check_untyped(const untyped_shape& s);
void check_typed(const std::shared_ptr<data_state>& d, const untyped_shape& have, std::size_t bytes,
                 std::size_t alignment);
void check_made(const std::shared_ptr<data_state>& d);

}  // namespace detail

// Byte: std::byte, or const std::byte.
template <class Byte>
class untyped_view {
 public:
  using element_type = Byte;
  template <class T>
  using like = std::conditional_t<std::is_const_v<Byte>, const T, T>;

  untyped_view() = default;
  // `bytes` bytes of memory whose address is a multiple of `alignment`.
  STARLING_HD untyped_view(like<void>* start, std::size_t bytes, std::size_t alignment = 1)
      : start_(static_cast<Byte*>(start)), shape_{bytes, alignment} {}
  // untyped goes where a const_untyped is wanted.
  template <class B = Byte>
    requires(!std::is_const_v<B>)
  STARLING_HD operator untyped_view<const B>() const {  // NOLINT: as with pointers
    return {start_, shape_.bytes, shape_.alignment};
  }

  STARLING_HD Byte* data() const { return start_; }
  STARLING_HD std::size_t size() const { return shape_.bytes; }
  STARLING_HD const untyped_shape& shape() const { return shape_; }

  // All of it as elements of a type. On the host an argument_error for another number of bytes than that of whole
  // elements, and for an address that is no multiple of what they need; in kernels that is for the caller to see to.
  template <class T>
  STARLING_HD slice<like<T>> as() const {
    if constexpr (!target::on_gpu)
      if (shape_.bytes % sizeof(T) != 0 || reinterpret_cast<std::uintptr_t>(start_) % alignof(T) != 0)
        detail::refuse_bytes_as(shape_.bytes, start_, sizeof(T), alignof(T));
    return slice<like<T>>(reinterpret_cast<like<T>*>(start_), static_cast<index_t>(shape_.bytes / sizeof(T)));
  }

 private:
  Byte* start_ = nullptr;
  untyped_shape shape_;
};

using untyped = untyped_view<std::byte>;
using const_untyped = untyped_view<const std::byte>;

// Places over several devices partition it as a line of bytes.
template <class Byte>
struct data_interface<untyped_view<Byte>> {
  using shape_type = untyped_shape;
  using read_type = const_untyped;

  static shape_type shape(const untyped_view<Byte>& v) { return v.shape(); }
  static std::size_t bytes(const shape_type& s) {
    detail::check_untyped(s);
    return s.bytes;
  }
  static std::size_t alignment(const shape_type& s) { return s.alignment; }
  static untyped_view<Byte> view(const shape_type& s, std::byte* start) { return {start, s.bytes, s.alignment}; }
  static std::vector<index_t> extents(const shape_type& s) { return {s.size()}; }
  static constexpr std::size_t element_bytes = 1;
  static std::vector<memory_part> parts(const untyped_view<Byte>& v) {
    return {{detail::bytes_at(v.data()), 0, v.size(), 1, v.size()}};
  }
};

// The same data, with a type: a handle of its own, by which tasks use it as any other. Throws argument_error for a
// shape of another number of bytes, and for elements that need a larger alignment than the data has.
template <data_view View, class Byte>
logical_data<View> typed(const logical_data<untyped_view<Byte>>& d,
                         const typename data_interface<View>::shape_type& shape) {
  static_assert(only_read<View> || !std::is_const_v<Byte>,
                "stf::typed: untyped data of const bytes can only be read; name a view of const elements");
  const data_description what = describe_data<View>(shape);
  detail::check_typed(d.state(), d.shape(), what.bytes, what.alignment);
  return {d.state(), shape};
}

// The same data as bytes, as an instance has them. Throws argument_error for a handle that is none.
template <data_view View>
auto untyped_of(const logical_data<View>& d) {
  using byte = std::conditional_t<only_read<View>, const std::byte, std::byte>;
  detail::check_made(d.state());
  const data_description what = describe_data<View>(d.shape());
  return logical_data<untyped_view<byte>>(d.state(), {what.bytes, what.alignment});
}

}  // namespace starling::stf
