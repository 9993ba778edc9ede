#include "stencil/plan/spilling_choice.hpp"

#include <algorithm>
#include <limits>

#include "stencil/core/cell_vector.hpp"
#include "stencil/tiles/resident_kernels.hpp"

namespace starling::stencil {

template <class T>
bool lay_out_spilling(const geometry& g, tiling& t, int most_bands, std::size_t shared_bytes, int register_rows) {
  constexpr int width = cell_vector<T>::width;
  if (g.active[0] || t.depth > 1) return false;
  t.grain = width;
  set_largest(g, t);
  // The cells of a row at its two ends are not the same lane's.
  if (smallest_extent(g, t, 2) <= width || t.largest[2] > band_vectors * width) return false;
  const index_t bands = smallest_extent(g, t, 1) / least_spilling_band(register_rows);
  if (bands == 0) return false;
  t.single_buffered = true;
  t.spilling = {};
  t.spilling.count = static_cast<int>(std::min<index_t>(bands, most_bands));
  t.spilling.register_rows = register_rows;
  const auto rows = static_cast<int>(t.spilling.rows_of(0, static_cast<int>(t.largest[1])).size());
  const index_t row_of_each = t.spilling.count * band_vectors * width;
  t.spilling.side_cells =
      static_cast<int>(round_up((packets_for<T>(t.largest[1]) + t.spilling.count) * elements_per_packet<T> + 1, 4));
  const std::size_t besides = resident_scratch<T>(t, 32 * t.spilling.count);
  if (besides > shared_bytes) return false;
  const auto room = static_cast<index_t>((shared_bytes - besides) / sizeof(T)) / row_of_each;
  t.spilling.shared_rows = static_cast<int>(std::min<index_t>(room, rows - 2 - register_rows));
  t.spilling.memory_rows = rows - t.spilling.rows_not_in_memory();
  t.memory_elements = t.spilling.memory_rows * row_of_each;
  if (t.memory_elements > std::numeric_limits<int>::max()) return false;  // places in it are int
  number_packets<T>(g, t);
  return t.spilling.shared_rows > 0;
}

double cells_of_spilling(const geometry& g, std::size_t shared_bytes, std::size_t cell_bytes, tiling t) {
  const bool fits = cell_bytes == sizeof(float) ? lay_out_spilling<float>(g, t, most_spilling_bands, shared_bytes)
                                                : lay_out_spilling<double>(g, t, most_spilling_bands, shared_bytes);
  if (!fits || t.spilling.count < fewest_spilling_bands) return 0;
  // A cell at an edge is no more than packed and unpacked.
  double edges = 0;
  for (const int a : {1, 2})
    if (tiles_exchange(g, t, a)) edges += 2 * static_cast<double>(t.largest[3 - a]);
  return edges + cells_of_spilling_step(t.spilling, t.largest[1]);
}

template bool lay_out_spilling<float>(const geometry&, tiling&, int, std::size_t, int);
template bool lay_out_spilling<double>(const geometry&, tiling&, int, std::size_t, int);

}  // namespace starling::stencil
