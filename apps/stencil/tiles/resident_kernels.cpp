#include "stencil/tiles/resident_kernels.hpp"

#include "stencil/tall_tiles/tall_links.hpp"
#include "stencil/tiles/tile_program.hpp"

namespace starling::stencil {

template <class T>
kernel resident_kernel(const resident_arguments<T>& a) {
  if (a.grid.tall.used()) return resident_tall_kernel(a);
  if (a.grid.bands.used()) return a.grid.depth > 1 ? resident_deep_band_kernel(a) : resident_band_kernel(a);
  return tile_kernel(a);
}

template <class T>
std::size_t resident_scratch(const tiling& t, int threads) {
  const auto room = [](index_t n, std::size_t bytes) {
    return static_cast<std::size_t>(round_up(n * static_cast<index_t>(bytes), 16));
  };
  if (t.tall.used())
    return room(1, sizeof(tile)) + room(tall_links_of_tile, sizeof(tall_link)) +
           room(t.tall.count, sizeof(tall_place)) + room(t.tall.elements(cell_vector<T>::width), sizeof(T));
  return room(1, sizeof(tile)) + room(directions, sizeof(route)) + room(edge_list_bytes(t, threads), 1) +
         room(t.arrays() * t.chip.elements, sizeof(T));
}

template kernel resident_kernel(const resident_arguments<float>&);
template kernel resident_kernel(const resident_arguments<double>&);
template std::size_t resident_scratch<float>(const tiling&, int);
template std::size_t resident_scratch<double>(const tiling&, int);

}  // namespace starling::stencil
