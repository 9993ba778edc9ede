#include "sparse/matrix.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "sparse/compressed.hpp"
#include "sparse/in_parallel.hpp"
#include "sparse/partition.hpp"
#include "starling/base/error.hpp"

namespace starling::sparse {
namespace {

// Padding that costs less than what compressed rows cost beyond their entries.
constexpr double most_padding = 1.25;
constexpr double most_padding_3x3 = 1.15;

// Solves and products in turn, with one preconditioner and another: more kinds of partitions are not in use at a time.
constexpr std::size_t most_partitions = 4;

}  // namespace

template <class T>
matrix<T>::matrix(machine& m, const csr_view<T>& a, const row_options& options, T padding)
    : machine_(m), padding_(padding), with_values_(options.values == entry_values::stored) {
  expect<argument_error>(a.rows <= sparse::most_rows, "sparse: the matrix has ", a.rows, " rows; must have at most ",
                         sparse::most_rows, ": use a smaller one");
  expect<argument_error>(!with_values_ || a.value != nullptr || a.nonzeros() == 0, "sparse: the values of ",
                         a.nonzeros(), " entries are a null pointer; entry_values::ones is for a matrix without");
  expect<argument_error>(options.unit >= 1, "sparse: rows in units of ", options.unit, "; must be at least 1");
  facts_.rows = a.rows;
  facts_.nonzeros = a.nonzeros();
  choose_storage(a, options);
  const index_t unit = std::lcm(index_t{side()}, options.unit);
  facts_.first_rows = deal_rows(a.rows, a.row_start, machine_.size(), unit, options);
  if (options.whole_vectors) {
    store(a, whole_vector(facts_.first_rows));
    own_on_pes_ = to_devices(rows_by_pe());
    most_columns_ = a.columns;
    return;
  }
  const halo h(a, facts_.first_rows, side());
  store(a, h);
  store_halo(h);
  note_reach(a, h);
}

template <class T>
template <class Columns>
void matrix<T>::store(const csr_view<T>& a, const Columns& h) {
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const rows_of_pe& own = h.rows(pe);
    to_deal_.push_back({own, {}, {}, {}});
    most_rows_ = std::max(most_rows_, own.rows);
  }
  if (facts_.how == storage::compressed)
    store_compressed(a, h);
  else
    store_slices(a, h);
}

template <class T>
void matrix<T>::choose_storage(const csr_view<T>& a, const row_options& options) {
  facts_.how = options.how;
  if (facts_.how == storage::sliced_3x3)
    expect<argument_error>(a.rows % 3 == 0, "sparse: storage sliced_3x3 for ", a.rows,
                           " rows; their number must be a multiple of 3: use sliced");
  if (!with_values_) {
    expect<argument_error>(facts_.how == storage::automatic || facts_.how == storage::compressed, "sparse: storage ",
                           name(facts_.how), " of a matrix without values, which fill slices up; must be compressed");
    facts_.how = storage::compressed;
  }
  if (facts_.how != storage::automatic) return;
  const auto boundary_fits = [](index_t row) { return row % 3 == 0; };
  const bool threes = a.rows % 3 == 0 && a.nonzeros() > 9 * a.rows / 3 &&
                      std::all_of(options.first_rows.begin(), options.first_rows.end(), boundary_fits);
  if (threes && sliced_padding(a, 3) <= most_padding_3x3)
    facts_.how = storage::sliced_3x3;
  else
    facts_.how = sliced_padding(a, 1) <= most_padding ? storage::sliced : storage::compressed;
}

template <class T>
template <class U>
symmetric_array<U> matrix<T>::to_devices(const std::vector<std::vector<U>>& by_pe) {
  std::size_t most = 0;
  for (const auto& of_pe : by_pe) most = std::max(most, of_pe.size());
  auto array = machine_.template allocate<U>(static_cast<index_t>(most));
  in_parallel(machine_.size(), [&](int pe) {
    const auto& of_pe = by_pe[static_cast<std::size_t>(pe)];
    if (!of_pe.empty() && machine_.is_local(pe)) machine_.copy(array.on(pe), of_pe.data(), of_pe.size() * sizeof(U));
  });
  return array;
}

