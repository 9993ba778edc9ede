// The product of a block's slices with a vector, on the device: a lane has a row (of blocks) of its own.
#pragma once

#include "sparse/block_rows.hpp"
#include "sparse/combination.hpp"
#include "starling/device/block.hpp"

namespace starling::sparse::detail {

// A GPU's thread has the loads of so many entries in flight together, of so many slices: all those of a short row, some
// of a long one, whose loads would drive each other out of the caches otherwise. A long row's next entries are on their
// way when these are added, and the columns of those after them: then no load waits for another one, and the compiler
// cannot put an addition, which waits, between two loads. Measured on H200.
template <int Side>
inline constexpr int entries_at_once = Side == 1 ? 4 : 1;
template <int Side>
inline constexpr int entries_of_short_row = Side == 1 ? 8 : 0;
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

// How entries are read: those in shared memory, and the others, once.
struct kept_entries {
  template <class E>
  STARLING_HD E operator()(const E* at) const {
    return target::load_fast(at);
  }
};
struct streamed_entries {
  template <class E>
  STARLING_HD E operator()(const E* at) const {
    return target::load_once(at);
  }
};

template <class C, class T>
STARLING_HD void add_to(T& sum, T entry, T factor) {
  sum = C::join(sum, C::entry(entry, factor));
}

// The next N entries of the rows in S slices, which all of them have: sum[s][r] for row r of slice s.
template <int N, int Side, class C, class Read, int S, class T, class Offset>
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
    unrolled<N>([&](auto e) {
      unrolled<area>([&](auto c) { add_to<C>(sum[s][c / Side], entry[s][e][c], factor[s][e][c % Side]); });
    });
    rows[s].value += N * area * slice_rows;
    rows[s].offset += N * slice_rows;
    rows[s].width -= N;
  });
}

// What a lane has on its way of N entries of the rows in S slices.
template <int N, int Side, class Read, int S, class T>
struct entries_on_their_way {
  static constexpr int area = Side * Side;
  T entry[S][N][area] = {};
  T factor[S][N][Side] = {};
  int column[S][N] = {};  // of the entries behind those

  // The columns that lie `forward` behind those of the rows.
  template <class Offset>
  STARLING_HD void load_columns(slice_row<T, Offset> (&rows)[S], int forward) {
    unrolled<S>([&](auto s) {
      rows[s].offset += forward;
      unrolled<N>([&](auto e) { column[s][e] = static_cast<int>(Read{}(rows[s].offset + e * slice_rows)); });
    });
  }

  // The entries whose columns are here, and the vector's values for them; then the next columns, if there are any.
  template <class Offset>
  STARLING_HD void load(slice_row<T, Offset> (&rows)[S], const T* x, bool goes_on) {
    int first[S][N] = {};
    unrolled<S>([&](auto s) { unrolled<N>([&](auto e) { first[s][e] = (rows[s].base + column[s][e]) * Side; }); });
    load_columns(rows, goes_on ? N * slice_rows : 0);
    unrolled<N>([&](auto e) {
      unrolled<S>([&](auto s) {
        unrolled<area>([&](auto c) { entry[s][e][c] = Read{}(rows[s].value + (e * area + c) * slice_rows); });
        unrolled<Side>([&](auto c) { factor[s][e][c] = x[first[s][e] + c]; });
      });
    });
    unrolled<S>([&](auto s) {
      rows[s].value += N * area * slice_rows;
      rows[s].width -= N;
      if (!goes_on) rows[s].offset += N * slice_rows;
    });
  }

  template <class C>
  STARLING_HD void add_all_to(T (&sum)[S][Side]) const {
    unrolled<S>([&](auto s) {
      unrolled<N>([&](auto e) {
        unrolled<area>([&](auto c) { add_to<C>(sum[s][c / Side], entry[s][e][c], factor[s][e][c % Side]); });
      });
    });
  }
};

