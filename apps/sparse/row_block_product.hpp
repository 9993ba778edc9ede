// The product of a block's compressed rows with a vector, on the device: a warp takes a row block at a time, a lane
// every 32nd entry of it; the products lie side by side in the warp's buffer when rows are summed.
//
// What takes long is the way of an entry: its column comes from memory, then the vector's value from a cache. So the
// vector's values of the next row block, and the columns of the one after it, are on their way while the products of a
// row block are summed; descriptions of row blocks come earlier still.
//
// "Multiplied" and "summed" stand for what the combination makes of it.
#pragma once

#include <bit>

#include <cuda/std/bit>

#include "sparse/block_rows.hpp"
#include "sparse/combination.hpp"
#include "starling/device/block.hpp"

namespace starling::sparse::detail {

inline constexpr int row_block_rounds = row_block::most_entries / 32;  // entries of a lane
inline constexpr int passes_ahead = 2;  // over a row block's rows, whose starts are loaded early
inline constexpr int sums_at_once = 4;  // entries of a row on their way out of the buffer

// The sum of lanes `first` to `first + n - 1` of a warp, n a power of two, in lane `first` of each such group.
template <class C, class T>
STARLING_HD T sum_of_lanes(T value, int n) {
  for (int delta = n >> 1; delta > 0; delta >>= 1) value = C::join(value, target::shuffle_down(value, delta));
  return value;
}

// How a row block's rows are shared by lanes: 2^`log_each` for a row, so that one pass does 32 >> log_each of them.
struct row_lanes {
  int log_each;

  STARLING_HD explicit row_lanes(int rows) {
    const int log_rows = cuda::std::bit_width(static_cast<unsigned>(rows - 1));  // rounded up
    log_each = log_rows < 5 ? 5 - log_rows : 0;
  }
  STARLING_HD int each() const { return 1 << log_each; }
  STARLING_HD int rows_of_pass() const { return 32 >> log_each; }
  STARLING_HD int row(int lane) const { return lane >> log_each; }       // of a pass
  STARLING_HD int place(int lane) const { return lane & (each() - 1); }  // within the row
};

// Where a row begins among the entries of its row block, and the row after it, which may be another row block's. As
// they are loaded: to look at them would be to wait.
struct row_span {
  int begin = 0;
  int next = 0;
};

// What a lane has of a row block: of the entries at 32 r + lane the vector's values, then their products, and where its
// rows lie among them. Behind the last entry it reads on into what follows, so that no load depends on a condition;
// nobody uses those values.
template <class T, entry_values Values>
struct lane_work {
  T value[Values == entry_values::stored ? row_block_rounds : 1];
  T product[row_block_rounds];
  row_span row[passes_ahead];
};

template <class C, entry_values Values, class T>
struct row_block_product {
  using work_of_lane = lane_work<T, Values>;

  const row_block* row_blocks;
  int parts;
  which_parts which;
  const T* value;
  const std::int32_t* column;
  const std::uint16_t* row_start;
  const T* x;
  T* buffer;
  T* piece_sum;
  T* out;  // of the PE's row 0

  // All the wanted row blocks of a warp.
  STARLING_HD void run(const warp& w) const {
    const int lane = w.member();
    const int step = w.count();
    int at = w.rank();
    if (at >= parts) return;
    target::vector16 now = description(at), next = description(at + step), then = description(at + 2 * step);
    std::int32_t column_of[row_block_rounds] = {};
    load_columns(lane, at, now, column_of);
    work_of_lane mine = {};
    begin(lane, at, now, column_of, mine);
    load_columns(lane, at + step, next, column_of);
    for (; at < parts; at += step) {
      const bool multiplies = wanted(at, now);
      const row_block c = std::bit_cast<row_block>(now);
      if (multiplies) {
        unrolled<row_block_rounds>([&](auto r) { mine.product[r] = C::entry(value_of(mine, r), mine.product[r]); });
        if (c.rows() == 0)
          add_piece(lane, c, mine.product);
        else
          unrolled<row_block_rounds>([&](auto r) { buffer[lane + r * 32] = mine.product[r]; });
      }
      work_of_lane after = {};
      begin(lane, at + step, next, column_of, after);
      load_columns(lane, at + 2 * step, then, column_of);
      const target::vector16 last = description(at + 3 * step);
      w.sync();  // the products are in the buffer; no load moves behind the sums
      if (multiplies && c.rows() != 0) add_rows(lane, c, mine);
      w.sync();
      mine = after;
      now = next;
      next = then;
      then = last;
    }
  }

 private:
  // Of a row block of the block, as it is loaded; the last one's behind that.
  STARLING_HD target::vector16 description(int i) const {
    return target::load16(reinterpret_cast<const target::vector16*>(row_blocks + (i < parts ? i : parts - 1)));
  }

  STARLING_HD static T value_of(const work_of_lane& work, int r) {
    if constexpr (Values == entry_values::stored)
      return work.value[r];
    else
      return T{1};
  }

  STARLING_HD bool wanted(int i, const target::vector16& description) const {
    if (i >= parts) return false;
    const row_block c = std::bit_cast<row_block>(description);
    return (c.entries > 0 || c.rows() > 0) && sparse::wanted(which, c.reads_halo());
  }

  STARLING_HD void load_columns(int lane, int i, const target::vector16& description,
                                std::int32_t (&column_of)[row_block_rounds]) const {
    if (!wanted(i, description)) return;
    const std::int32_t* from = column + std::bit_cast<row_block>(description).start + lane;
    unrolled<row_block_rounds>([&](auto r) { column_of[r] = target::load_once(from + r * 32); });
  }

