// Typed views of memory that somebody else owns: cuda::std::mdspan in row-major order, extents counted by index_t.
#pragma once

#include <cuda/std/mdspan>

#include "starling/base/index.hpp"

namespace starling {

template <int Rank>
using view_extents = cuda::std::dextents<index_t, Rank>;

// view<float, 2> v(pointer, rows, columns); v(i, j).
template <class T, int Rank>
using view = cuda::std::mdspan<T, view_extents<Rank>>;

// A view whose rows are `pitch` apart and so on: view of a part of a larger array.
template <class T, int Rank>
using strided_view = cuda::std::mdspan<T, view_extents<Rank>, cuda::std::layout_stride>;

}  // namespace starling
