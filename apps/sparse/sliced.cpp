#include "sparse/sliced.hpp"

#include <algorithm>
#include <limits>

#include "sparse/in_parallel.hpp"

namespace starling::sparse {
namespace {

// f(column, r, value) for the entries of rows first to first + side - 1 of the matrix, by row.
template <class T, class F>
void each_entry(const csr_view<T>& a, index_t first, int side, const F& f) {
  for (int r = 0; r < side && first + r < a.rows; ++r)
    for (index_t e = a.row_start[first + r]; e < a.row_start[first + r + 1]; ++e) f(a.column[e], r, a.value[e]);
}

// The columns (of blocks) that a row (of blocks) has, ascending.
template <class T>
void columns_of(const csr_view<T>& a, index_t first, int side, std::vector<index_t>& columns) {
  columns.clear();
  each_entry(a, first, side, [&](index_t c, int, T) { columns.push_back(c / side); });
  if (side == 1) return;
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

index_t block_rows(const rows_of_pe& own, int side) { return ceil_div(own.rows, side); }

}  // namespace

template <class T, class Columns>
slice_table plan_slices(const csr_view<T>& a, const Columns& h, int pe, int side, int workers) {
  const rows_of_pe& own = h.rows(pe);
  const index_t rows = block_rows(own, side);
  slice_table table;
  table.slices.resize(static_cast<std::size_t>(ceil_div(rows, slice_rows)));
  std::vector<index_t> spans(table.slices.size());
  in_parts(static_cast<index_t>(table.slices.size()), workers, [&](index_range part) {
    std::vector<index_t> columns;
    for (index_t s = part.begin; s < part.end; ++s) {
      std::uint32_t width = 0;
      index_t low = std::numeric_limits<index_t>::max();
      index_t high = 0;
      bool halo_read = false;
      for (index_t i = s * slice_rows; i < std::min((s + 1) * slice_rows, rows); ++i) {
        columns_of(a, own.first + i * side, side, columns);
        width = std::max(width, static_cast<std::uint32_t>(columns.size()));
        columns.push_back(own.first / side + i);  // padding names the row's own column
        for (const index_t c : columns) {
          const index_t local = h.local(pe, c * side) / side;
          low = std::min(low, local);
          high = std::max(high, local);
          halo_read = halo_read || h.comes_late(pe, local * side);
        }
      }
      const auto at = static_cast<std::size_t>(s);
      table.slices[at] = {0, width | (halo_read ? slice::halo_bit : 0), static_cast<std::int32_t>(low)};
      spans[at] = high - low;
    }
  });
  for (std::size_t s = 0; s < table.slices.size(); ++s) {
    table.slices[s].start = table.entries;
    table.entries += index_t{slice_rows} * table.slices[s].width();
    table.longest_span = std::max(table.longest_span, spans[s]);
  }
  return table;
}

template <class T, class Offset, class Columns>
slice_entries<T, Offset> fill_slices(const csr_view<T>& a, const Columns& h, int pe, int side, const slice_table& table,
                                     T padding, int workers) {
  const rows_of_pe& own = h.rows(pe);
  const index_t rows = block_rows(own, side);
  const int values = side * side;
  slice_entries<T, Offset> filled;
  filled.value.assign(static_cast<std::size_t>(table.entries * values), padding);
  filled.offset.assign(static_cast<std::size_t>(table.entries), Offset{0});
  in_parts(static_cast<index_t>(table.slices.size()), workers, [&](index_range part) {
    std::vector<index_t> columns;
    for (index_t i = part.begin * slice_rows; i < part.end * slice_rows; ++i) {
      const slice& s = table.slices[static_cast<std::size_t>(i / slice_rows)];
      const index_t lane = i % slice_rows;
      const index_t row = std::min(i, rows - 1);
      const auto own_offset = static_cast<Offset>(h.own_column(pe, row * side) / side - s.base);
      const auto offset_at = [&](index_t k) -> Offset& {
        return filled.offset[static_cast<std::size_t>(s.start + k * slice_rows + lane)];
      };
      for (index_t k = 0; k < s.width(); ++k) offset_at(k) = own_offset;
      if (i >= rows) continue;
      columns_of(a, own.first + i * side, side, columns);
      for (std::size_t k = 0; k < columns.size(); ++k)
        offset_at(static_cast<index_t>(k)) = static_cast<Offset>(h.local(pe, columns[k] * side) / side - s.base);
      index_t next = 0;
      each_entry(a, own.first + i * side, side, [&](index_t c, int r, T value) {
        const index_t k =
            side == 1 ? next++ : std::lower_bound(columns.begin(), columns.end(), c / side) - columns.begin();
        const index_t place = values * k + side * r + c % side;
        filled.value[static_cast<std::size_t>(values * s.start + slice_rows * place + lane)] = value;
      });
    }
  });
  return filled;
}

template <class T>
double sliced_padding(const csr_view<T>& a, int side) {
  constexpr index_t most_slices = 512;
  const index_t slices = ceil_div(a.rows, index_t{slice_rows} * side);
  const index_t step = std::max<index_t>(slices / most_slices, 1);
  std::vector<index_t> columns;
  double stored = 0;
  double held = 0;
  for (index_t s = 0; s < slices; s += step) {
    index_t width = 0;
    const index_t end = std::min((s + 1) * slice_rows * side, a.rows);
    for (index_t row = s * slice_rows * side; row < end; row += side) {
      columns_of(a, row, side, columns);
      width = std::max(width, static_cast<index_t>(columns.size()));
      held += static_cast<double>(a.row_start[std::min(row + side, a.rows)] - a.row_start[row]);
    }
    stored += static_cast<double>(width * slice_rows * side * side);
  }
  return held > 0 ? std::max(stored / held, 1.0) : 1.0;
}

#define STARLING_SPARSE_SLICED(T, Columns)                                                           \
  template slice_table plan_slices(const csr_view<T>&, const Columns&, int, int, int);               \
  template slice_entries<T, std::uint16_t> fill_slices(const csr_view<T>&, const Columns&, int, int, \
                                                       const slice_table&, T, int);                  \
  template slice_entries<T, std::int32_t> fill_slices(const csr_view<T>&, const Columns&, int, int,  \
                                                      const slice_table&, T, int);
STARLING_SPARSE_SLICED(float, halo)
STARLING_SPARSE_SLICED(double, halo)
STARLING_SPARSE_SLICED(float, whole_vector)
STARLING_SPARSE_SLICED(double, whole_vector)
#undef STARLING_SPARSE_SLICED
template double sliced_padding(const csr_view<float>&, int);
template double sliced_padding(const csr_view<double>&, int);

}  // namespace starling::sparse
