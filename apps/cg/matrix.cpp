#include "cg/matrix.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "cg/compressed.hpp"
#include "cg/in_parallel.hpp"
#include "cg/partition.hpp"
#include "cg/row_pack.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

// Padding that costs less than what compressed rows cost beyond their entries.
constexpr double most_padding = 1.25;
constexpr double most_padding_3x3 = 1.15;

// Widens `all` so that it covers `one` too.
void join(index_range& all, index_range one) {
  if (one.empty()) return;
  all = all.empty() ? one : index_range{std::min(all.begin, one.begin), std::max(all.end, one.end)};
}

// The blocks that hold `items`, where block b holds those from plans[b].*first on to the next block's.
index_range holders(const std::vector<block_plan>& plans, index_t block_plan::* first, index_range items) {
  if (items.empty()) return {};
  const auto holder = [&](index_t item) {
    const auto after = std::upper_bound(plans.begin(), plans.end(), item,
                                        [&](index_t x, const block_plan& plan) { return x < plan.*first; });
    return after - plans.begin() - 1;
  };
  return {holder(items.begin), holder(items.end - 1) + 1};
}

}  // namespace

template <class T>
matrix<T>::matrix(machine& m, const csr_view<T>& a, const matrix_options& options) : machine_(m) {
  expect<argument_error>(a.rows < std::numeric_limits<std::int32_t>::max() / 2, "cg: the matrix has ", a.rows,
                         " rows; at most ", std::numeric_limits<std::int32_t>::max() / 2 - 1, " are possible");
  facts_.rows = a.rows;
  facts_.nonzeros = a.nonzeros();
  choose_storage(a, options);
  const index_t unit = std::lcm(index_t{side()}, std::max<index_t>(options.block_size, 1));
  facts_.first_rows = deal_rows(a.rows, a.row_start, machine_.size(), unit, options);
  const halo h(a, facts_.first_rows, side());
  parts_.resize(static_cast<std::size_t>(machine_.size()));
  for (int pe = 0; pe < machine_.size(); ++pe) {
    own_.push_back(h.rows(pe));
    most_rows_ = std::max(most_rows_, own_.back().rows);
    most_columns_ = std::max(most_columns_, own_.back().columns());
    facts_.halo.push_back(own_.back().halo());
    most_halo_ = std::max(most_halo_, facts_.halo.back());
  }
  if (facts_.how == storage::compressed)
    store_compressed(a, h);
  else
    store_slices(a, h);
  store_halo(h);
  note_reach(a, h);
}

template <class T>
void matrix<T>::choose_storage(const csr_view<T>& a, const matrix_options& options) {
  facts_.how = options.how;
  if (facts_.how == storage::sliced_3x3)
    expect<argument_error>(a.rows % 3 == 0, "cg: storage sliced_3x3 for ", a.rows,
                           " rows; their number must be a multiple of 3");
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
    if (!of_pe.empty()) machine_.copy(array.on(pe), of_pe.data(), of_pe.size() * sizeof(U));
  });
  return array;
}

