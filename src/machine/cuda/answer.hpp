// A kernel by which the PEs of a machine find out whether their kernels run at the same time, and one that does
// nothing.
#pragma once

#include "starling/device/symmetric.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::on_cuda {

// One block on every PE: tells the next PE and waits for the one before, some rounds. It ends only where all of them
// run at once. The signal is zero before.
kernel answer_kernel(sym<signal> heard);

kernel empty_kernel();

}  // namespace starling::on_cuda
