#include "stencil/tiles/resident_kernels.hpp"

#include "stencil/spilling_tiles/spilling_links.hpp"
#include "stencil/tiles/tile_program.hpp"

namespace starling::stencil {

template <class T>
kernel resident_kernel(const resident_arguments<T>& a) {
  if (a.grid.spilling.used()) return resident_spilling_kernel(a);
  if (a.grid.registers.used())
    return a.grid.depth > 1 ? resident_register_deep_halo_kernel(a) : resident_register_kernel(a);
  return tile_kernel(a);
}

template <class T>
std::size_t resident_scratch(const tiling& t, int threads) {
  const auto room = [](index_t n, std::size_t bytes) {
    return static_cast<std::size_t>(round_up(n * static_cast<index_t>(bytes), 16));
  };
  if (t.spilling.used())
    return room(1, sizeof(tile)) + room(spilling_links_of_tile, sizeof(spilling_link)) +
           room(t.spilling.count, sizeof(spilling_place)) + room(t.spilling.elements(cell_vector<T>::width), sizeof(T));
  return room(1, sizeof(tile)) + room(directions, sizeof(route)) + room(edge_list_bytes(t, threads), 1) +
         room(t.arrays() * t.shared.elements, sizeof(T));
}

template kernel resident_kernel(const resident_arguments<float>&);
template kernel resident_kernel(const resident_arguments<double>&);
template std::size_t resident_scratch<float>(const tiling&, int);
template std::size_t resident_scratch<double>(const tiling&, int);

}  // namespace starling::stencil
