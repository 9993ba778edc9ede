// Steps of a star stencil in two dimensions over a warp's band of a tall tile. Cells are made in place, row by row: a
// thread still has the row before as it was. What a warp needs of the bands beside its own it reads before any warp
// makes cells, so a step has two barriers: before it, and behind it.
//
// The columns beside the tile and those at its sides share their place on chip: a step reads what lies beside a row
// and leaves there what the row has at its side, until the neighbours' cells are taken the next time.
//
// Rows in memory are loaded some rows ahead. Half of the warps make these rows first and the other half those on chip,
// so that one half's transfers run beside the other one's work.
#pragma once

#include <type_traits>

#include "stencil/patches.hpp"
#include "stencil/relaxed_row.hpp"

namespace starling::stencil {

// Where a block keeps its tall tile.
template <class T>
struct tall_storage {
  T* chip;    // [bands][chip rows][band_vectors] vectors
  T* sides;   // [tall_sides][tall_side_pitch]
  T* memory;  // [bands][memory rows][band_vectors] vectors
};

// Products: all neighbours have the same weight.
template <class T, int RegisterRows, bool Products>
class tall_band {
 public:
  using vector = cell_vector<T>;
  static constexpr int width = vector::width;
  static constexpr int pitch = band_vectors * width;

  // Of the member's warp.
  STARLING_HD tall_band(const coefficients<T>& w, const tile& mine, const tiling& t, const tall_storage<T>& where,
                        int member)
      : weight_(w), lane_(member % band_vectors) {
    const tall_bands& b = t.tall;
    const int band = member / band_vectors;
    const index_range rows = b.rows_of(band, mine.extent[1]);
    first_row_ = static_cast<int>(rows.begin);
    rows_ = static_cast<int>(rows.size());
    on_chip_ = b.rows_before_memory();
    cells_in_row_ = mine.extent[2];
    const int vectors = (cells_in_row_ + width - 1) / width;
    chip_ = where.chip + band * b.chip_rows * pitch + lane_ * width;
    // Lanes without cells read what the last one does, and do not write it.
    memory_ = where.memory + static_cast<index_t>(band) * b.memory_rows * pitch +
              (lane_ < vectors ? lane_ : vectors - 1) * width;
    const bool last_lane = lane_ == vectors - 1;
    west_ = where.sides;
    east_ = where.sides + tall_side_pitch(t.largest[1]);
    side_ = (last_lane ? east_ : west_) + first_row_;
    const int held_before = mine.updated_begin[2] - lane_ * width;
    const int held_from = mine.updated_end[2] - lane_ * width;
    made_ = lane_ < vectors ? bits_between(held_before, held_from, width) : 0;
    end_ = cells_in_row_ - lane_ * width;
    is_ = (lane_ < vectors ? has_cells_ : 0) | (lane_ == 0 && mine.open[4] ? first_ : 0) |
          (last_lane && mine.open[5] ? last_ : 0) | (cells_in_row_ % width != 0 ? ragged_ : 0) |
          (last_lane && held_from < end_ ? holds_last_ : 0) | (held_before > 0 ? holds_first_ : 0) |
          (band % 8 < 4 ? chip_first_ : 0);
    meet_bands(mine, b, where, band);
  }

  // ---- for links ----

  STARLING_HD int first_row() const { return first_row_; }
  STARLING_HD int end_row() const { return first_row_ + rows_; }
  STARLING_HD int cells_in_row() const { return cells_in_row_; }
  STARLING_HD int lane() const { return lane_; }
  STARLING_HD T* side(bool east) const { return east ? east_ : west_; }
  STARLING_HD bool is_first() const { return is(first_band_); }
  STARLING_HD bool is_last() const { return is(last_band_); }
  // The lane's cells of the band's first and last row, and its neighbours' beyond these.
  STARLING_HD vector first() const { return vector_at(chip_); }
  STARLING_HD vector last() const { return vector_at(row_at(rows_ - 1)); }
  STARLING_HD vector& before() { return before_; }
  STARLING_HD vector& after() { return after_; }

  // ---- between runs ----

  // The cells from an array in which the tile's first is `from` and rows are `row` apart.
  STARLING_HD void load(const T* from, index_t row) {
    each_row(
        [&](int y, vector& v) {
          unrolled<width>([&](auto k) { v.cell[k] = k < end_ ? from[y * row + lane_ * width + k] : T(); });
        },
        [&](int y, const vector& v) {
          if (is(first_)) west_[y] = v.cell[0];
          if (is(last_)) east_[y] = at_end(v);
        });
  }
  STARLING_HD void store(T* to, index_t row) {
    each_row(
        [&](int y, vector& v) {
          unrolled<width>([&](auto k) {
            if (k < end_) to[y * row + lane_ * width + k] = v.cell[k];
          });
        },
        [](int, const vector&) {});
  }

  // ---- a step ----

