// Steps of a star stencil in two dimensions over a warp's band of a tall tile. Cells are made in place, row by row down
// the band: a thread still has the row before as it was. Only the first and the last row, which the bands beside read
// meanwhile, are made into another place than they are read from. So a step needs nothing of other warps but that they
// have made the step before: one barrier.
//
// The columns beside the tile and those at its sides share their place on chip: a step reads what lies beside a row and
// leaves there what the row has at its side, until the neighbours' cells are taken the next time.
//
// Rows in memory are loaded some rows ahead. Half of the bands have them before their other rows and half behind, so
// that the transfers of some warps run beside the work of others.
#pragma once

#include <type_traits>

#include "stencil/patches.hpp"
#include "stencil/relaxed_row.hpp"

namespace starling::stencil {

// Where a block keeps its tall tile. A row is band_vectors vectors.
template <class T>
struct tall_storage {
  T* chip;    // [bands][chip rows + tall_end_rows]
  T* rings;   // [north, south][2], the rows beyond the tile
  T* sides;   // [west, east][tall_side_pitch]
  T* memory;  // [bands][memory rows]
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
    const int between = static_cast<int>(rows.size()) - 2 - RegisterRows;
    chip_rows_ = between < b.chip_rows ? between : b.chip_rows;
    memory_rows_ = between - chip_rows_;
    const int each = (b.chip_rows + tall_end_rows) * pitch;
    ends_ = where.chip + band * each + lane_ * width;
    place_row(mine, where, lane_);
    memory_ += static_cast<index_t>(band) * b.memory_rows * pitch;
    sides_ = where.sides;
    side_pitch_ = static_cast<int>(tall_side_pitch(t.largest[1]));
    is_ |= (band == 0 ? first_band_ : 0) | (band == b.count - 1 ? last_band_ : 0) |
           (band == 0 && mine.begin(1, 0) > 0 ? holds_first_row_ : 0) |
           (band == b.count - 1 && mine.end(1, 0) < mine.extent[1] ? holds_last_row_ : 0) |
           (band % 8 < 4 ? registers_first_ : 0);
    before_ = band == 0 ? where.rings + lane_ * width : ends_ - each + 2 * pitch;
    after_ = band == b.count - 1 ? where.rings + 2 * pitch + lane_ * width : ends_ + each;
  }

  // ---- for links ----

  STARLING_HD int first_row() const { return first_row_; }
  STARLING_HD int end_row() const { return first_row_ + rows(); }
  STARLING_HD int cells_in_row() const { return cells_in_row_; }
  STARLING_HD int lane() const { return lane_; }
  STARLING_HD T* side(bool east) const { return sides_ + (east ? side_pitch_ : 0); }
  STARLING_HD bool is_first() const { return is(first_band_); }
  STARLING_HD bool is_last() const { return is(last_band_); }
  // The lane's cells of the band's first and last row, and beyond these.
  STARLING_HD vector& first() const { return vector_at(ends_ + now_); }
  STARLING_HD vector& last() const { return vector_at(ends_ + 2 * pitch + now_); }
  STARLING_HD vector& before() const { return vector_at(before_ + now_); }
  STARLING_HD vector& after() const { return vector_at(after_ + now_); }

  // ---- between runs ----

  // The cells from an array in which the tile's first is `from` and rows are `row` apart.
  STARLING_HD void load(const T* from, index_t row) {
    each_row([&](int y, vector& v) {
      vector here{};
      unrolled<width>([&](auto k) {
        if (k < end_) here.cell[k] = from[y * row + lane_ * width + k];
      });
      if (is(at_west_ | at_east_)) side(is(at_east_))[y] = side_cell(here);
      v = here;
    });
  }
  STARLING_HD void store(T* to, index_t row) {
    each_row([&](int y, const vector& v) {
      unrolled<width>([&](auto k) {
        if (k < end_) to[y * row + lane_ * width + k] = v.cell[k];
      });
    });
  }

  // ---- a step ----

  // All lanes of the warp take part. The bands beside have made the step before, and do not begin the one behind it.
  template <bool Check, class Lanes>
  STARLING_HD void step(const Lanes& lanes, T& change) {
    if (is(ragged_))
      make<Check, true>(lanes, change);
    else
      make<Check, false>(lanes, change);
    now_ = pitch - now_;
  }

 private:
  // Rows that are loaded ahead from memory.
  static constexpr int ahead = 4;

