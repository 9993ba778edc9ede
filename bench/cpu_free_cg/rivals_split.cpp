#include "rivals_split.hpp"

#include <algorithm>

#include "cg/generators/make_rows.hpp"

namespace starling::bench {
namespace {

constexpr std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

// For every column of the whole matrix its number in the halo, or -1; fills the halo.
std::vector<std::int32_t> number_halo(const cg::csr_view<double>& a, index_t first, index_t last, local_rows& mine) {
  std::vector<std::int32_t> number(at(a.columns), -1);
  for (index_t k = a.row_start[first]; k < a.row_start[last]; ++k) {
    const std::int32_t c = a.column[k];
    if (c < first || c >= last) number[at(c)] = 0;
  }
  for (index_t c = 0; c < a.columns; ++c) {
    if (number[at(c)] < 0) continue;
    number[at(c)] = static_cast<std::int32_t>(mine.halo.size());
    mine.halo.push_back(static_cast<std::int32_t>(c));
  }
  return number;
}

}  // namespace

std::vector<index_t> first_rows(const cg::csr_view<double>& a, int gpus) {
  std::vector<index_t> first;
  for (int g = 0; g <= gpus; ++g) {
    const index_t* const end = a.row_start + a.rows;
    first.push_back(std::lower_bound(a.row_start, end, a.nonzeros() * g / gpus) - a.row_start);
  }
  return first;
}

local_rows rows_of(const cg::csr_view<double>& a, const std::vector<index_t>& first, int gpu) {
  const index_t begin = first[at(gpu)];
  const index_t end = first[at(gpu) + 1];
  const index_t before = a.row_start[begin];
  local_rows mine;
  mine.first = begin;
  mine.value = a.value + before;
  for (index_t i = begin; i <= end; ++i) mine.start.push_back(static_cast<std::int32_t>(a.row_start[i] - before));
  std::vector<std::int32_t> number;
  const bool alone = begin == 0 && end == a.rows;
  if (!alone) number = number_halo(a, begin, end, mine);
  for (const index_t from : first) {
    const auto found = std::lower_bound(mine.halo.begin(), mine.halo.end(), static_cast<std::int32_t>(from));
    mine.halo_of_owner.push_back(found - mine.halo.begin());
  }
  cg::make_room(mine.column, mine.entries());
  cg::for_rows(mine.entries(), [&](index_t k) {
    const std::int32_t c = a.column[before + k];
    const bool own = alone || (c >= begin && c < end);
    mine.column[at(k)] = static_cast<std::int32_t>(own ? c - begin : end - begin + number[at(c)]);
  });
  return mine;
}

}  // namespace starling::bench
