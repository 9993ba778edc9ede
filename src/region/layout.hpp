// How a region lies: parts, chunks, tiles and who writes what, worked out on the host when the region is made. No
// memory of a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "starling/region/options.hpp"

namespace starling {

// Of memory: parts begin at whole ones, so that PEs share neither a chunk nor a line.
inline constexpr index_t line_bytes = 128;

// The tiles of one part; lists of one tile lie behind those of the tile before.
struct part_layout {
  index_range elements;
  std::vector<index_range> ranges;     // that tiles write
  std::vector<std::int32_t> tile_at;   // [mappings + 1] where a mapping's tiles begin
  std::vector<std::int32_t> range_at;  // [tiles + 1] where a tile's ranges begin
  std::vector<std::int32_t> chunks;    // of the part, that tiles write
  std::vector<std::int32_t> chunk_at;  // [tiles + 1] where a tile's chunks begin
  std::vector<std::uint64_t> writers;  // [chunks of the part] how many tiles write each

  int tiles() const { return static_cast<int>(range_at.size()) - 1; }
};

struct region_layout {
  index_t chunk_elements = 0;
  std::vector<part_layout> parts;          // [PEs]
  std::vector<std::int32_t> chunk_at;      // [PEs + 1] number of each part's first chunk among all
  std::vector<std::uint64_t> subscribers;  // [chunks] bit p: PE p gets it; empty: every PE gets all

  int chunks() const { return chunk_at.back(); }
  int chunks_of(int pe) const {
    return chunk_at[static_cast<std::size_t>(pe) + 1] - chunk_at[static_cast<std::size_t>(pe)];
  }
  bool gets(int chunk, int pe) const {
    return subscribers.empty() || (subscribers[static_cast<std::size_t>(chunk)] >> pe & 1) != 0;
  }
  index_range elements_of(int pe, int chunk_of_part) const;
};

// The size of chunks that options ask for or leave to the library.
std::size_t chunk_bytes_of(const region_options& options, std::size_t part_bytes);

// n elements of `element` bytes over `pes` PEs. Throws argument_error that names the option.
region_layout make_region_layout(index_t n, int pes, std::size_t element, const region_options& options);

// Stores of an epoch to other PEs, in pieces of 128-byte lines, worked out from the layout: as the warps of a block
// make them that writes each range of its tile in order, and as an agent does that copies chunks.
struct line_stores {
  std::uint64_t as_written = 0;
  std::uint64_t by_chunk = 0;
};
line_stores count_line_stores(const region_layout& l, std::size_t element);

}  // namespace starling
