// The machine that a test runs on: virtual devices, or GPUs when STARLING_TEST_MACHINE=cuda. Tests cannot tell which,
// but for what only virtual devices detect.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::test {

inline bool on_gpus() {
  const char* kind = std::getenv("STARLING_TEST_MACHINE");
  return kind != nullptr && std::string(kind) == "cuda";
}

// PEs that there can be: GPUs, each as often as STARLING_PES_PER_GPU counts it.
inline int pes_of_gpus() { return machine::probe_cuda().devices * environment::read().pes_per_gpu; }

// A machine of `n_pes` PEs. Empty when GPUs have fewer: the test says so and returns. STARLING_TEST_UNANSWERED: also
// where kernels of PEs that share a GPU do not run at the same time, so that a test can be seen to stall there.
inline std::optional<machine> test_machine(int n_pes, const host_options& options = {}) {
  if (!on_gpus()) return machine::host(n_pes, options);
  const int there = pes_of_gpus();
  if (there < n_pes) {
    MESSAGE("skipped: needs " << n_pes << " PEs, the GPUs have " << there);
    return std::nullopt;
  }
  std::vector<int> ids;
  for (int i = 0; i < n_pes; ++i) ids.push_back(i);
  return machine::cuda(ids, {.answer = std::getenv("STARLING_TEST_UNANSWERED") == nullptr,
                             .hosts = options.hosts,
                             .card = options.card,
                             .queue_depth = options.queue_depth});
}

// Whether a test of what only virtual devices do has to return.
inline bool skipped_on_gpus(const char* what) {
  if (on_gpus()) MESSAGE("skipped: only virtual devices " << std::string(what));
  return on_gpus();
}

}  // namespace starling::test
