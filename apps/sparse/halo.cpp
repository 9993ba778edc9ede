#include "sparse/halo.hpp"

#include <algorithm>

#include "sparse/in_parallel.hpp"

namespace starling::sparse {

template <class T>
halo::halo(const csr_view<T>& a, const std::vector<index_t>& first_rows, index_t unit) : first_rows_(first_rows) {
  const std::size_t n_pes = first_rows.size() - 1;
  rows_.resize(n_pes);
  columns_.resize(n_pes);
  senders_.resize(n_pes);
  sends_.resize(n_pes);
  in_parallel(static_cast<int>(n_pes), [&](int pe) {
    const auto i = static_cast<std::size_t>(pe);
    rows_[i].first = first_rows[i];
    rows_[i].rows = first_rows[i + 1] - first_rows[i];
    std::vector<bool> needed(static_cast<std::size_t>(ceil_div(a.columns, unit)));
    for (index_t e = a.row_start[first_rows[i]]; e < a.row_start[first_rows[i + 1]]; ++e)
      if (a.column[e] < first_rows[i] || a.column[e] >= first_rows[i + 1])
        needed[static_cast<std::size_t>(a.column[e] / unit)] = true;
    for (std::size_t group = 0; group < needed.size(); ++group)
      for (index_t c = static_cast<index_t>(group) * unit; needed[group] && c < static_cast<index_t>(group + 1) * unit;
           ++c)
        if (c < a.columns) columns_[i].push_back(c);
    rows_[i].lower = std::lower_bound(columns_[i].begin(), columns_[i].end(), first_rows[i]) - columns_[i].begin();
    rows_[i].upper = static_cast<index_t>(columns_[i].size()) - rows_[i].lower;
    for (const index_t c : columns_[i]) senders_[i].push_back(owner(c));
  });
  list_sends();
}

int halo::owner(index_t row) const {
  // Of PEs without rows, the first row is that of the next: take the last one that begins there.
  return static_cast<int>(std::upper_bound(first_rows_.begin(), first_rows_.end() - 1, row) - first_rows_.begin()) - 1;
}

std::int32_t halo::local(int pe, index_t column) const {
  const auto i = static_cast<std::size_t>(pe);
  const rows_of_pe& own = rows_[i];
  if (column >= own.first && column < own.first + own.rows)
    return static_cast<std::int32_t>(own.first_own() + column - own.first);
  const index_t receive_slot = std::lower_bound(columns_[i].begin(), columns_[i].end(), column) - columns_[i].begin();
  return static_cast<std::int32_t>(own.column_of_receive_slot(receive_slot));
}

void halo::list_sends() {
  for (std::size_t to = 0; to < rows_.size(); ++to)
    for (std::size_t receive_slot = 0; receive_slot < columns_[to].size(); ++receive_slot) {
      const auto from = static_cast<std::size_t>(senders_[to][receive_slot]);
      const index_t column = rows_[to].column_of_receive_slot(static_cast<index_t>(receive_slot));
      sends_[from].push_back({static_cast<std::int32_t>(columns_[to][receive_slot] - rows_[from].first),
                              static_cast<std::int32_t>(to), static_cast<std::int32_t>(column),
                              static_cast<std::int32_t>(receive_slot)});
    }
  for (auto& list : sends_)
    std::stable_sort(list.begin(), list.end(), [](const send_entry& x, const send_entry& y) { return x.row < y.row; });
}

template halo::halo(const csr_view<float>&, const std::vector<index_t>&, index_t);
template halo::halo(const csr_view<double>&, const std::vector<index_t>&, index_t);

}  // namespace starling::sparse
