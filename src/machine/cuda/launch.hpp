// Puts one kernel on one stream.
#pragma once

#include "gpu.hpp"
#include "starling/device/program_state.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::on_cuda {

// `state` and the closure are copied before this returns. A cooperative launch is refused by the driver, with an error,
// when its blocks do not fit together; a plain one would wait in part for the other part to end (see residency.hpp for
// PEs that share a GPU). The device of `g` is current, and the kernel is known to the kernel table.
void launch(const gpu& g, cudaStream_t stream, const kernel& k, int threads, const program_state& state,
            bool cooperative);

// Seconds to the nanoseconds of program_state.
std::uint64_t nanoseconds(double seconds);

}  // namespace starling::on_cuda