  // What it needs of other bands; those of other tiles are before() and after(). A barrier of the block follows.
  STARLING_HD void look_around() {
    if (before_at_ != nullptr) before_ = vector_at(before_at_);
    if (after_at_ != nullptr) after_ = vector_at(after_at_);
  }

  // All lanes of the warp take part; a barrier follows.
  template <bool Check, class Lanes>
  STARLING_HD void step(const Lanes& lanes, T& change) {
    if (is(ragged_))
      make<Check, true>(lanes, change);
    else
      make<Check, false>(lanes, change);
  }

 private:
  // Rows that are loaded ahead from memory.
  static constexpr int ahead = 4;

  static constexpr unsigned has_cells_ = 1;     // the lane
  static constexpr unsigned first_ = 2;         // the cell before is the western tile's
  static constexpr unsigned last_ = 4;          // likewise the cell after the lane's last
  static constexpr unsigned ragged_ = 8;        // a row's last vector has fewer cells than others
  static constexpr unsigned holds_first_ = 16;  // steps do not make the lane's first cell
  static constexpr unsigned holds_last_ = 512;  // nor its last
  static constexpr unsigned chip_first_ = 32;   // rows on chip are made before those in memory
  static constexpr unsigned first_held_ = 64;   // the band's first row is held
  static constexpr unsigned first_band_ = 128;
  static constexpr unsigned last_band_ = 256;
  STARLING_HD bool is(unsigned what) const { return (is_ & what) != 0; }

  STARLING_HD static vector vector_at(const T* p) { return *reinterpret_cast<const vector*>(p); }
  STARLING_HD static void store_at(T* p, const vector& v) { *reinterpret_cast<vector*>(p) = v; }

  // Of the band's row i, which is not in registers.
  STARLING_HD T* row_at(int i) const {
    if (i == 0) return chip_;
    return i < on_chip_ ? chip_ + (i - RegisterRows) * pitch : memory_ + static_cast<index_t>(i - on_chip_) * pitch;
  }

  // Where the rows before and after the band are; nowhere if other tiles have them.
  STARLING_HD void meet_bands(const tile& mine, const tall_bands& b, const tall_storage<T>& where, int band) {
    const int held_end = mine.open[3] ? mine.extent[1] : mine.updated_end[1];
    made_rows_ = rows_;
    if (band == 0) is_ |= first_band_ | (mine.open[2] || mine.updated_begin[1] == 0 ? 0 : first_held_);
    if (band == b.count - 1) {
      is_ |= last_band_;
      made_rows_ -= mine.extent[1] - held_end;
      if (made_rows_ < rows_) after_at_ = row_at(made_rows_);
    } else {
      after_at_ = where.chip + (band + 1) * b.chip_rows * pitch + lane_ * width;
    }
    if (band == 0) return;
    const index_range other = b.rows_of(band - 1, mine.extent[1]);
    const int last = static_cast<int>(other.size()) - 1;
    before_at_ = last < on_chip_ ? chip_ - b.chip_rows * pitch + (last - RegisterRows) * pitch
                                 : memory_ + static_cast<index_t>(last - on_chip_ - b.memory_rows) * pitch;
  }

  // f(row of the tile, vector) and then seen(row, vector), for every row.
  template <class F, class Seen>
  STARLING_HD void each_row(const F& f, const Seen& seen) {
    const auto in_array = [&](int i, bool written) {
      T* at = row_at(i);
      vector v = written ? vector_at(at) : vector{};
      f(first_row_ + i, v);
      if (written) store_at(at, v);
      seen(first_row_ + i, v);
    };
    for (int i = 0; i < rows_; i += i == 0 ? 1 + RegisterRows : 1) in_array(i, i < on_chip_ || is(has_cells_));
    unrolled<RegisterRows>([&](auto r) {
      f(first_row_ + 1 + r, cells_[r]);
      seen(first_row_ + 1 + r, cells_[r]);
    });
  }

  // The row's last cell, of the lane that has it.
  STARLING_HD T at_end(const vector& v) const {
    T value = v.cell[width - 1];
    unrolled<width - 1>([&](auto k) {
      if (k + 1 == end_) value = v.cell[k];
    });
    return value;
  }

  // On its way down the band: the row before and the one that is made next, both weighted where products are, and the
  // latter as it is.
  struct march {
    vector north;
    vector here;
    vector centre;
    T* side;  // its place there
  };

  STARLING_HD vector maybe_weighted(const vector& v) const {
    if constexpr (Products) return weighted(weight_, v);
    return v;
  }

  STARLING_HD march begin(const vector& before, const vector& row, int i) const {
    return {maybe_weighted(before), maybe_weighted(row), row, side_ + i};
  }