template <class T>
void matrix<T>::store_slices(const csr_view<T>& a, const halo& h) {
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
      parts_[static_cast<std::size_t>(pe)].push_back({row, index_t{s.width()} * slice_rows * side() * side(), false});
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
template <class Offset>
void matrix<T>::fill(const csr_view<T>& a, const halo& h, const std::vector<slice_table>& tables,
                     symmetric_array<Offset>& offsets) {
  index_t most = 0;
  for (const slice_table& t : tables) most = std::max(most, t.entries);
  values_ = machine_.template allocate<T>(most * side() * side());
  offsets = machine_.template allocate<Offset>(most);
  facts_.bytes.resize(tables.size());
  in_parallel(machine_.size(), [&](int pe) {
    const slice_table& table = tables[static_cast<std::size_t>(pe)];
    const auto filled = fill_slices<T, Offset>(a, h, pe, side(), table, machine_.size());
    if (filled.value.empty()) return;
    machine_.copy(values_.on(pe), filled.value.data(), filled.value.size() * sizeof(T));
    machine_.copy(offsets.on(pe), filled.offset.data(), filled.offset.size() * sizeof(Offset));
    facts_.bytes[static_cast<std::size_t>(pe)] = static_cast<index_t>(
        filled.value.size() * sizeof(T) + filled.offset.size() * sizeof(Offset) + table.slices.size() * sizeof(slice));
  });
}

template <class T>
void matrix<T>::store_compressed(const csr_view<T>& a, const halo& h) {
  const int n = machine_.size();
  std::vector<compressed_rows<T>> made(static_cast<std::size_t>(n));
  in_parallel(n, [&](int pe) { made[static_cast<std::size_t>(pe)] = compress_rows(a, h, pe, n); });
  std::vector<std::vector<chunk>> chunks;
  std::vector<std::vector<std::uint16_t>> rows;
  std::vector<std::vector<std::int32_t>> columns;
  std::vector<std::vector<T>> values;
  for (int pe = 0; pe < n; ++pe) {
    auto& one = made[static_cast<std::size_t>(pe)];
    for (const chunk& c : one.chunks)
      parts_[static_cast<std::size_t>(pe)].push_back({c.first_row, c.entries, c.entries > chunk::block_entries});
    facts_.bytes.push_back(static_cast<index_t>(one.value.size() * sizeof(T) + one.column.size() * 4 +
                                                one.row_in_chunk.size() * 2 + one.chunks.size() * sizeof(chunk)));
    chunks.push_back(std::move(one.chunks));
    rows.push_back(std::move(one.row_in_chunk));
    columns.push_back(std::move(one.column));
    values.push_back(std::move(one.value));
  }
  chunks_ = to_devices(chunks);
  row_in_chunk_ = to_devices(rows);
  offsets_32_ = to_devices(columns);
  values_ = to_devices(values);
}

template <class T>
void matrix<T>::store_halo(const halo& h) {
  std::vector<std::vector<rows_of_pe>> own;
  std::vector<std::vector<send_entry>> sends;
  for (int pe = 0; pe < machine_.size(); ++pe) {
    own.push_back({h.rows(pe)});
    sends.push_back(h.sends(pe));
    senders_of_.push_back(h.senders(pe));
    send_rows_.emplace_back();
    for (const send_entry& e : h.sends(pe)) send_rows_.back().push_back(e.row);
    std::set<int> others(h.senders(pe).begin(), h.senders(pe).end());
    for (const send_entry& e : h.sends(pe)) others.insert(e.pe);
    neighbours_.emplace_back(others.begin(), others.end());
  }
  own_on_pes_ = to_devices(own);
  sends_ = to_devices(sends);
}

// What each part reads.
template <class T>
void matrix<T>::note_reach(const csr_view<T>& a, const halo& h) {
  in_parallel(machine_.size(), [&](int pe) {
    const rows_of_pe& own = rows(pe);
    auto& parts = parts_[static_cast<std::size_t>(pe)];
    in_parts(static_cast<index_t>(parts.size()), machine_.size(), [&](index_range some) {
      for (index_t p = some.begin; p < some.end; ++p) {
        part& it = parts[static_cast<std::size_t>(p)];
        const index_t end =
            p + 1 < static_cast<index_t>(parts.size()) ? parts[static_cast<std::size_t>(p) + 1].first_row : own.rows;
        for (index_t row = own.first + it.first_row; row < own.first + end; ++row)
          for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e) {
            const index_t column = a.column[e] / side() * side();
            if (column >= own.first && column < own.first + own.rows)
              join(it.rows_read, {column - own.first, column - own.first + side()});
            else {
              const index_t box = own.box(h.local(pe, column));
              join(it.boxes_read, {box, box + side()});
            }
          }
      }
    });
  });
}

