// What the source of a generated program includes, and how its kernel is found by who loads the compiled program.
#pragma once

#include <cmath>

#include "starling/program/map.hpp"
#include "starling/program/meeting.hpp"
#include "starling/program/numbers.hpp"
#include "starling/program/packet_halo.hpp"
#include "starling/program/pe_grid.hpp"

namespace starling::generated {

// The numbers of a range, for a loop over them.
struct numbers {
  struct place {
    index_t at;
    STARLING_HD constexpr index_t operator*() const { return at; }
    STARLING_HD constexpr place& operator++() {
      ++at;
      return *this;
    }
    STARLING_HD constexpr bool operator!=(const place& other) const { return at < other.at; }
  };

  index_range r;
  STARLING_HD constexpr place begin() const { return {r.begin}; }
  STARLING_HD constexpr place end() const { return {r.end}; }
};

}  // namespace starling::generated

// A kernel's entries, under names that begin with `name`: for virtual devices, and for GPUs where the source is
// compiled for them. `data`: the kernel's own, as its loader has laid it out.
#define STARLING_PROGRAM(Kernel, name)                                                              \
  extern "C" [[gnu::visibility("default")]] void name##_run(const void* data, starling::block& b) { \
    (*static_cast<const Kernel*>(data))(b);                                                         \
  }                                                                                                 \
  STARLING_GPU_ENTRY(name##_gpu, starling::block, starling::program_state, Kernel, false)           \
  STARLING_GPU_ENTRY(name##_gpu_traced, starling::block, starling::program_state, Kernel, true)
