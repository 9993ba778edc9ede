// Index arithmetic shared by host and device: the index type, fair shares of a range, rounding. All constexpr, so
// kernels may call it (nvcc: --expt-relaxed-constexpr, which starling_kernels() sets).
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling {

// Signed, so that differences and "one before the first" need no care.
using index_t = std::int64_t;

// The half-open range [begin, end).
struct index_range {
  index_t begin = 0;
  index_t end = 0;

  constexpr index_t size() const { return end - begin; }
  constexpr bool empty() const { return end <= begin; }
  friend constexpr bool operator==(const index_range& a, const index_range& b) {
    return a.begin == b.begin && a.end == b.end;
  }
};

// Part `which` of `n` items partitioned among `parts` owners: contiguous, in order, sizes differ by at most one.
constexpr index_range share(index_t n, index_t parts, index_t which) {
  const index_t each = n / parts;
  const index_t more = n % parts;
  const index_t begin = which * each + (which < more ? which : more);
  return {begin, begin + each + (which < more ? 1 : 0)};
}

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

constexpr index_t round_up(index_t a, index_t multiple) { return ceil_div(a, multiple) * multiple; }

}  // namespace starling