template <class T>
index_t matrix<T>::entry_bytes() const {
  const index_t offset = facts_.how == storage::compressed ? 4 : facts_.offset_bits / 8;
  return static_cast<index_t>(sizeof(T)) + offset / (side() * side());
}

template <class T>
std::vector<block_plan> matrix<T>::plan_blocks(int pe, int blocks, index_t unit) const {
  const auto& parts = parts_[static_cast<std::size_t>(pe)];
  const rows_of_pe& own = rows(pe);
  const auto n = static_cast<index_t>(parts.size());
  unit = std::lcm(unit, index_t{pack_rows});
  // Bytes that a row's share of the vectors moves beside its entries, and those that take as long as the way of a value
  // from another PE: blocks that wait for such values have less of other work.
  constexpr index_t row_bytes = 24;
  constexpr index_t box_bytes = 64;
  const auto row_at = [&](index_t p) { return p < n ? parts[static_cast<std::size_t>(p)].first_row : own.rows; };
  std::vector<index_t> cost(static_cast<std::size_t>(n) + 1, 0);
  for (index_t p = 0; p < n; ++p)
    cost[static_cast<std::size_t>(p) + 1] =
        cost[static_cast<std::size_t>(p)] + parts[static_cast<std::size_t>(p)].entries * entry_bytes() +
        (row_at(p + 1) - row_at(p)) * row_bytes +
        std::min(parts[static_cast<std::size_t>(p)].boxes_read.size(), row_at(p + 1) - row_at(p)) * box_bytes;
  std::vector<block_plan> plans(static_cast<std::size_t>(blocks));
  const auto& send_rows = send_rows_[static_cast<std::size_t>(pe)];
  index_t begin = 0;
  for (int b = 0; b < blocks; ++b) {
    const index_t wanted = cost.back() / blocks * (b + 1) + cost.back() % blocks * (b + 1) / blocks;
    index_t end = b + 1 == blocks ? n : std::lower_bound(cost.begin() + begin, cost.end(), wanted) - cost.begin();
    end = std::min(end, n);
    while (end < n && row_at(end) % unit != 0) ++end;
    block_plan& plan = plans[static_cast<std::size_t>(b)];
    plan.first_row = row_at(begin);
    plan.rows = row_at(end) - row_at(begin);
    plan.first_part = begin;
    plan.parts = end - begin;
    for (index_t p = begin; p < end; ++p) plan.long_rows += parts[static_cast<std::size_t>(p)].long_row ? 1 : 0;
    const auto first = std::lower_bound(send_rows.begin(), send_rows.end(), plan.first_row);
    const auto last = std::lower_bound(send_rows.begin(), send_rows.end(), plan.first_row + plan.rows);
    plan.first_send = first - send_rows.begin();
    plan.sends = last - first;
    begin = end;
  }
  deal_boxes(pe, plans);
  find_peers(pe, plans);
  return plans;
}

// Who takes values of other PEs out of their boxes: the first block that reads them, so that most others have nothing
// to do with it; but equal parts for all blocks when some would have too much, or somebody would wait for a block that
// takes nothing.
template <class T>
void matrix<T>::deal_boxes(int pe, std::vector<block_plan>& plans) const {
  constexpr index_t most_boxes = 4096;
  const index_t halo = rows(pe).halo();
  index_t end = 0;
  for (block_plan& plan : plans) {
    const index_range read = boxes_read(pe, plan);
    plan.first_box = end;
    plan.boxes = std::max(read.end - end, index_t{0});
    end = std::max(end, read.end);
  }
  const auto can_wait = [&](const block_plan& plan) {
    const index_range takers = holders(plans, &block_plan::first_box, boxes_read(pe, plan));
    const auto idle = [](const block_plan& taker) { return taker.boxes == 0; };
    return plan.boxes <= most_boxes && std::none_of(plans.begin() + takers.begin, plans.begin() + takers.end, idle);
  };
  const bool by_reader = end == halo && std::all_of(plans.begin(), plans.end(), can_wait);
  const auto& senders = senders_of_[static_cast<std::size_t>(pe)];
  for (std::size_t b = 0; b < plans.size(); ++b) {
    block_plan& plan = plans[b];
    if (!by_reader) {
      const index_range mine = share(halo, static_cast<index_t>(plans.size()), static_cast<index_t>(b));
      plan.first_box = mine.begin;
      plan.boxes = mine.size();
    }
    if (plan.boxes == 0) continue;
    const std::int32_t first = senders[static_cast<std::size_t>(plan.first_box)];
    plan.sender = first == senders[static_cast<std::size_t>(plan.first_box + plan.boxes - 1)] ? first : any_pe;
  }
}

