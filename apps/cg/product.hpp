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

// A GPU's thread has the loads of so many entries in flight together, of so many slices: all those of a short row, some
// of a long one, whose loads would drive each other out of the caches otherwise. Measured on H200.
template <int Side>
inline constexpr int entries_at_once = Side == 1 ? 4 : 1;
template <int Side>
inline constexpr int entries_of_short_row = Side == 1 ? 8 : 1;
inline constexpr int slices_at_once = target::on_gpu ? 2 : 1;  // see multiply_slice_rows

// A lane's row (of blocks) of one slice.
template <class T, class Offset>
struct slice_row {
  const T* value = nullptr;  // of the slice's first entry, at this lane
  const Offset* offset = nullptr;
  int width = 0;
  int base = 0;
  bool wanted = false;
};

// How entries are read: those in fast memory as they are, the others once.
struct kept_entries {
  template <class E>
  STARLING_HD E operator()(const E* at) const {
    return *at;
  }
};
struct streamed_entries {
  template <class E>
  STARLING_HD E operator()(const E* at) const {
    return target::load_once(at);
  }
};

// The next N entries of the rows in S slices, which all of them have: sum[s][r] for row r of slice s.
template <int N, int Side, class Read, int S, class T, class Offset>
STARLING_HD void multiply_entries(slice_row<T, Offset> (&rows)[S], const T* x, T (&sum)[S][Side]) {
  constexpr Read read;
  constexpr int area = Side * Side;
  T entry[S][N][area] = {};
  T factor[S][N][Side] = {};
  int column[S][N] = {};
  // All loads of the matrix before the first look at a column, which waits. None under a condition: it would wait too.
  unrolled<N>([&](auto e) {
    unrolled<S>([&](auto s) {
      column[s][e] = static_cast<int>(read(rows[s].offset + e * slice_rows));
      unrolled<area>([&](auto c) { entry[s][e][c] = read(rows[s].value + (e * area + c) * slice_rows); });
    });
  });
  unrolled<N>([&](auto e) {
    unrolled<S>([&](auto s) {
      const int first = (rows[s].base + column[s][e]) * Side;
      unrolled<Side>([&](auto c) { factor[s][e][c] = x[first + c]; });
    });
  });
  unrolled<S>([&](auto s) {
    unrolled<N>(
        [&](auto e) { unrolled<area>([&](auto c) { sum[s][c / Side] += entry[s][e][c] * factor[s][e][c % Side]; }); });
    rows[s].value += N * area * slice_rows;
    rows[s].offset += N * slice_rows;
    rows[s].width -= N;
  });
}

// The next `n` entries of the rows in S slices.
template <int Side, class Read, int S, class T, class Offset>
STARLING_HD void multiply_rows(slice_row<T, Offset> (&rows)[S], int n, const T* x, T (&sum)[S][Side]) {
  constexpr int step = entries_at_once<Side>;
  constexpr int most = entries_of_short_row<Side>;
  for (; n > most; n -= step) multiply_entries<step, Side, Read>(rows, x, sum);
  unrolled<most>([&](auto last) {
    if (n == last + 1) multiply_entries<last + 1, Side, Read>(rows, x, sum);
  });
}

// All entries of the rows in two slices: side by side as far as both go, then what the longer one has left.
template <int Side, class Read, class T, class Offset>
STARLING_HD void multiply_slice_rows(slice_row<T, Offset> (&rows)[slices_at_once], const T* x,
                                     T (&sum)[slices_at_once][Side]) {
  int least = rows[0].width;
  unrolled<slices_at_once>([&](auto s) {
    unrolled<Side>([&](auto r) { sum[s][r] = T{0}; });
    least = rows[s].width < least ? rows[s].width : least;
  });
  multiply_rows<Side, Read>(rows, least, x, sum);
  if constexpr (slices_at_once == 2) {
    // Fields are chosen by conditions, not by an index, so that they stay in registers.
    const bool second = rows[0].width == 0;
    slice_row<T, Offset> longer[1];
    longer[0].value = second ? rows[1].value : rows[0].value;
    longer[0].offset = second ? rows[1].offset : rows[0].offset;
    longer[0].width = second ? rows[1].width : rows[0].width;
    longer[0].base = second ? rows[1].base : rows[0].base;
    T more[1][Side];
    unrolled<Side>([&](auto r) { more[0][r] = second ? sum[1][r] : sum[0][r]; });
    multiply_rows<Side, Read>(longer, longer[0].width, x, more);
    unrolled<Side>([&](auto r) {
      sum[0][r] = second ? sum[0][r] : more[0][r];
      sum[1][r] = second ? more[0][r] : sum[1][r];
    });
  }
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
      if (i >= m.kept)
        multiply_slice_rows<Side, streamed_entries>(rows, x, sum);
      else
        multiply_slice_rows<Side, kept_entries>(rows, x, sum);
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

// Products of the first N entries for each lane of a warp; all loads of the matrix before the first look at a column.
template <int N, class T>
STARLING_HD void multiply_rounds(const warp& w, const T* value, const std::int32_t* column, const T* x, T* buffer) {
  T entry[N] = {};
  T factor[N] = {};
  int at[N] = {};
  const int lane = w.member();
  unrolled<N>([&](auto e) {
    at[e] = target::load_once(column + e * target::warp_size + lane);
    entry[e] = target::load_once(value + e * target::warp_size + lane);
  });
  unrolled<N>([&](auto e) { factor[e] = x[at[e]]; });
  unrolled<N>([&](auto e) { buffer[e * target::warp_size + lane] = entry[e] * factor[e]; });
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
  const int lanes = w.members();
  const int rounds = c.entries / lanes;
  if constexpr (target::on_gpu) {
    unrolled<chunk::most_entries / target::warp_size>([&](auto n) {
      if (rounds == n + 1) multiply_rounds<n + 1>(w, value, column, x, buffer);
    });
  } else {
    for (int e = 0; e < rounds; ++e) buffer[e] = value[e] * x[column[e]];
  }
  const int last = rounds * lanes + w.member();
  if (last < c.entries) buffer[last] = value[last] * x[column[last]];
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
