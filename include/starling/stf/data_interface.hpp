// What a type must tell for logical data to be made of it. A view is what tasks get: a small value that points to
// memory. data_interface<View> is specialised here for slices and scalars; specialise it for types of your own
// (examples/08_sparse_matrix.cpp and examples/09_hash_table.cpp do):
//
//   template <> struct starling::stf::data_interface<my_view> {
//     using shape_type = my_shape;               // the layout without the data; a value
//     using read_type = my_const_view;           // what a task gets that only reads; my_view converts to it
//     static shape_type shape(const my_view&);
//     static std::size_t bytes(const shape_type&);                    // of one instance, in one piece
//     static my_view view(const shape_type&, std::byte* start);       // over an instance, aligned to 256 bytes
//     static std::vector<memory_part> parts(const my_view&);          // where a user's view has its bytes
//     // Only if elements do not say it: what addresses of the user's memory are multiples of, a power of two.
//     static std::size_t alignment(const shape_type&);
//     // Only if composite places are to partition it: its dimensions, the slowest first, and the bytes of an element;
//     and
//     // whether its indices go in the opposite order, as partitioners are to count them.
//     static std::vector<index_t> extents(const shape_type&);
//     static constexpr std::size_t element_bytes = ...;
//     static constexpr bool column_major = false;
//   };
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "starling/stf/detail/call_site.hpp"
#include "starling/stf/place.hpp"
#include "starling/stf/shape_of.hpp"
#include "starling/stf/slice.hpp"

namespace starling::stf {

// A piece of a user's data, and where it lies in an instance: `rows` rows of `row_bytes`, `pitch` bytes apart in the
// user's memory, one after the other in the instance from `offset` on.
struct memory_part {
  std::byte* start = nullptr;  // of data that is only read: never written through
  std::size_t offset = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t pitch = 0;
};

template <class View>
struct data_interface;

namespace detail {

// Throws argument_error: more bytes than can be counted.
[[noreturn]] void refuse_elements(index_t elements, std::size_t bytes_each);

// Of a view whose elements along dimension d are strides[d] apart: as few pieces as there can be. Throws argument_error
// for strides that are negative or have elements overlap.
std::vector<memory_part> strided_parts(std::byte* start, std::size_t element_bytes, const index_t* extents,
                                       const index_t* strides, int rank);

template <class T>
std::byte* bytes_at(T* start) {
  return reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(start));
}

}  // namespace detail

template <class View>
concept data_view = requires { typename data_interface<View>::shape_type; };

// Whether tasks may only read data of such views: their elements are const.
template <class View>
inline constexpr bool only_read = requires { requires std::is_const_v<typename View::element_type>; };

// Elements in one piece; a view whose elements are apart is taken by context::logical_data.
template <class T, class Extents, class Layout>
  requires(Layout::template mapping<Extents>::is_always_exhaustive())
struct data_interface<cuda::std::mdspan<T, Extents, Layout>> {
  using view_type = cuda::std::mdspan<T, Extents, Layout>;
  using read_type = cuda::std::mdspan<const T, Extents, Layout>;
  using shape_type = shape_of<view_type>;

  static shape_type shape(const view_type& v) { return shape_type(v); }
  static std::size_t bytes(const shape_type& s) {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<index_t>::max()) / sizeof(T);
    if (static_cast<std::size_t>(s.size()) > most) detail::refuse_elements(s.size(), sizeof(T));
    return s.bytes();
  }
  static view_type view(const shape_type& s, std::byte* start) { return s.view(reinterpret_cast<T*>(start)); }
  static constexpr bool column_major = order_of<Layout> == element_order::column_major;
  static std::vector<index_t> extents(const shape_type& s)
    requires(order_of<Layout> != element_order::other)
  {
    std::vector<index_t> all;
    for (int d = 0; d < s.rank(); ++d) all.push_back(s.extent(column_major ? s.rank() - 1 - d : d));
    return all;
  }
  static constexpr std::size_t element_bytes = sizeof(T);
  static std::vector<memory_part> parts(const view_type& v) {
    const std::size_t all = shape(v).bytes();
    return {{detail::bytes_at(v.data_handle()), 0, all, 1, all}};
  }
};

template <class T>
struct data_interface<scalar_view<T>> {
  using read_type = scalar_view<const T>;
  using shape_type = shape_of<scalar_view<T>>;

  static shape_type shape(const scalar_view<T>&) { return {}; }
  static std::size_t bytes(const shape_type&) { return sizeof(T); }
  static scalar_view<T> view(const shape_type&, std::byte* start) {
    return scalar_view<T>(reinterpret_cast<T*>(start));
  }
  static std::vector<memory_part> parts(const scalar_view<T>& v) {
    return {{detail::bytes_at(v.get()), 0, sizeof(T), 1, sizeof(T)}};
  }
};

// How places over several devices partition an instance among them.
struct array_layout {
  std::size_t element_bytes = 0;  // 0: they have it in one piece
  std::vector<index_t> extents;   // the slowest dimension first
  bool column_major = false;      // indices go in the opposite order
};

// What the runtime itself is told of a piece of data.
struct data_description {
  std::size_t bytes = 0;      // of an instance
  std::size_t alignment = 1;  // of the elements
  array_layout array;
  std::vector<memory_part> original;  // the user's memory; empty: none
  data_place original_place;
  std::size_t ghosts_before = 0;  // bytes that an instance has room for around it; see ghost_rows
  std::size_t ghosts_after = 0;
  call_site made_at = no_call_site;
};

template <class View>
data_description describe_data(const typename data_interface<View>::shape_type& shape) {
  using interface = data_interface<View>;
  data_description what;
  what.bytes = interface::bytes(shape);
  if constexpr (requires { typename View::element_type; }) what.alignment = alignof(typename View::element_type);
  if constexpr (requires { interface::alignment(shape); }) what.alignment = interface::alignment(shape);
  if constexpr (requires { interface::extents(shape); }) {
    what.array.extents = interface::extents(shape);
    what.array.element_bytes = interface::element_bytes;
    if constexpr (requires { interface::column_major; }) what.array.column_major = interface::column_major;
  }
  return what;
}

}  // namespace starling::stf
