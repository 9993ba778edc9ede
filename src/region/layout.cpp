#include "layout.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "starling/base/error.hpp"

namespace starling {
namespace {

constexpr std::size_t most_chunk_bytes = std::size_t{1} << 30;
constexpr index_t most_chunks = 1 << 24;
constexpr int most_pes = 64;  // bits of a mask

std::vector<index_t> checked_bounds(index_t n, int pes, index_t line, const std::vector<index_t>& given) {
  std::vector<index_t> bounds{0};
  if (given.empty()) {
    for (int pe = 1; pe < pes; ++pe) bounds.push_back(std::min(n, share(ceil_div(n, line), pes, pe).begin * line));
  } else {
    expect<argument_error>(static_cast<int>(given.size()) == pes - 1, "region_options::bounds: ", given.size(),
                           " bounds for ", pes, " PEs; one less than PEs: where the parts of PE 1, 2, ... begin");
    for (const index_t b : given) {
      expect<argument_error>(b >= bounds.back() && b <= n, "region_options::bounds: ", b, " after ", bounds.back(),
                             " in a region of ", n, " elements; bounds go up and end within the region");
      expect<argument_error>(b % line == 0 || b == n, "region_options::bounds: ", b,
                             " is not at whole 128 bytes; parts begin at multiples of ", line, " elements");
      bounds.push_back(b);
    }
  }
  bounds.push_back(n);
  return bounds;
}

struct written {
  index_range elements;
  int tile;
};

// Tiles of all mappings, one mapping behind the other.
struct all_tiles {
  region_mapping::tiles ranges;
  std::vector<std::int32_t> begins{0};  // [mappings + 1]

  // As the user numbers it.
  std::string name(int tile) const {
    std::size_t mapping = 0;
    while (tile >= begins[mapping + 1]) ++mapping;
    const int number = tile - begins[mapping];
    return begins.size() == 2 ? message(number) : message(number, " (of mapping ", mapping, ")");
  }
};

all_tiles tiles_of(int pe, index_range part, const region_mappings& mappings) {
  all_tiles all;
  for (const region_mapping& m : mappings.all()) {
    for (auto& ranges : m.of(pe, part)) all.ranges.push_back(std::move(ranges));
    all.begins.push_back(static_cast<std::int32_t>(all.ranges.size()));
  }
  return all;
}

// Every element exactly once.
void check_tiles(int pe, index_range part, const all_tiles& tiles) {
  std::vector<written> all;
  for (std::size_t t = 0; t < tiles.ranges.size(); ++t)
    for (const index_range r : tiles.ranges[t]) {
      const int number = static_cast<int>(t);
      expect<argument_error>(!r.empty() && r.begin >= part.begin && r.end <= part.end, "region_options::tiles: tile ",
                             tiles.name(number), " of PE ", pe, " writes elements ", r.begin, " to ", r.end,
                             "; its part is ", part.begin, " to ", part.end, ", and a range has at least one element");
      all.push_back({r, number});
    }
  std::ranges::sort(all, {}, [](const written& w) { return w.elements.begin; });
  index_t reached = part.begin;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const index_range r = all[i].elements;
    expect<argument_error>(r.begin >= reached, "region_options::tiles: tiles ",
                           tiles.name(all[i == 0 ? 0 : i - 1].tile), " and ", tiles.name(all[i].tile), " of PE ", pe,
                           " both write element ", r.begin, "; each has one writer");
    expect<argument_error>(r.begin == reached, "region_options::tiles: no tile of PE ", pe, " writes element ", reached,
                           "; every element of a part needs a writer");
    reached = r.end;
  }
  expect<argument_error>(reached == part.end, "region_options::tiles: no tile of PE ", pe, " writes element ", reached,
                         "; every element of a part needs a writer");
}

// A PE without elements has one chunk without elements all the same, and for each mapping a tile that writes it: by
// these the others hear how far the kernels of each have read.
part_layout without_elements(index_range elements, int mappings) {
  part_layout part{elements, {}, {0}, {0}, {}, {0}, {static_cast<std::uint64_t>(mappings)}};
  for (int m = 1; m <= mappings; ++m) {
    part.tile_at.push_back(m);
    part.range_at.push_back(0);
    part.chunks.push_back(0);
    part.chunk_at.push_back(m);
  }
  return part;
}

part_layout lay_out(int pe, index_range elements, index_t chunk, const region_mappings& mappings) {
  if (elements.empty()) return without_elements(elements, static_cast<int>(mappings.all().size()));
  part_layout part;
  part.elements = elements;
  const all_tiles tiles = tiles_of(pe, elements, mappings);
  check_tiles(pe, elements, tiles);
  part.tile_at = tiles.begins;
  part.writers.assign(static_cast<std::size_t>(ceil_div(elements.size(), chunk)), 0);
  part.range_at.push_back(0);
  part.chunk_at.push_back(0);
  for (const auto& ranges : tiles.ranges) {
    std::vector<std::int32_t> mine;
    for (const index_range r : ranges) {
      part.ranges.push_back(r);
      for (index_t c = (r.begin - elements.begin) / chunk; c <= (r.end - 1 - elements.begin) / chunk; ++c)
        mine.push_back(static_cast<std::int32_t>(c));
    }
    std::ranges::sort(mine);
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    for (const std::int32_t c : mine) ++part.writers[static_cast<std::size_t>(c)];
    part.chunks.insert(part.chunks.end(), mine.begin(), mine.end());
    expect<argument_error>(part.ranges.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) &&
                               part.chunks.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
                           "region_options::tiles: more than 2^31 ranges on PE ", pe, "; make tiles larger");
    part.range_at.push_back(static_cast<std::int32_t>(part.ranges.size()));
    part.chunk_at.push_back(static_cast<std::int32_t>(part.chunks.size()));
  }
  return part;
}

}  // namespace

