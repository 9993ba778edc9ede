// Which instance of a kernel template a domain takes, and with what bounds it is compiled: one for each number of
// dimensions and each way to cut the interior.
#pragma once

#include "stencil/halo/halo_exchange.hpp"
#include "stencil/step/stencil_kernels.hpp"

namespace starling::stencil {

template <class T>
constexpr std::size_t room_in_scratch() {
  return (sizeof(T) + 15) / 16 * 16;
}
static_assert(room_in_scratch<box>() + room_in_scratch<tile_queue<double>>() <= scratch_bytes);

// Registers for a whole step without spilling; what is spilled has to come back from beyond the L1 cache, which
// every wait empties.
constexpr int threads_at_most(bool dynamic) { return dynamic ? queue_most_threads : 512; }
constexpr int blocks_at_least(bool dynamic) { return dynamic ? queue_least_blocks : 1; }

// One kernel per dimension; the domain says which.
template <template <class, int> class Kernel, class T, class... Arguments>
kernel of_dimension(const geometry& g, const Arguments&... arguments) {
  if (g.active[0]) return make_kernel(Kernel<T, 3>{arguments...});
  return make_kernel(Kernel<T, 2>{arguments...});
}

// And one for each way to partition the interior.
template <template <class, int, bool> class Kernel, class T, class... Arguments>
kernel of_cut(const geometry& g, const interior_partition& cut, const Arguments&... arguments) {
  if (g.active[0]) {
    if (cut.dynamic()) return make_kernel(Kernel<T, 3, true>{arguments...});
    return make_kernel(Kernel<T, 3, false>{arguments...});
  }
  if (cut.dynamic()) return make_kernel(Kernel<T, 2, true>{arguments...});
  return make_kernel(Kernel<T, 2, false>{arguments...});
}

}  // namespace starling::stencil
