#include <algorithm>
#include <bit>

#include "layout.hpp"

namespace starling {
namespace {

constexpr index_t lanes = 32;

// Lines of 128 bytes that a store to these elements touches.
index_t lines(index_range e, index_t element) {
  return e.empty() ? 0 : (e.end * element - 1) / line_bytes - e.begin * element / line_bytes + 1;
}

index_t others_that_get(const region_layout& l, int pe, int chunk_of_part) {
  const auto pes = static_cast<index_t>(l.parts.size());
  if (l.subscribers.empty()) return pes - 1;
  const int chunk = l.chunk_at[static_cast<std::size_t>(pe)] + chunk_of_part;
  return std::popcount(l.subscribers[static_cast<std::size_t>(chunk)] & ~(std::uint64_t{1} << pe));
}

}  // namespace

line_stores count_line_stores(const region_layout& l, std::size_t bytes) {
  const auto element = static_cast<index_t>(bytes);
  line_stores all;
  for (int pe = 0; pe < static_cast<int>(l.parts.size()); ++pe) {
    const part_layout& p = l.parts[static_cast<std::size_t>(pe)];
    for (const index_range r : p.ranges)
      for (index_t begin = r.begin; begin < r.end; begin += lanes) {
        const index_range by_warp{begin, std::min(begin + lanes, r.end)};
        const auto chunk = static_cast<int>((begin - p.elements.begin) / l.chunk_elements);
        all.as_written += static_cast<std::uint64_t>(lines(by_warp, element) * others_that_get(l, pe, chunk));
      }
    const int chunks = l.chunk_at[static_cast<std::size_t>(pe) + 1] - l.chunk_at[static_cast<std::size_t>(pe)];
    for (int c = 0; c < chunks; ++c)
      all.by_chunk += static_cast<std::uint64_t>(lines(l.elements_of(pe, c), element) * others_that_get(l, pe, c));
  }
  return all;
}

}  // namespace starling
