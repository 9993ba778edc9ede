#include "sparse/partition.hpp"

#include <algorithm>

#include "starling/base/error.hpp"

namespace starling::sparse {
namespace {

void check_given(const std::vector<index_t>& first, index_t rows, int n_pes, index_t unit) {
  expect<argument_error>(static_cast<int>(first.size()) == n_pes + 1, "sparse: first_rows has ", first.size(),
                         " entries; for ", n_pes, " PEs it must have ", n_pes + 1);
  expect<argument_error>(first.front() == 0 && first.back() == rows, "sparse: first_rows goes from ", first.front(),
                         " to ", first.back(), "; must go from 0 to the number of rows, ", rows);
  for (std::size_t i = 1; i < first.size(); ++i) {
    expect<argument_error>(first[i] >= first[i - 1], "sparse: first_rows falls from ", first[i - 1], " to ", first[i],
                           " at PE ", i, "; it must not");
    expect<argument_error>(i + 1 == first.size() || first[i] % unit == 0, "sparse: first_rows[", i, "] = ", first[i],
                           "; this matrix needs multiples of ", unit);
  }
}

}  // namespace

std::vector<index_t> deal_rows(index_t rows, const index_t* row_start, int n_pes, index_t unit,
                               const row_options& options) {
  if (!options.first_rows.empty()) {
    check_given(options.first_rows, rows, n_pes, unit);
    return options.first_rows;
  }
  std::vector<index_t> first(static_cast<std::size_t>(n_pes) + 1, 0);
  for (int pe = 1; pe < n_pes; ++pe) {
    index_t at = 0;
    if (options.split == row_split::rows) {
      at = share(rows, n_pes, pe).begin;
    } else {
      // A row costs its entries and a few more for the vectors.
      constexpr index_t per_row = 4;
      const index_t wanted = (row_start[rows] - row_start[0] + per_row * rows) / n_pes * pe;
      index_t low = 0;
      index_t high = rows;
      while (low < high) {
        const index_t middle = (low + high) / 2;
        if (row_start[middle] - row_start[0] + per_row * middle < wanted)
          low = middle + 1;
        else
          high = middle;
      }
      at = low;
    }
    at = std::min(rows, (at + unit / 2) / unit * unit);
    first[static_cast<std::size_t>(pe)] = std::max(at, first[static_cast<std::size_t>(pe) - 1]);
  }
  first.back() = rows;
  return first;
}

}  // namespace starling::sparse