  static constexpr unsigned has_cells_ = 1;          // the lane
  static constexpr unsigned at_west_ = 2;            // the cell before its first is another tile's
  static constexpr unsigned at_east_ = 4;            // likewise the one after its last
  static constexpr unsigned ragged_ = 8;             // a row's last vector has fewer cells than others
  static constexpr unsigned holds_first_ = 16;       // steps do not make the lane's first cell
  static constexpr unsigned holds_last_ = 32;        // nor its last
  static constexpr unsigned holds_first_row_ = 64;   // nor the band's first row
  static constexpr unsigned holds_last_row_ = 128;   // nor its last
  static constexpr unsigned registers_first_ = 256;  // rows are in registers, on chip, in memory; else the other way
  static constexpr unsigned first_band_ = 512;
  static constexpr unsigned last_band_ = 1024;
  STARLING_HD bool is(unsigned what) const { return (is_ & what) != 0; }

  STARLING_HD static vector& vector_at(T* p) { return *reinterpret_cast<vector*>(p); }
  STARLING_HD int rows() const { return 2 + RegisterRows + chip_rows_ + memory_rows_; }
  STARLING_HD T* chip_row(int i) const { return ends_ + (tall_end_rows + i) * pitch; }

  // What follows from the lane's place in a row.
  STARLING_HD void place_row(const tile& mine, const tall_storage<T>& where, int lane) {
    cells_in_row_ = mine.extent[2];
    end_ = cells_in_row_ - lane * width;
    const int lanes = (cells_in_row_ + width - 1) / width;
    const bool last = lane == lanes - 1;
    // Lanes without cells read what the last one does, and do not write it.
    memory_ = where.memory + (lane < lanes ? lane : lanes - 1) * width;
    is_ |= (lane < lanes ? has_cells_ : 0) | (lane == 0 && mine.open[4] ? at_west_ : 0) |
           (last && mine.open[5] ? at_east_ : 0) | (cells_in_row_ % width != 0 ? ragged_ : 0) |
           (lane == 0 && mine.begin(2, 0) > 0 ? holds_first_ : 0) |
           (last && mine.end(2, 0) < cells_in_row_ ? holds_last_ : 0);
  }

  // f(row of the tile, vector) for every row of the band.
  template <class F>
  STARLING_HD void each_row(const F& f) {
    int y = first_row_;
    f(y++, first());
    for (int part = 0; part < 3; ++part)
      if (part == (is(registers_first_) ? 0 : 2))
        unrolled<RegisterRows>([&](auto r) { f(y++, cells_[r]); });
      else if (part == 1)
        for (int i = 0; i < chip_rows_; ++i) f(y++, vector_at(chip_row(i)));
      else
        for (int i = 0; i < memory_rows_; ++i, ++y)
          if (is(has_cells_)) f(y, vector_at(memory_ + static_cast<index_t>(i) * pitch));
    f(y, last());
  }

