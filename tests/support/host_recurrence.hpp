// The recurrence of region_recurrence.hpp in a host_region, written by launches in streams.
#pragma once

#include "starling/region/host_region.hpp"
#include "support/region_recurrence.hpp"

namespace starling::test {

inline std::vector<std::uint64_t> random_values(index_t n, random& r) {
  std::vector<std::uint64_t> v(static_cast<std::size_t>(n));
  for (auto& x : v) x = r.next();
  return v;
}

inline const std::byte* bytes_of(const std::vector<std::uint64_t>& v) {
  return reinterpret_cast<const std::byte*>(v.data());
}

inline std::vector<std::uint64_t> read_epoch(const host_region& x, int pe, std::uint64_t epoch) {
  std::vector<std::uint64_t> v(static_cast<std::size_t>(x.size()), 1);
  x.read(pe, epoch, reinterpret_cast<std::byte*>(v.data()));
  return v;
}

// A part in pieces of random lengths, in random order.
inline std::vector<index_range> pieces_of(index_range part, random& r) {
  std::vector<index_range> all;
  for (index_t at = part.begin; at < part.end;) {
    const index_t end = std::min(part.end, at + 1 + static_cast<index_t>(r.below(40)));
    all.push_back({at, end});
    at = end;
  }
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[static_cast<std::size_t>(r.below(static_cast<index_t>(i)))]);
  if (all.empty()) all.push_back(part);
  return all;
}

inline void put_epoch(host_region& x, int pe, std::uint64_t e, index_range piece) {
  const auto* old = reinterpret_cast<const std::uint64_t*>(x.data(pe, e - 1));
  auto* next = reinterpret_cast<std::uint64_t*>(x.data(pe, e));
  const index_t n = x.size();
  x.work(pe).launch(
      2, STARLING_KERNEL(block & b) {
        const index_range mine = share(piece.size(), b.blocks_per_pe(), b.index());
        b.for_each(mine.size(), [&](index_t k) {
          const index_t i = piece.begin + mine.begin + k;
          next[i] = next_of(old[i], old[far(i, n, 1)], old[far(i, n, 2)], i, e);
        });
      });
}

}  // namespace starling::test
