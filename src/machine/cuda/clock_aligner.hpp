// Measures how the timers of the GPUs stand to each other and to the host's clock, before a run that is traced.
#pragma once

#include "../recorder.hpp"
#include "clock_exchange.hpp"
#include "parts.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

// When a run was under way, by the host's clock.
struct run_times {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

class clock_aligner {
 public:
  explicit clock_aligner(const parts& machine);
  ~clock_aligner();
  clock_aligner(const clock_aligner&) = delete;
  clock_aligner& operator=(const clock_aligner&) = delete;

  // The program to run, once the memory is ready for it.
  program next();
  // What it found.
  clock_alignment result(const run_times& ran) const;

 private:
  const parts& machine_;
  std::size_t offset_;  // in the control words
  clock_exchange exchange_;
};

}  // namespace starling::on_cuda
