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
  index_t rows_on_pe = 0;
  int pe = 0;
  const T* kept_value = nullptr;  // of the first `kept` slices
  const void* kept_offset = nullptr;
  index_t kept = 0;
  T* row_buffer = nullptr;  // chunk::most_entries for each warp
};

// Parts of a block's rows, by whether they read values of other PEs.
enum class which_parts { all, own, halo };
constexpr bool wanted(which_parts which, bool reads_halo) {
  return which == which_parts::all || (which == which_parts::halo) == reads_halo;
}

namespace detail {

// Entries whose loads are in flight together.
template <int Side>
inline constexpr int at_once = Side == 1 ? 8 : 2;

// One slice: each lane does a row (of blocks). `value` and `offset` begin at the slice's first entry.
template <int Side, class T, class Offset>
STARLING_HD void slice_row(const T* value, const Offset* offset, const slice& s, int lane, const T* x, T* sum) {
  constexpr int step = at_once<Side>;
  constexpr int area = Side * Side;
  for (int r = 0; r < Side; ++r) sum[r] = T{0};
  const int width = s.width();
  for (int k = 0; k < width; k += step) {
    T entry[step * area];
    T factor[step * Side];
    unrolled<step>([&](auto j) {
      constexpr int e = decltype(j)::value;
      const bool there = k + e < width;
      const index_t at = index_t{k + e} * slice_rows + lane;
      const index_t column = there ? s.base + static_cast<index_t>(offset[at]) : 0;
      unrolled<area>([&](auto c) {
        constexpr int i = decltype(c)::value;
        entry[e * area + i] = there ? value[(index_t{k + e} * area + i) * slice_rows + lane] : T{0};
      });
      unrolled<Side>([&](auto c) {
        constexpr int i = decltype(c)::value;
        factor[e * Side + i] = there ? x[column * Side + i] : T{0};
      });
    });
    unrolled<step>([&](auto j) {
      constexpr int e = decltype(j)::value;
      unrolled<area>([&](auto c) {
        constexpr int i = decltype(c)::value;
        sum[i / Side] += entry[e * area + i] * factor[e * Side + i % Side];
      });
    });
  }
}

// All slices of the block; `pick`(slice) says which.
template <int Side, class Offset, class T>
STARLING_HD void multiply_slices(const warp& w, const block_rows<T>& m, const Offset* offset, const T* x, T* out,
                                 which_parts which) {
  constexpr int area = Side * Side;
  const slice* slices = m.a.slices.on(m.pe) + m.plan.first_part;
  const T* value = m.a.value.on(m.pe);
  const index_t first = m.plan.parts > 0 ? slices[0].start : 0;
  const index_t rows = m.plan.rows;
  for (index_t i = w.rank(); i < m.plan.parts; i += w.count()) {
    const slice s = slices[i];
    if (!wanted(which, s.reads_halo())) continue;
    const bool kept = i < m.kept;
    const T* v = kept ? m.kept_value + (s.start - first) * area : value + s.start * area;
    const Offset* o = kept ? static_cast<const Offset*>(m.kept_offset) + (s.start - first) : offset + s.start;
    for (int lane = w.member(); lane < slice_rows; lane += w.members()) {
      T sum[Side];
      slice_row<Side>(v, o, s, lane, x, sum);
      unrolled<Side>([&](auto c) {
        constexpr int r = decltype(c)::value;
        const index_t row = (i * slice_rows + lane) * Side + r;
        if (row < rows) out[row] = sum[r];
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
  for (index_t e = w.member(); e < c.entries; e += w.members()) buffer[e] = value[e] * x[column[e]];
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
STARLING_HD void multiply_long_rows(const block& b, const block_rows<T>& m, const T* x, T* out) {
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