  // The row that the march is at; `south` is the one after it.
  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD vector made(march& m, const vector& south, const Lanes& lanes, bool counts, T& change) const {
    T beside = is(first_ | last_) ? *m.side : T();
    if constexpr (Products) beside = weight_.low[1] * beside;
    if constexpr (Ragged)
      unrolled<width>([&](auto k) {
        if (k == end_) m.here.cell[k] = beside;
      });
    T west = lanes.from_before(m.here.cell[width - 1]);
    T east = lanes.from_after(m.here.cell[0]);
    if (is(first_)) west = beside;
    if (is(last_)) east = beside;
    const vector after = maybe_weighted(south);
    vector v = relaxed_row<Products>(weight_, m.centre, m.north, after, m.here, west, east);
    if (is(holds_first_)) v.cell[0] = m.centre.cell[0];
    T last = v.cell[width - 1];
    if constexpr (Ragged) {
      if (is(holds_last_))
        unrolled<width>([&](auto k) {
          if (k + 1 == end_) v.cell[k] = m.centre.cell[k];
        });
      last = at_end(v);
    } else {
      if (is(holds_last_)) v.cell[width - 1] = m.centre.cell[width - 1];
    }
    if constexpr (Check)
      if (counts)
        unrolled<width>([&](auto k) {
          if ((made_ >> k & 1) != 0) note_difference(m.centre.cell[k], v.cell[k], change);
        });
    if (is(first_ | last_)) *m.side = is(last_) ? last : v.cell[0];
    ++m.side;
    m.north = m.here;
    m.here = after;
    m.centre = south;
    return v;
  }

  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make(const Lanes& lanes, T& change) {
    const bool streams = made_rows_ > on_chip_;
    vector low = after_;  // the rows where those on chip and those in memory meet
    vector high = after_;
    if (streams) {
      low = vector_at(row_at(on_chip_ - 1));
      high = vector_at(memory_);
    }
    for (int part = 0; part < 2; ++part)
      if ((part == 0) == is(chip_first_))
        make_on_chip<Check, Ragged>(lanes, high, change);
      else if (streams)
        make_in_memory<Check, Ragged>(lanes, low, change);
  }

  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make_on_chip(const Lanes& lanes, const vector& after, T& change) {
    march m = begin(before_, vector_at(chip_), 0);
    const bool first_made = !is(first_held_);
    const vector first = made<Check, Ragged>(m, cells_[0], lanes, first_made, change);
    if (first_made) store_at(chip_, first);
    T* at = chip_ + pitch;
    unrolled<RegisterRows>([&](auto row) {
      constexpr int r = decltype(row)::value;
      const vector south = r + 1 < RegisterRows ? cells_[r + 1 < RegisterRows ? r + 1 : r] : vector_at(at);
      cells_[r] = made<Check, Ragged>(m, south, lanes, true, change);
    });
    const int end = made_rows_ < on_chip_ ? made_rows_ : on_chip_;
    for (int left = end - RegisterRows - 1; left > 0; --left, at += pitch) {
      const vector south = left > 1 ? vector_at(at + pitch) : after;
      store_at(at, made<Check, Ragged>(m, south, lanes, true, change));
    }
  }

  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make_in_memory(const Lanes& lanes, const vector& before, T& change) {
    T* at = memory_;
    int left = made_rows_ - on_chip_;
    march m = begin(before, vector_at(at), on_chip_);
    vector rows[ahead];
    unrolled<ahead>([&](auto i) {
      if (i + 1 < left) rows[i] = vector_at(at + (i + 1) * pitch);
    });
    const auto some = [&](auto more) {
      constexpr bool sure = decltype(more)::value;
      unrolled<ahead>([&](auto i) {
        if (!sure && i >= left) return;
        const vector south = sure || i + 1 < left ? rows[i] : after_;
        if (sure || i + 1 + ahead < left) rows[i] = vector_at(at + (i + 1 + ahead) * pitch);
        const vector v = made<Check, Ragged>(m, south, lanes, true, change);
        if (is(has_cells_)) store_at(at + i * pitch, v);
      });
      at += ahead * pitch;
      left -= ahead;
    };
    while (left > 2 * ahead) some(std::true_type());
    while (left > 0) some(std::false_type());
  }

  const coefficients<T>& weight_;
  int lane_;
  int first_row_ = 0;
  int rows_ = 0;
  int made_rows_ = 0;  // up to the first that is held
  int on_chip_ = 0;    // rows up to the first in memory
  int cells_in_row_ = 0;
  int end_ = 0;        // of the row, from the lane's first cell
  unsigned is_ = 0;    // what holds, bit by bit
  unsigned made_ = 0;  // cells of a vector that steps make
  T* chip_ = nullptr;
  T* memory_ = nullptr;
  T* west_ = nullptr;
  T* east_ = nullptr;
  T* side_ = nullptr;
  const T* before_at_ = nullptr;
  const T* after_at_ = nullptr;
  vector before_ = {};
  vector after_ = {};
  vector cells_[RegisterRows] = {};
};

}  // namespace starling::stencil