const char* name(region_agent a) {
  switch (a) {
    case region_agent::inline_stores:
      return "inline";
    case region_agent::polling:
      return "polling";
    case region_agent::own_warp:
      return "own_warp";
    case region_agent::launched:
      return "launched";
    case region_agent::copy_engine:
      return "copy_engine";
  }
  return "?";
}

const char* name(region_sending s) {
  switch (s) {
    case region_sending::all:
      return "all";
    case region_sending::elide_stores:
      return "elide_stores";
    case region_sending::track_only:
      return "track_only";
    case region_sending::untracked:
      return "untracked";
  }
  return "?";
}

region_mapping region_mapping::one_to_one(index_t elements) {
  expect<argument_error>(elements >= 1, "region_mapping::one_to_one: ", elements,
                         " elements in a tile; must be at least 1");
  return region_mapping([=](int, index_range part) {
    tiles all;
    for (index_t begin = part.begin; begin < part.end; begin += elements)
      all.push_back({{begin, std::min(begin + elements, part.end)}});
    return all;
  });
}

region_mapping region_mapping::stride(int count, index_t width) {
  expect<argument_error>(count >= 1 && width >= 1, "region_mapping::stride: ", count, " tiles with pieces of ", width,
                         " elements; both must be at least 1");
  return region_mapping([=](int, index_range part) {
    tiles all(static_cast<std::size_t>(count));
    int t = 0;
    for (index_t begin = part.begin; begin < part.end; begin += width, t = (t + 1) % count)
      all[static_cast<std::size_t>(t)].push_back({begin, std::min(begin + width, part.end)});
    return all;
  });
}

region_mapping region_mapping::by(function f) {
  expect<argument_error>(static_cast<bool>(f), "region_mapping::by: an empty function; give one that lists tiles");
  return region_mapping(std::move(f));
}

index_range region_layout::elements_of(int pe, int chunk_of_part) const {
  const index_range part = parts[static_cast<std::size_t>(pe)].elements;
  const index_t begin = part.begin + chunk_of_part * chunk_elements;
  return {begin, std::min(begin + chunk_elements, part.end)};
}