  // Asks for all else that row block i needs; its columns are here.
  STARLING_HD void begin(int lane, int i, const target::vector16& description,
                         const std::int32_t (&column_of)[row_block_rounds], work_of_lane& work) const {
    if (!wanted(i, description)) return;
    const row_block c = std::bit_cast<row_block>(description);
    unrolled<row_block_rounds>([&](auto r) { work.product[r] = x[column_of[r]]; });
    if constexpr (Values == entry_values::stored) {
      const T* values = value + c.start + lane;
      unrolled<row_block_rounds>([&](auto r) { work.value[r] = target::load_once(values + r * 32); });
    }
    if (c.rows() == 0) return;
    const row_lanes lanes(c.rows());
    unrolled<passes_ahead>([&](auto p) { work.row[p] = find_row(c, p * lanes.rows_of_pass() + lanes.row(lane)); });
  }

  // Some row's for a lane that has none.
  STARLING_HD row_span find_row(const row_block& c, int row) const {
    const std::uint16_t* start = row_start + c.first_row + (row < c.rows() ? row : c.rows() - 1);
    return {start[0], start[1]};
  }

  STARLING_HD void add_rows(int lane, const row_block& c, const work_of_lane& mine) const {
    const row_lanes lanes(c.rows());
    unrolled<passes_ahead>([&](auto p) { add_pass(lane, c, lanes, p * lanes.rows_of_pass(), mine.row[p]); });
    for (int first = passes_ahead * lanes.rows_of_pass(); first < c.rows(); first += lanes.rows_of_pass())
      add_pass(lane, c, lanes, first, find_row(c, first + lanes.row(lane)));
  }

  // The rows from `first` on, as many as a pass does.
  STARLING_HD void add_pass(int lane, const row_block& c, const row_lanes& lanes, int first,
                            const row_span& place) const {
    if (first >= c.rows()) return;
    const int row = first + lanes.row(lane);
    const int end = row + 1 < c.rows() ? place.next : c.entries;
    const int each = lanes.each();
    const int begin = place.begin + lanes.place(lane);
    const T* from = buffer + begin;
    T sum = C::template none<T>();
    for (int left = end - begin; left > 0; left -= sums_at_once * each) {
      T some[sums_at_once];
      unrolled<sums_at_once>([&](auto k) { some[k] = from[k * each < left ? k * each : 0]; });
      unrolled<sums_at_once>([&](auto k) { sum = C::join(sum, k * each < left ? some[k] : C::template none<T>()); });
      from += sums_at_once * each;
    }
    sum = sum_of_lanes<C>(sum, each);
    if (row < c.rows() && lanes.place(lane) == 0) out[c.first_row + row] = sum;
  }

  STARLING_HD void add_piece(int lane, const row_block& c, const T (&product)[row_block_rounds]) const {
    T sum = C::template none<T>();
    unrolled<row_block_rounds>(
        [&](auto r) { sum = C::join(sum, r * 32 + lane < c.entries ? product[r] : C::template none<T>()); });
    sum = sum_of_lanes<C>(sum, 32);
    if (lane == 0) piece_sum[c.first_row] = sum;
  }
};

template <class C, entry_values Values, class T>
STARLING_HD void multiply_row_blocks(const warp& w, const block_rows<T>& m, const block_plan& plan, const T* x, T* out,
                                     which_parts which) {
  const row_block* row_blocks = target::in_memory(m.a.row_blocks.on(m.pe)) + plan.first_part;
  const int parts = static_cast<int>(plan.parts);
  const T* value = nullptr;
  if constexpr (Values == entry_values::stored) value = target::in_memory(m.a.value.on(m.pe));
  const std::int32_t* column = target::in_memory(m.a.offset_32.on(m.pe));
  const std::uint16_t* row_start = target::in_memory(m.a.row_in_block.on(m.pe));
  T* piece_sum = target::in_memory(m.a.piece_sums.on(m.pe));
  out -= plan.first_row;
  if constexpr (target::on_gpu) {
    T* buffer = target::in_scratch(m.row_buffer) + w.rank() * row_block::most_entries;
    row_block_product<C, Values, T>{row_blocks, parts, which, value, column, row_start, x, buffer, piece_sum, out}.run(
        w);
  } else {
    const auto sum_of = [&](index_t begin, index_t end) {
      T sum = C::template none<T>();
      for (index_t e = begin; e < end; ++e) {
        if constexpr (Values == entry_values::stored)
          sum = C::join(sum, C::entry(value[e], x[column[e]]));
        else
          sum = C::join(sum, C::entry(T{1}, x[column[e]]));
      }
      return sum;
    };
    for (int at = w.rank(); at < parts; at += w.count()) {
      const row_block c = row_blocks[at];
      if (!wanted(which, c.reads_halo())) continue;
      if (c.rows() == 0 && w.member() == 0) piece_sum[c.first_row] = sum_of(c.start, c.start + c.entries);
      for (index_t i = w.member(); i < c.rows(); i += w.members()) {
        const std::uint16_t* start = row_start + c.first_row + i;
        out[c.first_row + i] = sum_of(c.start + start[0], c.start + (i + 1 < c.rows() ? start[1] : c.entries));
      }
    }
  }
}

}  // namespace starling::sparse::detail
