// The product of a block's rows with a vector, on the device. The vector lies in memory in the PE's numbering of
// columns.
#pragma once

#include "cg/rows.hpp"
#include "starling/device/block.hpp"

namespace starling::cg {

// What a block works on in each product: its part of the matrix, in its fast memory as far as it is kept there.
template <class T>
struct block_rows {
  matrix_data<T> a;
  block_plan plan;
  rows_of_pe own;
  int pe = 0;
  const T* kept_value = nullptr;  // of the first `kept` slices
  const void* kept_offset = nullptr;
  index_t kept = 0;
  const slice* kept_slices = nullptr;  // of all
  T* row_buffer = nullptr;             // chunk::most_entries for each warp
};

// Parts of a block's rows, by whether they read values of other PEs.
enum class which_parts { all, own, halo };
constexpr bool wanted(which_parts which, bool reads_halo) {
  return which == which_parts::all || (which == which_parts::halo) == reads_halo;
}

namespace detail {

// A GPU's thread has the loads of so many entries in flight together, of so many slices.
template <int Side>
inline constexpr int entries_at_once = Side == 1 ? 8 : 1;
inline constexpr int slices_at_once = target::on_gpu ? 2 : 1;

// A lane's row (of blocks) of one slice.
template <class T, class Offset>
struct slice_row {
  const T* value = nullptr;  // of the slice's first entry, at this lane
  const Offset* offset = nullptr;
  int width = 0;
  int base = 0;
  bool wanted = false;
};

// Some slices side by side: sum[s][r] becomes row r of slice s. Widths are the same for all lanes of a warp, so what is
// beyond one is branched around.
template <int Side, class T, class Offset>
STARLING_HD void multiply_rows(slice_row<T, Offset> (&rows)[slices_at_once], const T* x,
                               T (&sum)[slices_at_once][Side]) {
  constexpr int step = entries_at_once<Side>;
  constexpr int area = Side * Side;
  int width = 0;
  unrolled<slices_at_once>([&](auto s) {
    unrolled<Side>([&](auto r) { sum[s][r] = T{0}; });
    width = rows[s].width > width ? rows[s].width : width;
  });
  for (int k = 0; k < width; k += step) {
    T entry[slices_at_once][step][area] = {};
    T factor[slices_at_once][step][Side] = {};
    int column[slices_at_once][step] = {};
    // All loads of the matrix before the first look at a column, which waits.
    unrolled<step>([&](auto e) {
      unrolled<slices_at_once>([&](auto s) {
        if (k + e >= rows[s].width) return;
        column[s][e] = static_cast<int>(rows[s].offset[e * slice_rows]);
        unrolled<area>([&](auto c) { entry[s][e][c] = rows[s].value[(e * area + c) * slice_rows]; });
      });
    });
    unrolled<step>([&](auto e) {
      unrolled<slices_at_once>([&](auto s) {
        if (k + e >= rows[s].width) return;
        const int first = (rows[s].base + column[s][e]) * Side;
        unrolled<Side>([&](auto c) { factor[s][e][c] = x[first + c]; });
      });
    });
    unrolled<slices_at_once>([&](auto s) {
      unrolled<step>([&](auto e) {
        unrolled<area>([&](auto c) { sum[s][c / Side] += entry[s][e][c] * factor[s][e][c % Side]; });
      });
      rows[s].value += step * area * slice_rows;
      rows[s].offset += step * slice_rows;
    });
  }
}

// Lane s of a warp asks for slice s of those that the warp does next, from the first one again behind the last.
template <class T, class Offset>
STARLING_HD void prefetch_slice(const block_rows<T>& m, const slice* slices, const T* value, const Offset* offset,
                                int area, int j) {
  if (target::thread_index() % target::warp_size >= slices_at_once) return;
  const int parts = static_cast<int>(m.plan.parts);
  if (j >= parts) j = j - parts + static_cast<int>(m.kept);
  if (j < m.kept || j >= parts) return;
  const slice s = slices[j];
  const std::size_t entries = static_cast<std::size_t>(s.width()) * slice_rows;
  target::prefetch(value + s.start * area, entries * static_cast<std::size_t>(area) * sizeof(T));
  target::prefetch(offset + s.start, entries * sizeof(Offset));
}

// The block's slices, as far as they are wanted.
template <int Side, class Offset, class T>
STARLING_HD void multiply_slices(const warp& w, const block_rows<T>& m, const Offset* offset, const T* x, T* out,
                                 which_parts which) {
  constexpr int area = Side * Side;
  const slice* slices = m.kept_slices != nullptr ? m.kept_slices : m.a.slices.on(m.pe) + m.plan.first_part;
  const T* value = m.a.value.on(m.pe);
  const int parts = static_cast<int>(m.plan.parts);
  const int row_count = static_cast<int>(m.plan.rows);
  const index_t first = parts > 0 ? slices[0].start : 0;
  for (int i = w.rank(); i < parts; i += slices_at_once * w.count()) {
    slice some[slices_at_once];
    unrolled<slices_at_once>([&](auto s) {
      const int j = i + s * w.count();
      if (j < parts) some[s] = slices[j];
    });
    for (int lane = w.member(); lane < slice_rows; lane += w.members()) {
      slice_row<T, Offset> rows[slices_at_once];
      unrolled<slices_at_once>([&](auto s) {
        const int j = i + s * w.count();
        if (j >= parts || !wanted(which, some[s].reads_halo())) return;
        const index_t start = j < m.kept ? some[s].start - first : some[s].start;
        rows[s].value = (j < m.kept ? m.kept_value : value) + start * area + lane;
        rows[s].offset = (j < m.kept ? static_cast<const Offset*>(m.kept_offset) : offset) + start + lane;
        rows[s].width = some[s].width();
        rows[s].base = some[s].base;
        rows[s].wanted = true;
      });
      T sum[slices_at_once][Side];
      if constexpr (target::on_gpu)
        prefetch_slice(m, slices, value, offset, area, i + slices_at_once * w.count() + lane * w.count());
      multiply_rows<Side>(rows, x, sum);
      unrolled<slices_at_once>([&](auto s) {
        const int row = ((i + s * w.count()) * slice_rows + lane) * Side;
        if (!rows[s].wanted) return;
        unrolled<Side>([&](auto r) {
          if (row + r < row_count) out[row + r] = sum[s][r];
        });
      });
    }
  }
}

// The sum of lanes `first` to `first + n - 1` of a warp, n a power of two, in lane `first` of each such group.
template <class T>
STARLING_HD T sum_of_lanes(T value, int n) {
  for (int delta = n / 2; delta > 0; delta /= 2) value += target::shuffle_down(value, delta);
  return value;
}

// One chunk by one warp: products side by side into the buffer, then rows from there; a row that does not fit is summed
// by lane.
template <class T>
STARLING_HD void multiply_chunk(const warp& w, const chunk& c, const T* value, const std::int32_t* column,
                                const std::uint16_t* row_start, const T* x, T* buffer, T* out) {
  if (c.rows == 1 && c.entries > chunk::most_entries) {
    T sum{0};
    for (index_t e = w.member(); e < c.entries; e += w.members()) sum += value[e] * x[column[e]];
    sum = sum_of_lanes(sum, w.members());
    if (w.member() == 0) out[0] = sum;
    return;
  }
  // All loads of the matrix before the first look at a column, which waits.
  constexpr int most = chunk::most_entries / target::warp_size;
  constexpr int step = target::on_gpu ? most : 1;
  for (int first = w.member(); first < c.entries; first += step * w.members()) {
    T entry[step] = {};
    int at[step] = {};
    T factor[step] = {};
    const int lanes = w.members();
    unrolled<step>([&](auto e) {
      if (first + e * lanes >= c.entries) return;
      at[e] = column[first + e * lanes];
      entry[e] = value[first + e * lanes];
    });
    unrolled<step>([&](auto e) {
      if (first + e * lanes < c.entries) factor[e] = x[at[e]];
    });
    unrolled<step>([&](auto e) {
      if (first + e * lanes < c.entries) buffer[first + e * lanes] = entry[e] * factor[e];
    });
  }
  w.sync();
  int each = 1;  // lanes for a row
  while (each < w.members() && 2 * each * c.rows <= w.members()) each *= 2;
  const int groups = w.members() / each;
  const int mine = w.member() / each;
  const int lane = w.member() % each;
  for (int first = 0; first < c.rows; first += groups) {
    const int row = first + mine;
    T sum{0};
    if (row < c.rows) {
      const int end = row + 1 < c.rows ? row_start[row + 1] : c.entries;
      for (int e = row_start[row] + lane; e < end; e += each) sum += buffer[e];
    }
    sum = sum_of_lanes(sum, each);
    if (row < c.rows && lane == 0) out[row] = sum;
  }
  w.sync();
}

template <class T>
STARLING_HD void multiply_chunks(const warp& w, const block_rows<T>& m, const T* x, T* out, which_parts which) {
  const chunk* chunks = m.a.chunks.on(m.pe) + m.plan.first_part;
  const T* value = m.a.value.on(m.pe);
  const std::int32_t* column = m.a.offset_32.on(m.pe);
  const std::uint16_t* row_start = m.a.row_in_chunk.on(m.pe);
  for (index_t i = w.rank(); i < m.plan.parts; i += w.count()) {
    const chunk c = chunks[i];
    if (target::on_gpu && i + w.count() < m.plan.parts) {
      const chunk next = chunks[i + w.count()];
      if (w.member() == 0) target::prefetch(value + next.start, static_cast<std::size_t>(next.entries) * sizeof(T));
      if (w.member() == 1)
        target::prefetch(column + next.start, static_cast<std::size_t>(next.entries) * sizeof(std::int32_t));
    }
    if (!wanted(which, c.reads_halo != 0) || c.entries > chunk::block_entries) continue;
    multiply_chunk(w, c, value + c.start, column + c.start, row_start + c.first_row, x,
                   m.row_buffer + index_t{w.rank()} * chunk::most_entries, out + (c.first_row - m.plan.first_row));
  }
}

}  // namespace detail

// out[i] = (A x)[i] for the block's rows in the parts named, but for those rows that all warps share. Every thread of
// the block calls it; no barrier. Out of line, since there are several calls and much of it; so what it is given must
// not be an object of a thread's own, whose address it would take.
template <class T>
__attribute__((noinline)) STARLING_HD void multiply(thread t, const block_rows<T>& m, const T* x, T* out,
                                                    which_parts which) {
  const warp w(t);
  if (m.a.how == storage::compressed) return detail::multiply_chunks(w, m, x, out, which);
  if (m.a.how == storage::sliced_3x3) {
    if (m.a.short_offsets) return detail::multiply_slices<3>(w, m, m.a.offset_16.on(m.pe), x, out, which);
    return detail::multiply_slices<3>(w, m, m.a.offset_32.on(m.pe), x, out, which);
  }
  if (m.a.short_offsets) return detail::multiply_slices<1>(w, m, m.a.offset_16.on(m.pe), x, out, which);
  detail::multiply_slices<1>(w, m, m.a.offset_32.on(m.pe), x, out, which);
}

// The rows of so many entries that all warps share each.
template <class T>
STARLING_HD void multiply_long_rows(const team& b, const block_rows<T>& m, const T* x, T* out) {
  const chunk* chunks = m.a.chunks.on(m.pe) + m.plan.first_part;
  for (index_t i = 0, left = m.plan.long_rows; left > 0; ++i) {
    const chunk c = chunks[i];
    if (c.entries <= chunk::block_entries) continue;
    --left;
    const T* value = m.a.value.on(m.pe) + c.start;
    const std::int32_t* column = m.a.offset_32.on(m.pe) + c.start;
    T sum{0};
    for (index_t e = b.member(); e < c.entries; e += b.members()) sum += value[e] * x[column[e]];
    sum = b.reduce(sum, plus{});
    if (b.member() == 0) out[c.first_row - m.plan.first_row] = sum;
  }
}

}  // namespace starling::cg
