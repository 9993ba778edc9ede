// An integer recurrence in a region, in which each element depends on scattered ones of the epoch before, so that one
// stale read shows at the end; held against a loop.
#pragma once

#include <doctest/doctest.h>

#include <limits>

#include "starling/region/region.hpp"
#include "support/random.hpp"
#include "support/region_agents.hpp"

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

// Two mappings: pieces of `width` elements go to them in turn, of one each is a tile, of the other every third belongs
// to one of three.
inline region_mappings two_mappings(index_t width) {
  const auto pieces = [=](int which, index_t tile_of) {
    return region_mapping::by([=](int, index_range part) {
      region_mapping::tiles all;
      for (index_t k = which; part.begin + k * width < part.end; k += 2) {
        const index_t begin = part.begin + k * width;
        const auto t = static_cast<std::size_t>(k / 2 % tile_of);
        if (t >= all.size()) all.resize(t + 1);
        all[t].push_back({begin, begin + width < part.end ? begin + width : part.end});
      }
      return all;
    });
  };
  return {pieces(0, std::numeric_limits<index_t>::max()), pieces(1, 3)};
}

// `by_roles`: so many blocks for each mapping, in place of blocks that write those of all.
inline void run_recurrence(machine& m, index_t n, int blocks, std::uint64_t epochs, const region_options& options,
                           std::uint64_t seed, bool by_roles = false) {
  random r(seed);
  std::vector<std::uint64_t> start(static_cast<std::size_t>(n));
  for (auto& v : start) v = r.next();
  region<std::uint64_t> x(m, n, options);
  x.load(start);
  const auto h = x.handle();
  const bool credits = options.credits;
  const int mappings = static_cast<int>(options.tiles.all().size());
  role_plan roles;
  for (int k = 0; k < (by_roles ? mappings : 1); ++k) roles.add(message("mapping ", k), blocks);
  const std::uint64_t first = epochs / 2;
  for (const std::uint64_t begin : {std::uint64_t{0}, first}) {  // a second run goes on
    const std::uint64_t end = begin == 0 ? first : epochs;
    m.run(x.programs(
        roles, with_own_warp{STARLING_KERNEL(block & b) {
          for (std::uint64_t e = begin + 1; e <= end; ++e) {
            const auto old = h.await(b, e - 1);
            for (int k = 0; k < mappings; ++k) {
      if (by_roles && k != b.index() / b.count()) continue;
      h.each_tile(b, e, k, [&](tile t, tracked<std::uint64_t> next) {
        h.for_each(b, t, [&](index_t i) { next(i) = next_of(old(i), old(far(i, n, 1)), old(far(i, n, 2)), i, e); });
      });
            }
            if (credits) h.give_credit(b, e - 1);
  }
  h.await(b, end);
}
}  // namespace starling::test
));
CHECK(x.epoch() == end);
}
const auto expected = by_loop(start, epochs);
for (int pe = 0; pe < m.size(); ++pe) {
  std::vector<std::uint64_t> got(start.size(), 1);
  x.read(pe, epochs, got);
  CHECK(got == expected);
}
}

// Whether the elements of a group of 8 change in an epoch.
STARLING_HD inline bool changes(index_t i, std::uint64_t e) {
  return (static_cast<std::uint64_t>(i / 8) * 2654435761u + e * 40503u) % 1021 < 60;
}

// The same where elements often rest, and tiles that rested for as many epochs as there are buffers are left unchanged.
inline void run_recurrence_with_rests(machine& m, index_t n, int blocks, std::uint64_t epochs,
                                      const region_options& options, std::uint64_t seed) {
  random r(seed);
  std::vector<std::uint64_t> start(static_cast<std::size_t>(n));
  for (auto& v : start) v = r.next();
  region<std::uint64_t> x(m, n, options);
  x.load(start);
  const auto h = x.handle();
  const auto buffers = static_cast<std::uint64_t>(options.buffers);
  const bool credits = options.credits;
  auto seen_wrong = m.allocate<int>(1);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(seen_wrong.on(pe), 0, sizeof(int));
  const auto wrong = seen_wrong.data();
  m.run(x.programs(
      blocks, with_own_warp{STARLING_KERNEL(block & b) {
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          const auto old = h.await(b, e - 1);
          for (index_t i = 0; i < n && b.index() == 0 && b.member() == 0; ++i)  // what says to rest does
            if (changes(i, e - 1) && !old.stored(h.state().chunk_of(b.pe(), i))) *wrong.on(b.pe()) = 1;
          h.each_tile(b, e, [&](const tile& t, const tracked<std::uint64_t>& next) {
    bool rests = e >= buffers;
    for (int k = 0; k < t.count; ++k)
      for (index_t i = t.ranges[k].begin; i < t.ranges[k].end; ++i)
        for (std::uint64_t before = 0; before < buffers && rests; ++before) rests = !changes(i, e - before);
    if (rests) return t.unchanged();
    h.for_each(b, t, [&](index_t i) {
      next(i) = changes(i, e) ? next_of(old(i), old(far(i, n, 1)), old(far(i, n, 2)), i, e) : old(i);
    });
          });
          if (credits) h.give_credit(b, e - 1);
}
h.await(b, epochs);
}
}));
auto expected = start;
for (std::uint64_t e = 1; e <= epochs; ++e) {
  auto next = expected;
  for (index_t i = 0; i < n; ++i)
    if (changes(i, e))
      next[static_cast<std::size_t>(i)] =
          next_of(expected[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(far(i, n, 1))],
                  expected[static_cast<std::size_t>(far(i, n, 2))], i, e);
  expected.swap(next);
}
for (int pe = 0; pe < m.size(); ++pe) {
  std::vector<std::uint64_t> got(start.size(), 1);
  x.read(pe, epochs, got);
  CHECK(got == expected);
  int bad = 1;
  m.copy(&bad, wrong.on(pe), sizeof bad);
  CHECK(bad == 0);
}
const region_report moved = x.report();
for (std::size_t k = 0; k < moved.bytes_left_out.size(); ++k)
  CHECK(moved.bytes_left_out[k] <= moved.bytes_per_epoch[k] * epochs);
}

}  // namespace starling::test
