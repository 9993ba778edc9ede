// An integer recurrence in a region, in which each element depends on scattered ones of the epoch before, so that one
// stale read shows at the end; held against a loop.
#pragma once

#include <doctest/doctest.h>

#include "starling/region/region.hpp"
#include "support/random.hpp"

namespace starling::test {

STARLING_HD inline std::uint64_t next_of(std::uint64_t a, std::uint64_t b, std::uint64_t c, index_t i,
                                         std::uint64_t e) {
  return a * 6364136223846793005u + (b ^ (c >> 7)) + static_cast<std::uint64_t>(i) * 1442695040888963407u + e;
}

// Elements that element i depends on.
STARLING_HD inline index_t far(index_t i, index_t n, index_t k) { return (i * 7919 + k * 104729) % n; }

inline std::vector<std::uint64_t> by_loop(std::vector<std::uint64_t> x, std::uint64_t epochs) {
  const auto n = static_cast<index_t>(x.size());
  for (std::uint64_t e = 1; e <= epochs; ++e) {
    std::vector<std::uint64_t> next(x.size());
    for (index_t i = 0; i < n; ++i)
      next[static_cast<std::size_t>(i)] =
          next_of(x[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(far(i, n, 1))],
                  x[static_cast<std::size_t>(far(i, n, 2))], i, e);
    x.swap(next);
  }
  return x;
}

inline void run_recurrence(machine& m, index_t n, int blocks, std::uint64_t epochs, const region_options& options,
                           std::uint64_t seed) {
  random r(seed);
  std::vector<std::uint64_t> start(static_cast<std::size_t>(n));
  for (auto& v : start) v = r.next();
  region<std::uint64_t> x(m, n, options);
  x.load(start);
  const auto h = x.handle();
  const bool credits = options.credits;
  const std::uint64_t first = epochs / 2;
  for (const std::uint64_t begin : {std::uint64_t{0}, first}) {  // a second run goes on
    const std::uint64_t end = begin == 0 ? first : epochs;
    m.run(x.programs(
        blocks, STARLING_KERNEL(block & b) {
          for (std::uint64_t e = begin + 1; e <= end; ++e) {
            const auto old = h.await(b, e - 1);
            h.each_tile(b, e, [&](tile t, tracked<std::uint64_t> next) {
              h.for_each(b, t,
                         [&](index_t i) { next(i) = next_of(old(i), old(far(i, n, 1)), old(far(i, n, 2)), i, e); });
            });
            if (credits) h.give_credit(b, e - 1);
          }
          h.await(b, end);
        }));
    CHECK(x.epoch() == end);
  }
  const auto expected = by_loop(start, epochs);
  for (int pe = 0; pe < m.size(); ++pe) {
    std::vector<std::uint64_t> got(start.size(), 1);
    x.read(pe, epochs, got);
    CHECK(got == expected);
  }
}

}  // namespace starling::test
