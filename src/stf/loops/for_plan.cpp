#include <algorithm>

#include "starling/machine/machine.hpp"
#include "starling/stf/detail/for_kernel.hpp"

namespace starling::stf {
namespace {

// Blocks that a multiprocessor keeps busy: 2048 threads.
constexpr int blocks_per_multiprocessor = 2048 / for_threads;
// Blocks of a virtual device run one after another: few, but several, so that what holds for several blocks is tried.
constexpr int blocks_of_virtual_device = 4;

int most_blocks(const machine& m, int pe) {
  const device_info& d = m.device(pe);
  return m.kind() == machine_kind::host ? blocks_of_virtual_device : d.multiprocessors * blocks_per_multiprocessor;
}

}  // namespace

launch_plan for_plan(const machine& m, int pe, index_t elements) {
  return for_plan(m, pe, elements, most_blocks(m, pe));
}

launch_plan for_plan(const machine& m, int pe, index_t elements, int blocks_that_fit) {
  expect<argument_error>(elements >= 0, "for_plan: ", elements, " elements; must be at least 0");
  const index_t useful = std::max<index_t>(1, ceil_div(elements, for_threads));
  launch_plan p;
  p.threads = for_threads;
  p.blocks = static_cast<int>(std::min<index_t>(useful, std::max(1, std::min(most_blocks(m, pe), blocks_that_fit))));
  p.finishes_itself = m.kind() == machine_kind::cuda;
  return p;
}

void refuse_plan(const launch_plan& plan) {
  throw argument_error(message("parallel_for: a plan of ", plan.blocks, " blocks of ", plan.threads,
                               " threads; at least 1 block, and a multiple of 32 threads up to ", for_threads));
}

void refuse_partials() {
  throw argument_error(
      "parallel_for: an accumulator without a result, or without memory for the blocks' values; give it partial_bytes "
      "of device memory");
}

}  // namespace starling::stf