// Many chunks in a part, so that the first are sent early, but not more than it takes: each costs a flag's flight.
std::size_t chunk_bytes_of(const region_options& o, std::size_t part_bytes) {
  constexpr std::size_t least = 64 * 1024, most = 1024 * 1024, in_a_part = 64;
  if (o.chunk_bytes != 0) return o.chunk_bytes;
  return o.agent == region_agent::copy_engine ? most : std::clamp(std::bit_floor(part_bytes / in_a_part), least, most);
}

region_layout make_region_layout(index_t n, int pes, std::size_t element, const region_options& o) {
  expect<argument_error>(n >= 1, "region: ", n, " elements; must be at least 1");
  expect<argument_error>(pes <= most_pes, "region: a machine of ", pes, " PEs; regions take up to ", most_pes,
                         ": use fewer");
  expect<argument_error>(o.buffers >= 1 && o.buffers <= 8, "region_options::buffers = ", o.buffers,
                         "; must be from 1 to 8");
  expect<argument_error>(o.agent_blocks >= 0, "region_options::agent_blocks = ", o.agent_blocks,
                         "; must be at least 1, or 0: chosen");
  expect<argument_error>(o.chunk_bytes % std::size_t{line_bytes} == 0 && o.chunk_bytes <= most_chunk_bytes,
                         "region_options::chunk_bytes = ", o.chunk_bytes, "; must be a multiple of ", line_bytes,
                         " up to ", most_chunk_bytes, ", or 0: chosen");
  expect<argument_error>(o.credits || (o.buffers >= 2 && o.subscribers.everyone()),
                         "region_options: one buffer, and subscribers that are not everyone, need credits = true: "
                         "without credits a PE may overwrite what others still read");
  expect<argument_error>(!o.flushes || o.agent == region_agent::polling || o.agent == region_agent::inline_stores,
                         "region_options::flushes: agent ", name(o.agent),
                         " has none; flushes need inline stores or polling");
  expect<argument_error>(!o.flushes || (o.sending == region_sending::all && !o.links.any()),
                         "region_options::flushes: with sending or links for measuring; leave out one of them");
  expect<argument_error>(!o.tiles.all().empty(), "region_options::tiles: no mappings; give at least one");
  region_layout l;
  const std::size_t part_bytes = static_cast<std::size_t>(ceil_div(n, index_t{pes})) * element;
  l.chunk_elements = static_cast<index_t>(chunk_bytes_of(o, part_bytes) / element);
  const auto bounds = checked_bounds(n, pes, line_bytes / static_cast<index_t>(element), o.bounds);
  l.chunk_at.push_back(0);
  for (int pe = 0; pe < pes; ++pe) {
    const auto p = static_cast<std::size_t>(pe);
    const index_range elements{bounds[p], bounds[p + 1]};
    const index_t chunks = l.chunk_at.back() + std::max(ceil_div(elements.size(), l.chunk_elements), index_t{1});
    expect<argument_error>(chunks <= most_chunks, "region_options::chunk_bytes = ", o.chunk_bytes, ": more than ",
                           most_chunks, " chunks; make chunks larger");
    l.parts.push_back(lay_out(pe, elements, l.chunk_elements, o.tiles));
    l.chunk_at.push_back(static_cast<std::int32_t>(chunks));
  }
  if (o.subscribers.everyone()) return l;
  const std::uint64_t all = pes == most_pes ? ~std::uint64_t{0} : (std::uint64_t{1} << pes) - 1;
  for (int pe = 0; pe < pes; ++pe)
    for (int c = 0; c < l.chunk_at[static_cast<std::size_t>(pe) + 1] - l.chunk_at[static_cast<std::size_t>(pe)]; ++c) {
      const index_range elements = l.elements_of(pe, c);
      const std::uint64_t mask = elements.empty() ? 0 : o.subscribers.of(pe, elements);
      expect<argument_error>((mask & ~all) == 0, "region_options::subscribers: mask ", mask, " for chunk ", c,
                             " of PE ", pe, " of a machine with ", pes, " PEs; bit p stands for PE p");
      l.subscribers.push_back(mask | (std::uint64_t{1} << pe));
    }
  return l;
}

}  // namespace starling
