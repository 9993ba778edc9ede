// element_order: how the elements of an array follow each other in memory, which says along which dimension it falls
// into contiguous pieces.
#pragma once

#include <cuda/std/mdspan>

namespace starling::stf {

enum class element_order {
  row_major,     // the last dimension is the fastest, the first the slowest
  column_major,  // the first is the fastest, the last the slowest
  other
};

// Of a layout of mdspan. Specialise it for a layout of your own that is one of the two, without gaps: data of other
// layouts is neither split nor partitioned among several devices.
template <class Layout>
inline constexpr element_order order_of = element_order::other;
template <>
inline constexpr element_order order_of<cuda::std::layout_right> = element_order::row_major;
template <>
inline constexpr element_order order_of<cuda::std::layout_left> = element_order::column_major;

}  // namespace starling::stf
