#include "sparse/region_rows.hpp"

#include <algorithm>
#include <thread>

namespace starling::sparse {
namespace {

constexpr index_t line_bytes = 128;
constexpr index_t entries_of_a_tile = 8 * 1024;  // long enough that counting a tile costs little
constexpr int most_tiles = 1 << 20;

int tiles_for(const iteration_options& o, index_t rows, index_t nonzeros, int pes, index_t unit) {
  if (o.tiles != 0) return o.tiles;
  const index_t by_work = ceil_div(nonzeros, entries_of_a_tile * pes);
  return static_cast<int>(std::clamp(by_work, index_t{1}, std::max(ceil_div(rows, unit * pes), index_t{1})));
}

row_options rows_in_lines(entry_values values, index_t unit) {
  row_options o;
  o.unit = unit;
  o.values = values;
  o.whole_vectors = true;
  o.how = values == entry_values::ones ? storage::compressed : storage::automatic;
  return o;
}

}  // namespace

void check(const iteration_options& o) {
  expect<argument_error>(o.tiles >= 0 && o.tiles <= most_tiles, "tiles = ", o.tiles, "; must be from 1 to ", most_tiles,
                         ", or 0: chosen");
  expect<argument_error>(o.blocks >= 0, "blocks = ", o.blocks, "; must be at least 1, or 0: chosen");
  expect<argument_error>(o.threads >= 32 && o.threads <= 1024 && o.threads % 32 == 0, "threads = ", o.threads,
                         "; must be a multiple of 32 from 32 to 1024");
}

int blocks_for(const machine& m, const iteration_options& o, int fit, int tiles) {
  if (o.blocks != 0) return o.blocks;
  const int agents = o.agent == region_agent::polling && m.size() > 1 ? o.agent_blocks : 0;
  int most = fit - agents;
  if (m.kind() == machine_kind::host)
    most = std::min(most, static_cast<int>(std::thread::hardware_concurrency()) / m.size());
  return std::max(1, std::min(most, tiles));
}

template <class T>
region<T> region_rows<T>::make_region(machine& m, index_t rows, matrix<T>& a, const iteration_options& o, int tiles) {
  const dealing<T>& dealt = a.dealt_to(tiles, line_bytes / static_cast<index_t>(sizeof(T)));
  region_options as;
  as.agent = o.agent;
  as.chunk_bytes = o.chunk_bytes;
  as.agent_blocks = o.agent_blocks;
  for (int pe = 1; pe < m.size(); ++pe) as.bounds.push_back(a.rows(pe).first);
  as.tiles = region_mapping::by([&](int pe, index_range part) {
    region_mapping::tiles all;
    for (const block_plan& p : dealt.plans_of_pe[static_cast<std::size_t>(pe)]) {
      all.emplace_back();
      if (p.rows > 0) all.back().push_back({part.begin + p.first_row, part.begin + p.first_row + p.rows});
    }
    return all;
  });
  return {m, rows, as};
}

template <class T>
region_rows<T>::region_rows(const machine& m, const csr_view<T>& a, const iteration_options& o, entry_values values,
                            T padding)
    : machine_((check(o), m)),
      options_(o),
      matrix_(machine_, a, rows_in_lines(values, line_bytes / static_cast<index_t>(sizeof(T))), padding),
      tiles_of_a_pe_(tiles_for(o, a.rows, a.nonzeros(), machine_.size(), line_bytes / static_cast<index_t>(sizeof(T)))),
      region_(make_region(machine_, a.rows, matrix_, o, tiles_of_a_pe_)),
      tiles_(matrix_.dealt_to(tiles_of_a_pe_, line_bytes / static_cast<index_t>(sizeof(T))).data) {}

template <class T>
symmetric_array<T> region_rows<T>::of_rows() {
  return machine_.allocate<T>(std::max(most_rows(), index_t{1}));
}

template <class T>
symmetric_array<T> region_rows<T>::of_rows(const T* all) {
  auto array = of_rows();
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const index_range rows = rows_of(pe);
    machine_.copy(array.on(pe), all + rows.begin, static_cast<std::size_t>(rows.size()) * sizeof(T));
  }
  return array;
}

template <class T>
void region_rows<T>::gather(const symmetric_array<T>& array, T* all) {
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const index_range rows = rows_of(pe);
    machine_.copy(all + rows.begin, array.on(pe), static_cast<std::size_t>(rows.size()) * sizeof(T));
  }
}

template <class T>
launch_options region_rows<T>::launch() const {
  launch_options l;
  l.threads = options_.threads;
  l.deadline = options_.deadline;
  const bool compressed = matrix_.facts().how == storage::compressed;
  l.scratch_bytes = tile_product<T>::scratch_bytes(options_.threads / 32, compressed);
  return l;
}

template class region_rows<float>;
template class region_rows<double>;

}  // namespace starling::sparse
