// The product of a block's compressed rows with a vector, on the device: a warp takes a chunk at a time, a lane every
// 32nd entry of it; the products lie side by side in the warp's buffer when rows are summed.
//
// What takes long is the way of an entry: its column comes from memory, then the vector's value from a cache. So the
// entries of the next chunk are on their way while this one's products are made and summed.
#pragma once

#include "cg/block_rows.hpp"
#include "starling/device/block.hpp"

namespace starling::cg::detail {

inline constexpr int chunk_rounds = chunk::most_entries / 32;  // entries of a lane
inline constexpr int passes_ahead = 2;                         // over a chunk's rows, whose starts are loaded early

// The sum of lanes `first` to `first + n - 1` of a warp, n a power of two, in lane `first` of each such group.
template <class T>
STARLING_HD T sum_of_lanes(T value, int n) {
  for (int delta = n / 2; delta > 0; delta /= 2) value += target::shuffle_down(value, delta);
  return value;
}

// The chunks of a block as one warp takes them, those that are wanted.
class chunk_walk {
 public:
  STARLING_HD chunk_walk(const warp& w, const chunk* chunks, index_t parts, which_parts which)
      : chunks_(chunks), parts_(static_cast<int>(parts)), step_(w.count()), at_(w.rank()), which_(which) {}

  // The next one; no entries and no rows behind the last.
  STARLING_HD chunk next() {
    for (; at_ < parts_; at_ += step_) {
      const chunk c = chunks_[at_];
      if (!wanted(which_, c.reads_halo != 0)) continue;
      at_ += step_;
      return c;
    }
    chunk none;
    none.first_row = -1;
    return none;
  }

 private:
  const chunk* chunks_;
  int parts_, step_, at_;
  which_parts which_;
};

// A lane's entries of a chunk: those of place 32 r + lane. Behind the last one it repeats that, so that no load depends
// on a condition.
template <class T>
struct lane_entries {
  T value[chunk_rounds];
  std::int32_t column[chunk_rounds];

  STARLING_HD void load(int lane, const chunk& c, const T* values, const std::int32_t* columns) {
    if (c.entries == 0) return;
    const int last = c.entries - 1;
    values += c.start;
    columns += c.start;
    unrolled<chunk_rounds>([&](auto r) {
      const int e = r * 32 + lane < last ? r * 32 + lane : last;
      column[r] = target::load_once(columns + e);
      value[r] = target::load_once(values + e);
    });
  }
};

// How a chunk's rows are shared by lanes: `each` for a row, so that one pass does 32 / each of them.
struct row_lanes {
  int each = 1;
  int mine, lane, rows_of_pass;

  STARLING_HD row_lanes(int member, int rows) {
    while (each < 32 && 2 * each * rows <= 32) each *= 2;
    mine = member / each;
    lane = member % each;
    rows_of_pass = 32 / each;
  }
};

template <class T>
struct chunk_product {
  const T* value;
  const std::int32_t* column;
  const std::uint16_t* row_start;
  const T* x;
  T* buffer;
  T* piece_sum;
  T* out;  // of the PE's row 0

  // All the wanted chunks of a warp.
  STARLING_HD void run(const warp& w, chunk_walk walk) const {
    lane_entries<T> entries = {};
    chunk now = walk.next();
    entries.load(w.member(), now, value, column);
    chunk then = walk.next();
    while (now.first_row >= 0) {
      T product[chunk_rounds] = {};
      if (now.entries > 0) unrolled<chunk_rounds>([&](auto r) { product[r] = x[entries.column[r]]; });
      int begin[passes_ahead], end[passes_ahead];
      const row_lanes lanes(w.member(), now.rows);
      if (now.rows > 0)
        unrolled<passes_ahead>([&](auto p) { find_row(now, lanes, p * lanes.rows_of_pass, begin[p], end[p]); });
      lane_entries<T> next = {};
      next.load(w.member(), then, value, column);
      const chunk after = walk.next();
      w.sync();  // the compiler puts no product, which waits, before the last load
      unrolled<chunk_rounds>([&](auto r) { product[r] = entries.value[r] * product[r]; });
      if (now.rows == 0) {
        add_piece(w.member(), now, product);
      } else {
        unrolled<chunk_rounds>([&](auto r) { buffer[r * 32 + w.member()] = product[r]; });
        w.sync();
        unrolled<passes_ahead>([&](auto p) { add_rows(now, lanes, p * lanes.rows_of_pass, begin[p], end[p]); });
        for (int first = passes_ahead * lanes.rows_of_pass; first < now.rows; first += lanes.rows_of_pass) {
          int more_begin, more_end;
          find_row(now, lanes, first, more_begin, more_end);
          add_rows(now, lanes, first, more_begin, more_end);
        }
        w.sync();
      }
      entries = next;
      now = then;
      then = after;
    }
  }

 private:
  // Where a lane's row of a pass begins and ends in the buffer; some row for a lane that has none.
  STARLING_HD void find_row(const chunk& c, const row_lanes& lanes, int first, int& begin, int& end) const {
    const int row = first + lanes.mine < c.rows ? first + lanes.mine : c.rows - 1;
    const std::uint16_t* start = row_start + c.first_row + row;
    begin = start[0];
    end = row + 1 < c.rows ? start[1] : c.entries;
  }

  STARLING_HD void add_rows(const chunk& c, const row_lanes& lanes, int first, int begin, int end) const {
    if (first >= c.rows) return;
    T sum{0};
    for (int e = begin + lanes.lane; e < end; e += lanes.each) sum += buffer[e];
    sum = sum_of_lanes(sum, lanes.each);
    if (first + lanes.mine < c.rows && lanes.lane == 0) out[c.first_row + first + lanes.mine] = sum;
  }

  STARLING_HD void add_piece(int lane, const chunk& c, const T (&product)[chunk_rounds]) const {
    T sum{0};
    unrolled<chunk_rounds>([&](auto r) { sum += r * 32 + lane < c.entries ? product[r] : T{0}; });
    sum = sum_of_lanes(sum, 32);
    if (lane == 0) piece_sum[c.first_row] = sum;
  }
};

template <class T>
STARLING_HD void multiply_chunks(const warp& w, const block_rows<T>& m, const T* x, T* out, which_parts which) {
  chunk_walk walk(w, m.a.chunks.on(m.pe) + m.plan.first_part, m.plan.parts, which);
  const T* value = m.a.value.on(m.pe);
  const std::int32_t* column = m.a.offset_32.on(m.pe);
  const std::uint16_t* row_start = m.a.row_in_chunk.on(m.pe);
  T* piece_sum = m.a.piece_sums.on(m.pe);
  out -= m.plan.first_row;
  if constexpr (target::on_gpu) {
    T* buffer = m.row_buffer + index_t{w.rank()} * chunk::most_entries;
    chunk_product<T>{value, column, row_start, x, buffer, piece_sum, out}.run(w, walk);
  } else {
    const auto sum_of = [&](index_t begin, index_t end) {
      T sum{0};
      for (index_t e = begin; e < end; ++e) sum += value[e] * x[column[e]];
      return sum;
    };
    for (chunk c = walk.next(); c.first_row >= 0; c = walk.next()) {
      if (c.rows == 0) piece_sum[c.first_row] = sum_of(c.start, c.start + c.entries);
      for (index_t i = 0; i < c.rows; ++i) {
        const std::uint16_t* start = row_start + c.first_row + i;
        out[c.first_row + i] = sum_of(c.start + start[0], c.start + (i + 1 < c.rows ? start[1] : c.entries));
      }
    }
  }
}

}  // namespace starling::cg::detail