template <class T>
template <class Columns>
void matrix<T>::store_slices(const csr_view<T>& a, const Columns& h) {
  const int n = machine_.size();
  std::vector<slice_table> tables(static_cast<std::size_t>(n));
  in_parallel(n, [&](int pe) { tables[static_cast<std::size_t>(pe)] = plan_slices(a, h, pe, side(), n); });
  index_t span = 0;
  std::vector<std::vector<slice>> slices;
  for (int pe = 0; pe < n; ++pe) {
    const slice_table& table = tables[static_cast<std::size_t>(pe)];
    span = std::max(span, table.longest_span);
    slices.push_back(table.slices);
    index_t row = 0;
    for (const slice& s : table.slices) {
      to_deal_[static_cast<std::size_t>(pe)].parts.push_back({row, index_t{s.width()} * slice_rows * side() * side()});
      row += index_t{slice_rows} * side();
    }
  }
  slices_ = to_devices(slices);
  facts_.offset_bits = span <= std::numeric_limits<std::uint16_t>::max() ? 16 : 32;
  if (facts_.offset_bits == 16)
    fill(a, h, tables, offsets_16_);
  else
    fill(a, h, tables, offsets_32_);
}

template <class T>
template <class Offset, class Columns>
void matrix<T>::fill(const csr_view<T>& a, const Columns& h, const std::vector<slice_table>& tables,
                     symmetric_array<Offset>& offsets) {
  index_t most = 0;
  for (const slice_table& t : tables) most = std::max(most, t.entries);
  values_ = machine_.template allocate<T>(most * side() * side());
  offsets = machine_.template allocate<Offset>(most);
  facts_.bytes.resize(tables.size());
  in_parallel(machine_.size(), [&](int pe) {
    const slice_table& table = tables[static_cast<std::size_t>(pe)];
    const auto filled = fill_slices<T, Offset>(a, h, pe, side(), table, padding_, machine_.size());
    if (filled.value.empty()) return;
    if (machine_.is_local(pe)) {
      machine_.copy(values_.on(pe), filled.value.data(), filled.value.size() * sizeof(T));
      machine_.copy(offsets.on(pe), filled.offset.data(), filled.offset.size() * sizeof(Offset));
    }
    facts_.bytes[static_cast<std::size_t>(pe)] = static_cast<index_t>(
        filled.value.size() * sizeof(T) + filled.offset.size() * sizeof(Offset) + table.slices.size() * sizeof(slice));
  });
}

template <class T>
template <class Columns>
void matrix<T>::store_compressed(const csr_view<T>& a, const Columns& h) {
  const int n = machine_.size();
  std::vector<compressed_rows<T>> made(static_cast<std::size_t>(n));
  in_parallel(n, [&](int pe) {
    made[static_cast<std::size_t>(pe)] =
        compress_rows(a, h, pe, n, with_values_ ? entry_values::stored : entry_values::ones);
  });
  std::vector<std::vector<row_block>> row_blocks;
  std::vector<std::vector<std::uint16_t>> rows;
  std::vector<std::vector<long_row>> long_rows;
  index_t most_pieces = 0;
  std::vector<std::vector<std::int32_t>> columns;
  std::vector<std::vector<T>> values;
  for (int pe = 0; pe < n; ++pe) {
    auto& one = made[static_cast<std::size_t>(pe)];
    auto next_long = one.long_rows.begin();
    for (const row_block& c : one.row_blocks) {
      part_of_rows part{c.first_row, c.entries};
      if (c.rows() == 0) {
        part = {next_long->row, c.entries, c.first_row - next_long->first_piece};
        if (part.piece + 1 == next_long->pieces) ++next_long;
      }
      to_deal_[static_cast<std::size_t>(pe)].parts.push_back(part);
    }
    most_pieces = std::max(most_pieces, index_t{one.pieces});
    facts_.bytes.push_back(static_cast<index_t>(one.value.size() * sizeof(T) + one.column.size() * 4 +
                                                one.row_in_block.size() * 2 +
                                                one.row_blocks.size() * sizeof(row_block)));
    row_blocks.push_back(std::move(one.row_blocks));
    rows.push_back(std::move(one.row_in_block));
    long_rows.push_back(std::move(one.long_rows));
    columns.push_back(std::move(one.column));
    values.push_back(std::move(one.value));
  }
  row_blocks_ = to_devices(row_blocks);
  row_in_block_ = to_devices(rows);
  long_rows_ = to_devices(long_rows);
  piece_sums_ = machine_.template allocate<T>(most_pieces);
  offsets_32_ = to_devices(columns);
  if (with_values_) values_ = to_devices(values);
}

template <class T>
void matrix<T>::store_halo(const halo& h) {
  std::vector<std::vector<send_entry>> sends;
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const rows_of_pe& own = h.rows(pe);
    most_columns_ = std::max(most_columns_, own.columns());
    facts_.halo.push_back(own.halo());
    most_halo_ = std::max(most_halo_, own.halo());
    to_deal_[static_cast<std::size_t>(pe)].senders = h.senders(pe);
    sends.push_back(h.sends(pe));
    for (const send_entry& e : h.sends(pe)) to_deal_[static_cast<std::size_t>(pe)].send_rows.push_back(e.row);
    std::set<int> others(h.senders(pe).begin(), h.senders(pe).end());
    for (const send_entry& e : h.sends(pe)) others.insert(e.pe);
    neighbours_.emplace_back(others.begin(), others.end());
  }
  own_on_pes_ = to_devices(rows_by_pe());
  sends_ = to_devices(sends);
}

