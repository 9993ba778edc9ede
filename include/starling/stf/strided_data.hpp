// Logical data of views whose elements are apart: what context::logical_data does with a strided_view. Tasks get the
// elements in one piece, row by row. starling/stf/context.hpp includes this.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

#include "starling/stf/context.hpp"

namespace starling::stf {

template <class T, std::size_t... E>
  requires(sizeof...(E) > 0)
stf::logical_data<slice<T, static_cast<int>(sizeof...(E))>> context::logical_data(
    const cuda::std::mdspan<T, cuda::std::extents<index_t, E...>, cuda::std::layout_stride>& v, const data_place& where,
    call_site at) {
  constexpr int rank = static_cast<int>(sizeof...(E));
  index_t extents[rank];
  index_t strides[rank];
  for (int d = 0; d < rank; ++d) {
    extents[d] = v.extent(static_cast<std::size_t>(d));
    strides[d] = v.stride(static_cast<std::size_t>(d));
  }
  using view = slice<T, rank>;
  const auto shape = std::apply([](auto... n) { return shape_of<view>(n...); }, std::to_array(extents));
  data_description what = describe_data<view>(shape);
  what.original = detail::strided_parts(detail::bytes_at(v.data_handle()), sizeof(T), extents, strides, rank);
  what.original_place = where;
  return {new_data(std::move(what), at), shape};
}

}  // namespace starling::stf
