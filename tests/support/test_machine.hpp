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

// A machine of `n_pes` devices. Empty when there are fewer GPUs: the test says so and returns.
inline std::optional<machine> test_machine(int n_pes, const host_options& options = {}) {
  if (!on_gpus()) return machine::host(n_pes, options);
  const int there = machine::probe_cuda().devices;
  if (there < n_pes) {
    MESSAGE("skipped: needs " << n_pes << " GPUs, there are " << there);
    return std::nullopt;
  }
  std::vector<int> ids;
  for (int i = 0; i < n_pes; ++i) ids.push_back(i);
  return machine::cuda(ids);
}

// Whether a test of what only virtual devices do has to return.
inline bool skipped_on_gpus(const char* what) {
  if (on_gpus()) MESSAGE("skipped: only virtual devices " << what);
  return on_gpus();
}

}  // namespace starling::test
