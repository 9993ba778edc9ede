// A kernel that compares the global timers of all GPUs of a machine, by messages to and fro.
#pragma once

#include "starling/device/packet.hpp"
#include "starling/device/symmetric.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::on_cuda {

struct clock_reading {
  std::int64_t offset = 0;  // of this PE's timer, less that of PE 0
  std::int64_t error = 0;   // half of the quickest way to and fro
  std::uint64_t first = 0;  // this PE's timer at the begin and the end of its kernel
  std::uint64_t last = 0;
  std::uint64_t ticks = 0;       // of the multiprocessor's clock between the two
  std::uint64_t resolution = 0;  // the smallest step of the timer that was seen
};

struct clock_exchange {
  sym<packet> receive_slot;      // one, zero before
  sym<clock_reading> of_others;  // [n_pes]: on PE 0 its offsets and errors
  sym<clock_reading> own;        // the rest, each PE its own
};

// One block of one warp on every PE. Its waits have deadlines like all others.
kernel clock_exchange_kernel(const clock_exchange& x);

}  // namespace starling::on_cuda
