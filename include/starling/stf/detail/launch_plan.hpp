// How many blocks and threads a kernel of the task flow is launched with.
#pragma once

#include <cstddef>

#include "starling/base/index.hpp"

namespace starling {
class machine;
}

namespace starling::stf {

struct launch_plan {
  int blocks = 1;
  int threads = 256;
  std::size_t scratch_bytes = 0;
  bool resident = false;  // its blocks synchronise, so they must run together
  // The block that finishes last combines the blocks' values, in their order; otherwise a second kernel does.
  bool finishes_itself = false;
};

// A width for a loop over `elements` elements on PE `pe`: as many blocks as a device keeps busy, fewer when there is
// less work. Throws argument_error for a negative number of elements, range_error for a PE that does not exist.
launch_plan for_plan(const machine& m, int pe, index_t elements);

// The same for a kernel of which `blocks_that_fit` fit at once on the device.
launch_plan for_plan(const machine& m, int pe, index_t elements, int blocks_that_fit);

}  // namespace starling::stf
