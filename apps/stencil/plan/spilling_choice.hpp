// Whether a PE's box can be divided into spilling register tiles, and what of these is where.
#pragma once

#include "stencil/tiles/tiles.hpp"

namespace starling::stencil {

// Lays out the largest tile as a spilling register tile of at most `most_bands` bands, in so much shared memory, and
// numbers its packet buffer. False if tiles have too few rows or too long ones, or exchange several layers.
template <class T>
bool lay_out_spilling(const geometry& g, tiling& t, int most_bands, std::size_t shared_bytes,
                      int register_rows = spilling_register_rows);

// What a step of the largest tile takes besides the exchange, in cells of an array in shared memory that take as long;
// 0 if it cannot spill, or has so few bands that much of a multiprocessor is idle.
double cells_of_spilling(const geometry& g, std::size_t shared_bytes, std::size_t cell_bytes, tiling t);

}  // namespace starling::stencil
