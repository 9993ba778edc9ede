// Programs in check mode.
#pragma once

#include <doctest/doctest.h>

#include <optional>

#include "support/failure.hpp"
#include "support/memory.hpp"

namespace starling::test {

inline constexpr std::uint64_t few_seeds = 60;

// `threads`: of a block; 0: as the seed says.
inline machine checked_machine(int n_pes, std::uint64_t seeds = few_seeds, std::uint64_t first = 1, int threads = 0) {
  return machine::host(n_pes, {.memory_bytes = std::size_t{1} << 22})
      .check({.first_seed = first, .seeds = seeds, .threads = threads});
}

// For kernels that are right, or wrong in the way that is looked for, with one thread.
inline machine one_thread_machine(int n_pes, std::uint64_t seeds = few_seeds) {
  return checked_machine(n_pes, seeds, 1, 1);
}

// What check mode finds in f(); the test fails when it finds nothing.
template <class F>
std::optional<check_error> finding_of(const F& f) {
  try {
    f();
  } catch (const check_error& e) {
    return e;
  } catch (const std::exception& e) {
    FAIL_CHECK("another type of error: " << e.what());
    return std::nullopt;
  }
  FAIL_CHECK("nothing found");
  return std::nullopt;
}

// Runs a kernel that has this defect on a machine, and looks at what the message says.
template <class Kernel>
void check_finds(machine& m, int blocks, const Kernel& k, defect what, std::initializer_list<std::string> parts) {
  const auto e = finding_of([&] { m.run(blocks, k); });
  if (!e) return;
  CHECK_MESSAGE(std::string(name(e->what_kind())) == name(what), e->what());
  check_parts(e->what(), parts);
  CHECK_FALSE(e->blocks().empty());
}

}  // namespace starling::test