  // Of a lane at a side, the cell there.
  STARLING_HD T side_cell(const vector& v) const { return is(at_east_) ? cell_at_end(v) : v.cell[0]; }
  STARLING_HD T cell_at_end(const vector& v) const {
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

  // The row that the march is at; `south` is the one after it.
  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD vector made(march& m, const vector& south, const Lanes& lanes, T& change) const {
    T beside = is(at_west_ | at_east_) ? *m.side : T();
    if constexpr (Products) beside = weight_.low[1] * beside;
    if constexpr (Ragged)
      unrolled<width>([&](auto k) {
        if (k == end_) m.here.cell[k] = beside;
      });
    T west = lanes.from_before(m.here.cell[width - 1]);
    T east = lanes.from_after(m.here.cell[0]);
    if (is(at_west_)) west = beside;
    if (is(at_east_)) east = beside;
    const vector after = maybe_weighted(south);
    vector v = relaxed_row<Products>(weight_, m.centre, m.north, after, m.here, west, east);
    if (is(holds_first_)) v.cell[0] = m.centre.cell[0];
    T last = v.cell[width - 1];
    if constexpr (Ragged) {
      if (is(holds_last_))
        unrolled<width>([&](auto k) {
          if (k + 1 == end_) v.cell[k] = m.centre.cell[k];
        });
      last = cell_at_end(v);
    } else {
      if (is(holds_last_)) v.cell[width - 1] = m.centre.cell[width - 1];
    }
    if constexpr (Check)
      unrolled<width>([&](auto k) {
        if (k < end_) note_difference(m.centre.cell[k], v.cell[k], change);
      });
    if (is(at_west_ | at_east_)) *m.side = is(at_east_) ? last : v.cell[0];
    ++m.side;
    m.north = m.here;
    m.here = after;
    m.centre = south;
    return v;
  }

  // The first or last row of the band, from one of its places to the other.
  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make_end(march& m, T* row, bool held, const vector& south, const Lanes& lanes, T& change) const {
    const vector was = m.centre;
    T unseen = 0;
    const vector v = made<Check, Ragged>(m, south, lanes, held ? unseen : change);
    vector_at(row + (pitch - now_)) = held ? was : v;
  }

  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make(const Lanes& lanes, T& change) {
    const bool registers_first = is(registers_first_);
    T* const chip = chip_row(0);
    march m{maybe_weighted(before()), maybe_weighted(first()), first(), side(is(at_east_)) + first_row_};
    const vector second = registers_first ? vector(cells_[0]) : vector_at(memory_rows_ > 0 ? memory_ : chip);
    make_end<Check, Ragged>(m, ends_, is(holds_first_row_), second, lanes, change);
    for (int part = 0; part < 3; ++part)
      if (part == (registers_first ? 0 : 2))
        make_in_registers<Check, Ragged>(m, registers_first ? vector_at(chip) : last(), lanes, change);
      else if (part == 1)
        make_on_chip<Check, Ragged>(m, registers_first ? (memory_rows_ > 0 ? vector_at(memory_) : last()) : vector(cells_[0]),
                                    lanes, change);
      else if (memory_rows_ > 0)
        make_in_memory<Check, Ragged>(m, registers_first ? last() : vector_at(chip), lanes, change);
    make_end<Check, Ragged>(m, ends_ + 2 * pitch, is(holds_last_row_), after(), lanes, change);
  }

  // Each of these: `after` is the row behind the last of them.
  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make_in_registers(march& m, const vector& after, const Lanes& lanes, T& change) {
    unrolled<RegisterRows>([&](auto row) {
      constexpr int r = decltype(row)::value;
      const vector south = r + 1 < RegisterRows ? cells_[r + 1 < RegisterRows ? r + 1 : r] : after;
      cells_[r] = made<Check, Ragged>(m, south, lanes, change);
    });
  }

  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make_on_chip(march& m, const vector& after, const Lanes& lanes, T& change) const {
    T* at = chip_row(0);
    for (int left = chip_rows_; left > 0; --left, at += pitch) {
      const vector south = left > 1 ? vector_at(at + pitch) : after;
      vector_at(at) = made<Check, Ragged>(m, south, lanes, change);
    }
  }

  template <bool Check, bool Ragged, class Lanes>
  STARLING_HD void make_in_memory(march& m, const vector& after, const Lanes& lanes, T& change) const {
    T* at = memory_;
    int left = memory_rows_;
    vector rows[ahead];
    unrolled<ahead>([&](auto i) {
      if (i + 1 < left) rows[i] = vector_at(at + (i + 1) * pitch);
    });
    const auto some = [&](auto more) {
      constexpr bool sure = decltype(more)::value;
      unrolled<ahead>([&](auto i) {
        if (!sure && i >= left) return;
        const vector south = sure || i + 1 < left ? rows[i] : after;
        if (sure || i + 1 + ahead < left) rows[i] = vector_at(at + (i + 1 + ahead) * pitch);
        const vector v = made<Check, Ragged>(m, south, lanes, change);
        if (is(has_cells_)) vector_at(at + i * pitch) = v;
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
  int chip_rows_ = 0;
  int memory_rows_ = 0;
  int cells_in_row_ = 0;
  int end_ = 0;  // of the row, from the lane's first cell
  int side_pitch_ = 0;
  int now_ = 0;          // from the first of two places for a row to the one where it is
  unsigned is_ = 0;      // what holds, bit by bit
  T* ends_ = nullptr;    // the lane's vector in the first of the band's rows on chip: first, first, last, last, others
  T* memory_ = nullptr;  // in the first in memory
  T* sides_ = nullptr;
  T* before_ = nullptr;  // in the row before the band's first, and in the one behind its last
  T* after_ = nullptr;
  vector cells_[RegisterRows] = {};
};

}  // namespace starling::stencil
