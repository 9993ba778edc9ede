// A region whose blocks tell their right neighbours of tiles that they have flushed, before the epoch is there.
#pragma once

#include <doctest/doctest.h>

#include "starling/region/region.hpp"

namespace starling::test {

enum class telling { by_handle, by_flush_and_block, by_put_signal, by_block_alone, of_other_tiles };

// Element i of epoch e, told from all others.
STARLING_HD inline int flushed_value(std::uint64_t e, index_t i) {
  return static_cast<int>(e) * 1000 + static_cast<int>(i);
}

// `blocks` on each PE, which share the tiles of 8 elements, so that they share chunks too. Every third tile is left
// unchanged where `rests`.
inline void run_flushes(machine& m, index_t n, int blocks, std::uint64_t epochs, const region_options& options,
                        telling how, bool rests = false) {
  region<int> x(m, n, options);
  std::vector<int> start;
  for (index_t i = 0; i < n; ++i) start.push_back(flushed_value(0, i));
  x.load(start);
  const auto h = x.handle();
  const auto told = m.allocate<signal>(blocks);
  auto carried = m.allocate<std::uint64_t>(2 * blocks);
  auto seen_wrong = m.allocate<int>(1);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(seen_wrong.on(pe), 0, sizeof(int));
  const auto word = told.data();
  const auto beside = carried.data();
  const auto wrong = seen_wrong.data();
  const auto buffers = static_cast<std::uint64_t>(options.buffers);
  const bool credits = options.credits;
  m.run(x.programs(
      blocks, STARLING_KERNEL(block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        const auto since = [=](std::uint64_t e, index_t tile) { return rests && tile % 3 == 0 && e > 1 ? 1 : e; };
        const auto check = [&](bool right_value) {
          if (!right_value) *wrong.on(b.pe()) = 1;
        };
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          const auto old = h.await(b, e - 1);
          b.for_each(n, [&](index_t i) { check(old(i) == flushed_value(since(e - 1, i / 8), i)); });
          h.each_tile(b, e, [&](const tile& t, const tracked<int>& next) {
            if (since(e, t.range.begin / 8) != e && e > buffers) return t.unchanged();
            b.for_each(t.range, [&](index_t i) { next(i) = flushed_value(since(e, i / 8), i); });
          });
          switch (how) {
            case telling::by_handle:
              h.signal_set(b, word + b.index(), e, right);
              break;
            case telling::by_flush_and_block:
            case telling::of_other_tiles:
              h.flush(b);
              b.signal_set(word + b.index(), e, right);
              break;
            case telling::by_put_signal:
              h.put_signal(b, beside + b.index(), &e, 1, word + b.index(), e, right);
              break;
            case telling::by_block_alone:
              b.signal_set(word + b.index(), e, right);
              break;
          }
          b.wait(word + b.index(), e, left);
          const index_range all{h.state().bounds.on(b.pe())[left], h.state().bounds.on(b.pe())[left + 1]};
          const auto early = h.flushed(b, e, all);
          const int whose = how == telling::of_other_tiles ? (b.index() + 1) % b.count() : b.index();
          for (index_t begin = all.begin + 8 * whose; begin < all.end; begin += index_t{8} * b.count())
            b.for_each(index_range{begin, begin + 8 < all.end ? begin + 8 : all.end},
                       [&](index_t i) { check(early(i) == flushed_value(since(e, i / 8), i)); });
          if (credits) h.give_credit(b, e - 1);
        }
        h.await(b, epochs);
      }));
  std::vector<int> got(start.size(), -1);
  for (int pe = 0; pe < m.size(); ++pe) {
    int bad = 1;
    m.copy(&bad, wrong.on(pe), sizeof bad);
    CHECK(bad == 0);
    x.read(pe, epochs, got);
    for (index_t i = 0; i < n; ++i) {
      const std::uint64_t e = rests && i / 8 % 3 == 0 ? 1 : epochs;
      CHECK(got[static_cast<std::size_t>(i)] == flushed_value(e, i));
    }
  }
}

}  // namespace starling::test