template <class T>
std::vector<std::vector<rows_of_pe>> matrix<T>::rows_by_pe() const {
  std::vector<std::vector<rows_of_pe>> own;
  for (const rows_to_deal& pe : to_deal_) own.push_back({pe.own});
  return own;
}

// What each part reads.
template <class T>
void matrix<T>::note_reach(const csr_view<T>& a, const halo& h) {
  in_parallel(machine_.size(), [&](int pe) {
    const rows_of_pe& own = rows(pe);
    auto& parts = to_deal_[static_cast<std::size_t>(pe)].parts;
    in_parts(static_cast<index_t>(parts.size()), machine_.size(), [&](index_range some) {
      for (index_t p = some.begin; p < some.end; ++p) {
        part_of_rows& it = parts[static_cast<std::size_t>(p)];
        const index_t end =
            p + 1 < static_cast<index_t>(parts.size()) ? parts[static_cast<std::size_t>(p) + 1].first_row : own.rows;
        for (index_t row = own.first + it.first_row; row < own.first + end; ++row)
          for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e) {
            const index_t column = a.column[e] / side() * side();
            if (column >= own.first && column < own.first + own.rows)
              join(it.rows_read, {column - own.first, column - own.first + side()});
            else {
              const index_t receive_slot = own.receive_slot(h.local(pe, column));
              join(it.receive_slots_read, {receive_slot, receive_slot + side()});
            }
          }
      }
    });
  });
}

template <class T>
index_t matrix<T>::entry_bytes() const {
  const index_t offset = facts_.how == storage::compressed ? 4 : facts_.offset_bits / 8;
  return (with_values_ ? static_cast<index_t>(sizeof(T)) : 0) + offset / (side() * side());
}

// A warp takes about as long for each row block: as for a full one, whose rows are short.
template <class T>
index_t matrix<T>::least_part_bytes() const {
  return facts_.how == storage::compressed ? row_block::most_entries * (entry_bytes() + 4) : 0;
}

template <class T>
const block_partition<T>& matrix<T>::partitioned(int blocks, index_t unit) {
  const auto same = [&](const block_partition<T>& d) { return d.blocks == blocks && d.unit == unit; };
  const auto known = std::find_if(partitions_.begin(), partitions_.end(), same);
  if (known != partitions_.end()) {
    partitions_.splice(partitions_.begin(), partitions_, known);  // the one used last is the first
    return partitions_.front();
  }
  if (partitions_.size() == most_partitions) partitions_.pop_back();
  block_partition<T> d;
  d.blocks = blocks;
  d.unit = unit;
  for (const rows_to_deal& pe : to_deal_) {
    d.plans_of_pe.push_back(plan_blocks(pe, blocks, unit, entry_bytes(), least_part_bytes()));
    for (const block_plan& plan : d.plans_of_pe.back()) {
      index_t entries = 0;
      for (index_t p = plan.first_part; p < plan.first_part + plan.parts; ++p)
        entries += pe.parts[static_cast<std::size_t>(p)].entries;
      d.most_block_bytes = std::max(d.most_block_bytes, static_cast<std::size_t>(entries * entry_bytes()));
      d.most_block_rows = std::max(d.most_block_rows, plan.rows);
      d.most_block_parts = std::max(d.most_block_parts, plan.parts);
    }
  }
  d.plans = to_devices(d.plans_of_pe);
  d.data = all_rows();
  d.data.plans = d.plans.data();
  partitions_.push_front(std::move(d));
  return partitions_.front();
}

// What kernels need whatever the blocks are.
template <class T>
matrix_data<T> matrix<T>::all_rows() const {
  matrix_data<T> d;
  d.how = facts_.how;
  d.short_offsets = facts_.how != storage::compressed && facts_.offset_bits == 16;
  d.own = own_on_pes_.data();
  if (with_values_) d.value = values_.data();
  if (offsets_16_.allocated()) d.offset_16 = offsets_16_.data();
  if (offsets_32_.allocated()) d.offset_32 = offsets_32_.data();
  if (slices_.allocated()) d.slices = slices_.data();
  if (row_blocks_.allocated()) d.row_blocks = row_blocks_.data();
  if (row_in_block_.allocated()) d.row_in_block = row_in_block_.data();
  if (long_rows_.allocated()) d.long_rows = long_rows_.data();
  if (piece_sums_.allocated()) d.piece_sums = piece_sums_.data();
  if (sends_.allocated()) d.sends = sends_.data();
  return d;
}

template class matrix<float>;
template class matrix<double>;

}  // namespace starling::sparse
