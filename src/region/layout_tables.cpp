// The tables by which kernels find parts, chunks and tiles: made of the layout once, and copied to every PE.
#include "layout.hpp"
#include "starling/region/region.hpp"

namespace starling {
namespace {

// What all PEs have alike.
template <class V>
std::vector<std::vector<V>> on_each(int pes, const std::vector<V>& values) {
  return std::vector<std::vector<V>>(static_cast<std::size_t>(pes), values);
}

// One list of each PE's part.
template <class V>
std::vector<std::vector<V>> of_parts(const region_layout& l, std::vector<V> part_layout::* list) {
  std::vector<std::vector<V>> all;
  for (const part_layout& p : l.parts) all.push_back(p.*list);
  return all;
}

// Who gets chunks of each PE.
std::vector<std::uint64_t> readers_of(const region_layout& l) {
  const std::size_t pes = l.parts.size();
  const std::uint64_t all = pes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << pes) - 1;
  std::vector<std::uint64_t> readers(pes, l.subscribers.empty() ? all : 0);
  for (std::size_t pe = 0; pe < pes; ++pe) {
    readers[pe] |= std::uint64_t{1} << pe;
    for (int c = l.chunk_at[pe]; c < l.chunk_at[pe + 1] && !l.subscribers.empty(); ++c)
      readers[pe] |= l.subscribers[static_cast<std::size_t>(c)];
  }
  return readers;
}

std::vector<std::vector<std::int32_t>> got_by(const region_layout& l) {
  std::vector<std::vector<std::int32_t>> all(l.parts.size());
  for (std::size_t pe = 0; pe < all.size(); ++pe)
    for (int c = 0; c < l.chunks(); ++c)
      if (l.subscribers[static_cast<std::size_t>(c)] >> pe & 1) all[pe].push_back(c);
  return all;
}

// For each part, the tiles that write each of its chunks.
struct chunk_writers {
  std::vector<std::vector<std::int32_t>> tiles, begins;
};

chunk_writers writers_of(const region_layout& l) {
  chunk_writers all;
  for (const part_layout& p : l.parts) {
    std::vector<std::vector<std::int32_t>> of_chunk(p.writers.size());
    for (int t = 0; t < p.tiles(); ++t)
      for (std::int32_t i = p.chunk_at[static_cast<std::size_t>(t)]; i < p.chunk_at[static_cast<std::size_t>(t) + 1];
           ++i)
        of_chunk[static_cast<std::size_t>(p.chunks[static_cast<std::size_t>(i)])].push_back(t);
    auto& tiles = all.tiles.emplace_back();
    auto& begins = all.begins.emplace_back(1, 0);
    for (const auto& list : of_chunk) {
      tiles.insert(tiles.end(), list.begin(), list.end());
      begins.push_back(static_cast<std::int32_t>(tiles.size()));
    }
  }
  return all;
}

}  // namespace

// A table of which every PE has its own.
template <class V>
sym<const V> region_memory::keep(const std::vector<std::vector<V>>& of_pes) {
  std::size_t most = 1;
  for (const auto& list : of_pes) most = std::max(most, list.size());
  auto table = machine_.allocate<std::byte>(static_cast<index_t>(most * sizeof(V)));
  for (std::size_t pe = 0; pe < of_pes.size(); ++pe)
    if (!of_pes[pe].empty() && machine_.is_local(static_cast<int>(pe)))
      machine_.copy(table.on(static_cast<int>(pe)), of_pes[pe].data(), of_pes[pe].size() * sizeof(V));
  const sym<std::byte> start = table.data();
  tables_.push_back(std::move(table));
  return {reinterpret_cast<const V*>(start.on(0)), start.stride_bytes()};
}

void region_memory::keep_layout() {
  const region_layout& l = *layout_;
  const int pes = machine_.size();
  bounds_ = std::make_unique<std::vector<index_t>>(1, 0);
  for (const part_layout& p : l.parts) bounds_->push_back(p.elements.end);
  state_.bounds = keep(on_each(pes, *bounds_));
  state_.chunk_at = keep(on_each(pes, l.chunk_at));
  state_.readers = keep(on_each(pes, readers_of(l)));
  if (!l.subscribers.empty()) {
    const auto got = got_by(l);
    std::vector<std::vector<std::int32_t>> n_got;
    for (const auto& list : got) n_got.push_back({static_cast<std::int32_t>(list.size())});
    state_.subscribers = keep(on_each(pes, l.subscribers));
    state_.got = keep(got);
    state_.n_got = keep(n_got);
  }
  state_.tile_at = keep(of_parts(l, &part_layout::tile_at));
  state_.ranges = keep(of_parts(l, &part_layout::ranges));
  state_.range_at = keep(of_parts(l, &part_layout::range_at));
  state_.tile_chunks = keep(of_parts(l, &part_layout::chunks));
  state_.tile_chunk_at = keep(of_parts(l, &part_layout::chunk_at));
  state_.writers = keep(of_parts(l, &part_layout::writers));
  if (!state_.flushes) return;
  const chunk_writers by_chunk = writers_of(l);
  state_.chunk_tiles = keep(by_chunk.tiles);
  state_.chunk_tile_at = keep(by_chunk.begins);
}

}  // namespace starling