// The next `n` entries of the rows in S slices.
template <int Side, class C, class Read, int S, class T, class Offset>
STARLING_HD void multiply_rows(slice_row<T, Offset> (&rows)[S], int n, const T* x, T (&sum)[S][Side]) {
  constexpr int step = entries_at_once<Side>;
  constexpr int most = entries_of_short_row<Side>;
  if constexpr (target::on_gpu) {
    if (n > most) {
      entries_on_their_way<step, Side, Read, S, T> some;
      some.load_columns(rows, 0);
      for (; n > most; n -= step) {
        some.load(rows, x, n - step > most);
        target::sync_warp();  // all lanes are here; the compiler puts no addition, which waits, before the last load
        some.template add_all_to<C>(sum);
      }
    }
  } else {
    for (; n > most; n -= step) multiply_entries<step, Side, C, Read>(rows, x, sum);
  }
  if (n == 0) return;
  if constexpr (most > 0)
    with_constant<1, most>(n, [&](auto all) { multiply_entries<all, Side, C, Read>(rows, x, sum); });
}

// All entries of the rows in two slices: side by side as far as both go, then what the longer one has left.
template <int Side, class C, class Read, class T, class Offset>
STARLING_HD void multiply_slice_rows(slice_row<T, Offset> (&rows)[slices_at_once], const T* x,
                                     T (&sum)[slices_at_once][Side]) {
  int least = rows[0].width;
  unrolled<slices_at_once>([&](auto s) {
    unrolled<Side>([&](auto r) { sum[s][r] = C::template none<T>(); });
    least = rows[s].width < least ? rows[s].width : least;
  });
  multiply_rows<Side, C, Read>(rows, least, x, sum);
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
    multiply_rows<Side, C, Read>(longer, longer[0].width, x, more);
    unrolled<Side>([&](auto r) {
      sum[0][r] = second ? sum[0][r] : more[0][r];
      sum[1][r] = second ? more[0][r] : sum[1][r];
    });
  }
}

// Entries of a matrix from number `first` on.
template <class T, class Offset>
struct entry_arrays {
  const T* value;
  const Offset* offset;
  index_t first;
};

// The block's slices from `first` to before `end`, as far as they are wanted: they are all kept in shared memory, or
// none of them is.
template <int Side, class C, class Read, class Offset, class T>
STARLING_HD void multiply_some_slices(const warp& w, const block_rows<T>& m, const block_plan& plan, int first, int end,
                                      const entry_arrays<T, Offset>& entries, const T* x, T* out, which_parts which) {
  constexpr int area = Side * Side;
  const slice* slices = m.kept_slices != nullptr ? m.kept_slices : m.a.slices.on(m.pe) + plan.first_part;
  const int row_count = static_cast<int>(plan.rows);
  // Warps take turns: the first of these slices is for the one after that with the last slice before.
  const int turn = (w.rank() + w.count() - first % w.count()) % w.count();
  for (int i = first + turn; i < end; i += slices_at_once * w.count()) {
    slice some[slices_at_once];
    unrolled<slices_at_once>([&](auto s) {
      const int j = i + s * w.count();
      if (j < end) some[s] = slices[j];
    });
    for (int lane = w.member(); lane < slice_rows; lane += w.members()) {
      slice_row<T, Offset> rows[slices_at_once];
      unrolled<slices_at_once>([&](auto s) {
        const int j = i + s * w.count();
        if (j >= end || !wanted(which, some[s].reads_halo())) return;
        const index_t start = some[s].start - entries.first;
        rows[s].value = entries.value + start * area + lane;
        rows[s].offset = entries.offset + start + lane;
        rows[s].width = some[s].width();
        rows[s].base = some[s].base;
        rows[s].wanted = true;
      });
      T sum[slices_at_once][Side];
      multiply_slice_rows<Side, C, Read>(rows, x, sum);
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

// The block's slices, as far as they are wanted.
template <int Side, class C, class Offset, class T>
STARLING_HD void multiply_slices(const warp& w, const block_rows<T>& m, const block_plan& plan, const Offset* offset,
                                 const T* x, T* out, which_parts which) {
  const int kept = static_cast<int>(m.kept);
  const int parts = static_cast<int>(plan.parts);
  if (kept > 0) {
    const entry_arrays<T, Offset> near{m.kept_value, static_cast<const Offset*>(m.kept_offset), m.kept_slices[0].start};
    multiply_some_slices<Side, C, kept_entries>(w, m, plan, 0, kept, near, x, out, which);
  }
  if (kept < parts) {
    const entry_arrays<T, Offset> far{m.a.value.on(m.pe), offset, 0};
    multiply_some_slices<Side, C, streamed_entries>(w, m, plan, kept, parts, far, x, out, which);
  }
}

}  // namespace starling::sparse::detail
