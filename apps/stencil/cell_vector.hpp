// Cells of a row that a thread of a GPU loads and stores at once.
#pragma once

namespace starling::stencil {

template <class T>
struct alignas(16) cell_vector {
  static constexpr int width = 16 / static_cast<int>(sizeof(T));
  T cell[width];
};

}  // namespace starling::stencil
