// The persistent program whose blocks keep their tiles: on chip, and in memory of their own what of spilling register
// tiles does not fit there.
#pragma once

#include "starling/machine/kernel.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/step/stencil_kernels.hpp"
#include "stencil/tiles/tiles.hpp"

namespace starling::stencil {

// Of a block: more would leave threads too few registers for a step.
inline constexpr int resident_most_threads = 512;

template <class T>
struct resident_arguments : persistent_run {
  fields<T> f;
  tiling grid;
  sym<packet> packet_buffer;  // [packet_slots][blocks][packets_per_block]
  sym<T> memory;              // [blocks][memory_elements]
  index_t first_message = 1;  // greater than all numbers of earlier runs
};

// Ends with the cells in the array of the time level that it reached.
template <class T>
kernel resident_kernel(const resident_arguments<T>& arguments);

// Those of them that keep cells in registers; deep_halo: and exchange less often than every step.
template <class T>
kernel resident_register_kernel(const resident_arguments<T>& arguments);
template <class T>
kernel resident_register_deep_halo_kernel(const resident_arguments<T>& arguments);

// Those whose tiles spill.
template <class T>
kernel resident_spilling_kernel(const resident_arguments<T>& arguments);

// What block::scratch gives out in it, for blocks of so many threads (1 on virtual devices).
template <class T>
std::size_t resident_scratch(const tiling& t, int threads);

}  // namespace starling::stencil
