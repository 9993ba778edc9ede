#include "sparse/region_rows.hpp"

#include <algorithm>
#include <thread>

namespace starling::sparse {
namespace {

// Elements of 128 bytes, the unit in which rows are partitioned among PEs.
template <class T>
constexpr index_t line = 128 / static_cast<index_t>(sizeof(T));
// Beginning and counting a tile has a price, which entries have to be worth; larger ones are sent late.
constexpr index_t least_entries_of_a_tile = 8 * 1024;
constexpr index_t most_entries_of_a_tile = 64 * 1024;
constexpr int most_tiles = 1 << 20;

int tiles_for(const machine& m, index_t rows, index_t nonzeros, index_t unit, int blocks) {
  const index_t pes = m.size();
  const index_t by_work = tiles_worth_their_counting(m, ceil_div(nonzeros, least_entries_of_a_tile * pes),
                                                     ceil_div(nonzeros, most_entries_of_a_tile * pes), blocks);
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

// For each line of the vector, the PEs whose rows read some of it.
template <class T>
std::vector<std::uint64_t> readers_of_lines(const csr_view<T>& a, const std::vector<index_t>& first_rows) {
  std::vector<std::uint64_t> readers(static_cast<std::size_t>(ceil_div(a.rows, line<T>)), 0);
  for (std::size_t pe = 0; pe + 1 < first_rows.size(); ++pe)
    for (index_t e = a.row_start[first_rows[pe]]; e < a.row_start[first_rows[pe + 1]]; ++e)
      readers[static_cast<std::size_t>(a.column[e] / line<T>)] |= std::uint64_t{1} << pe;
  return readers;
}

}  // namespace

void check(const iteration_options& o) {
  expect<argument_error>(o.tiles >= 0 && o.tiles <= most_tiles, "tiles = ", o.tiles, "; must be from 1 to ", most_tiles,
                         ", or 0: chosen");
  expect<argument_error>(o.blocks >= 0, "blocks = ", o.blocks, "; must be at least 1, or 0: chosen");
  expect<argument_error>(o.threads >= 0 && o.threads <= most_iteration_threads && o.threads % 32 == 0,
                         "threads = ", o.threads, "; must be a multiple of 32 from 32 to ", most_iteration_threads,
                         ", or 0: chosen");
}

index_t tiles_worth_their_counting(const machine& m, index_t most, index_t least, int blocks) {
  constexpr index_t tiles_of_a_multiprocessor = 8;
  const index_t enough = tiles_of_a_multiprocessor * m.device(0).multiprocessors;
  if (enough == 0) return most;
  const index_t tiles = std::min(most, std::max(enough, least));
  return tiles > blocks ? (tiles + blocks / 2) / blocks * blocks : tiles;
}

int threads_of(const iteration_options& o) { return o.threads != 0 ? o.threads : 256; }

region_options region_options_of(const iteration_options& o, int pes) {
  region_options r;
  r.agent = o.agent;
  r.chunk_bytes = o.chunk_bytes;
  r.agent_blocks = o.agent_blocks;
  r.credits = o.halo_only && pes > 1;
  r.sending = o.sending;
  r.links = o.links;
  r.verify = o.verify;
  r.timed = o.timed;
  return r;
}

void add_region(iteration_report& to, const region_report& moved) {
  to.agent = moved.agent;
  to.sending = moved.sending;
  to.links = moved.links;
  to.line_stores_inline = moved.line_stores_inline;
  to.line_stores_by_chunk = moved.line_stores_by_chunk;
  to.times = moved.times;
  to.chunk_bytes = moved.chunk_bytes;
  to.agent_blocks = moved.agent_blocks;
  to.bytes_sent = moved.bytes_per_epoch;
  for (std::size_t k = 0; k < to.bytes_sent.size(); ++k)
    to.bytes_sent[k] = to.bytes_sent[k] * moved.epoch - moved.bytes_left_out[k];
}

int blocks_for(const machine& m, const iteration_options& o, int fit, int tiles) {
  if (o.blocks != 0) return o.blocks;
  int most = fit;
  if (m.kind() == machine_kind::host)
    most = std::min(most, static_cast<int>(std::thread::hardware_concurrency()) / m.size());
  return std::max(1, std::min(most, tiles));
}

template <class T>
region<T> region_rows<T>::make_region(const csr_view<T>& a) {
  const block_partition<T>& rows = matrix_.partitioned(tiles_of_a_pe_, 1);
  region_options as = region_options_of(options_, machine_.size());
  for (int pe = 1; pe < machine_.size(); ++pe) as.bounds.push_back(matrix_.rows(pe).first);
  as.tiles = region_mapping::by([&](int pe, index_range part) {
    region_mapping::tiles all;
    for (const block_plan& p : rows.plans_of_pe[static_cast<std::size_t>(pe)]) {
      all.emplace_back();
      if (p.rows > 0) all.back().push_back({part.begin + p.first_row, part.begin + p.first_row + p.rows});
    }
    return all;
  });
  if (as.credits) {
    as.subscribers =
        subscribers::only([readers = readers_of_lines(a, matrix_.facts().first_rows)](int, index_range elements) {
          std::uint64_t mask = 0;
          for (index_t i = elements.begin / line<T>; i <= (elements.end - 1) / line<T>; ++i)
            mask |= readers[static_cast<std::size_t>(i)];
          return mask;
        });
  }
  return {machine_, a.rows, as};
}

template <class T>
region_rows<T>::region_rows(const machine& m, const csr_view<T>& a, const iteration_options& o, entry_values values,
                            T padding, const blocks_of_launch& blocks)
    : machine_((check(o), m)),
      options_(o),
      matrix_(machine_, a, rows_in_lines(values, line<T>), padding),
      tiles_of_a_pe_(o.tiles != 0 ? o.tiles : tiles_for(machine_, a.rows, a.nonzeros(), line<T>, blocks(launch()))),
      region_(make_region(a)),
      tiles_(matrix_.partitioned(tiles_of_a_pe_, 1).data),
      log_(machine_) {}

template <class T>
iteration_report region_rows<T>::report() const {
  iteration_report r = log_.report();
  r.first_rows = matrix_.facts().first_rows;
  r.tiles = tiles_of_a_pe_;
  add_region(r, region_.report());
  return r;
}

template <class T>
std::vector<std::vector<index_range>> region_rows<T>::rows_of_tiles() {
  std::vector<std::vector<index_range>> rows(static_cast<std::size_t>(machine_.size()));
  const auto& plans = matrix_.partitioned(tiles_of_a_pe_, 1).plans_of_pe;
  for (std::size_t pe = 0; pe < rows.size(); ++pe) {
    const index_t first = rows_of(static_cast<int>(pe)).begin;
    for (const block_plan& p : plans[pe]) rows[pe].push_back({first + p.first_row, first + p.first_row + p.rows});
  }
  return rows;
}

template <class T>
tile_inputs region_rows<T>::inputs(const csr_view<T>& a) {
  return {machine_, a, region_, rows_of_tiles()};
}

template <class T>
symmetric_array<T> region_rows<T>::of_rows() {
  return machine_.allocate<T>(std::max(most_rows(), index_t{1}));
}

template <class T>
symmetric_array<T> region_rows<T>::of_rows(const T* all) {
  auto array = of_rows();
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const index_range rows = rows_of(pe);
    if (!machine_.is_local(pe)) continue;
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
launch_options region_rows<T>::launch(std::size_t scratch_bytes) const {
  launch_options l;
  l.threads = threads_of(options_);
  l.deadline = options_.deadline;
  const bool compressed = matrix_.facts().how == storage::compressed;
  l.scratch_bytes = tile_product<T>::scratch_bytes(l.threads / 32, compressed) + scratch_bytes;
  return l;
}

template class region_rows<float>;
template class region_rows<double>;

}  // namespace starling::sparse