// What a block reads of other PEs, from the first to the last box.
template <class T>
index_range matrix<T>::boxes_read(int pe, const block_plan& plan) const {
  index_range all;
  for (index_t p = plan.first_part; p < plan.first_part + plan.parts; ++p)
    join(all, parts_[static_cast<std::size_t>(pe)][static_cast<std::size_t>(p)].boxes_read);
  return all;
}

// Which blocks have what each block reads.
template <class T>
void matrix<T>::find_peers(int pe, std::vector<block_plan>& plans) const {
  for (block_plan& plan : plans) {
    index_range rows_read;
    for (index_t p = plan.first_part; p < plan.first_part + plan.parts; ++p)
      join(rows_read, parts_[static_cast<std::size_t>(pe)][static_cast<std::size_t>(p)].rows_read);
    const index_range peers = holders(plans, &block_plan::first_row, rows_read);
    plan.first_peer = static_cast<std::int32_t>(peers.begin);
    plan.peers = static_cast<std::int32_t>(peers.size());
    const index_range boxes = boxes_read(pe, plan);
    if (boxes.begin >= plan.first_box && boxes.end <= plan.first_box + plan.boxes) continue;
    const index_range takers = holders(plans, &block_plan::first_box, boxes);
    plan.first_taker = static_cast<std::int32_t>(takers.begin);
    plan.takers = static_cast<std::int32_t>(takers.size());
  }
}

template <class T>
matrix_data<T> matrix<T>::dealt_to(int blocks, index_t unit) {
  if (blocks != dealt_blocks_ || unit != dealt_unit_) {
    std::vector<std::vector<block_plan>> plans;
    most_block_bytes_ = 0;
    most_block_rows_ = 0;
    most_block_parts_ = 0;
    for (int pe = 0; pe < machine_.size(); ++pe) {
      plans.push_back(plan_blocks(pe, blocks, unit));
      for (const block_plan& plan : plans.back()) {
        index_t entries = 0;
        for (index_t p = plan.first_part; p < plan.first_part + plan.parts; ++p)
          entries += parts_[static_cast<std::size_t>(pe)][static_cast<std::size_t>(p)].entries;
        most_block_bytes_ = std::max(most_block_bytes_, static_cast<std::size_t>(entries * entry_bytes()));
        most_block_rows_ = std::max(most_block_rows_, plan.rows);
        most_block_parts_ = std::max(most_block_parts_, plan.parts);
      }
    }
    plans_ = to_devices(plans);
    dealt_blocks_ = blocks;
    dealt_unit_ = unit;
  }
  matrix_data<T> d;
  d.how = facts_.how;
  d.short_offsets = facts_.how != storage::compressed && facts_.offset_bits == 16;
  d.own = own_on_pes_.data();
  d.value = values_.data();
  if (offsets_16_.allocated()) d.offset_16 = offsets_16_.data();
  if (offsets_32_.allocated()) d.offset_32 = offsets_32_.data();
  if (slices_.allocated()) d.slices = slices_.data();
  if (chunks_.allocated()) d.chunks = chunks_.data();
  if (row_in_chunk_.allocated()) d.row_in_chunk = row_in_chunk_.data();
  d.sends = sends_.data();
  d.plans = plans_.data();
  return d;
}

template class matrix<float>;
template class matrix<double>;

}  // namespace starling::cg
