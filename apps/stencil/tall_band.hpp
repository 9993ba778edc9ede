// Steps of a star stencil in two dimensions over a warp's band of a tall tile. Cells are made in place, row by row down
// the band: a thread still has the row before as it was. Only the first and the last row, which the bands beside read
// meanwhile, are made into another place than they are read from. So a step needs nothing of other warps but that they
// have made the step before: one barrier.
//
// A step makes a band in pieces, three parts of its rows and then its ends. What lies beside a piece is needed when the
// step comes to it, and what it has at its sides can be sent once it is made: most of a step is left for each packet's
// flight. The first row is made last, so that this holds for the row above it too.
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
#include "stencil/tiles.hpp"

namespace starling::stencil {

// Products: all neighbours have the same weight.
//
// Nearly all registers are for cells, so that what is needed once a step is read from the tiling and from the band's
// place, and not kept.
template <class T, int RegisterRows, bool Products>
class tall_band {
 public:
  using vector = cell_vector<T>;
  static constexpr int width = vector::width;
  static constexpr int pitch = tall_pitch(width);

  // Of the member's warp, whose place is at `places`. chip and memory: of the block, as the tiling says.
  STARLING_HD tall_band(const coefficients<T>& w, const tile& mine, const tiling& t, const tall_place* places, T* chip,
                        T* memory, int member)
      : weight_(w),
        mine_(mine),
        t_(t),
        place_(places[member / band_vectors]),
        chip_(chip),
        memory_(memory),
        lane_(member % band_vectors) {
    const int lanes = (mine.extent[2] + width - 1) / width;
    const bool last = lane_ == lanes - 1;
    is_ = (lane_ == 0 && mine.open[4] ? at_west_ : 0) | (last && mine.open[5] ? at_east_ : 0) |
          (lane_ == 0 && mine.begin(2, 0) > 0 ? holds_first_ : 0) |
          (last && mine.end(2, 0) < mine.extent[2] ? holds_last_ : 0);
  }

  // ---- for links ----

  STARLING_HD int first_row() const { return place_.first_row; }
  STARLING_HD int end_row() const { return place_.first_row + place_.rows; }
  STARLING_HD int cells_in_row() const { return mine_.extent[2]; }
  STARLING_HD int lane() const { return lane_; }
  STARLING_HD int number() const { return place_.number; }
  STARLING_HD T* side(bool east) const { return chip_ + t_.tall.side(east, width); }
  STARLING_HD bool is_first() const { return place_.first_band; }
  STARLING_HD bool is_last() const { return place_.last_band; }
  // The lane's cells of the band's first and last row, and beyond these.
  STARLING_HD vector first() const { return on_chip(place_.first + now_); }
  STARLING_HD vector last() const { return on_chip(place_.last + now_); }
  STARLING_HD vector& before() const { return on_chip(place_.before + now_); }
  STARLING_HD vector& after() const { return on_chip(place_.after + now_); }

  // ---- between runs ----

  // The cells from an array in which the tile's first is `from` and rows are `row` apart.
  STARLING_HD void load(const T* from, index_t row) {
    each_row([&](int y, vector& v) {
      vector here{};
      unrolled<width>([&](auto k) {
        if (k < cells_left()) here.cell[k] = from[y * row + lane_ * width + k];
      });
      if (is(at_west_ | at_east_)) side(is(at_east_))[y] = side_cell(here);
      v = here;
    });
  }
  STARLING_HD void store(T* to, index_t row) {
    each_row([&](int y, const vector& v) {
      unrolled<width>([&](auto k) {
        if (k < cells_left()) to[y * row + lane_ * width + k] = v.cell[k];
      });
    });
  }

  // ---- a step: begin, and the pieces in their order ----

  // On its way down the band: the row before and the one that is made next, both weighted where products are, and the
  // latter as it is.
  struct march {
    vector north;
    vector here;
    vector centre;
    T* side;  // its place there
  };

  // Pieces are three parts of the rows, one after the other behind the band's first row, and then the ends.
  static constexpr int last_piece = 3;
  // The row of the tile behind a part; behind the last one is the band's last row.
  STARLING_HD int end_of_part(int part) const {
    const bool registers_first = place_.registers_first;
    int end = place_.first_row + 1 + (registers_first ? RegisterRows : place_.memory_rows);
    if (part > 0) end += place_.chip_rows;
    if (part == 2) end += registers_first ? place_.memory_rows : RegisterRows;
    return end;
  }

  // The bands beside have made the step before.
  STARLING_HD march begin() const {
    const vector row = first();
    const vector second = place_.registers_first   ? vector(cells_[0])
                          : place_.memory_rows > 0 ? vector_at(memory_rows())
                                                   : vector_at(chip_rows());
    on_chip(place_.first + other()) = second;  // for the first row; nobody reads that place before the next step
    return {maybe_weighted(row), maybe_weighted(second), second, side(is(at_east_)) + place_.first_row + 1};
  }

  // All lanes of the warp take part. change: where the largest change of a cell is noted; null if nobody asks. The
  // bands beside do not begin the next step before all threads of the block have met.
  template <class Lanes>
  STARLING_HD void make(int piece, march& m, const Lanes& lanes, T* change) {
    if (change == nullptr && mine_.extent[2] % width == 0)
      make_piece<true>(piece, m, lanes, change);
    else
      make_piece<false>(piece, m, lanes, change);
    if (piece == last_piece) now_ = other();
  }

 private:
  // Rows that are loaded ahead from memory.
  static constexpr int ahead = 4;

  static constexpr unsigned at_west_ = 1;      // the cell before its first is another tile's
  static constexpr unsigned at_east_ = 2;      // likewise the one after its last
  static constexpr unsigned holds_first_ = 4;  // steps do not make the lane's first cell
  static constexpr unsigned holds_last_ = 8;   // nor its last
  STARLING_HD bool is(unsigned what) const { return (is_ & what) != 0; }

  STARLING_HD static vector& at(T* p) { return *reinterpret_cast<vector*>(p); }
  STARLING_HD static vector vector_at(const T* p) { return *reinterpret_cast<const vector*>(p); }
  // From the first of two places for a row to the one that it is made into.
  STARLING_HD int other() const { return pitch - now_; }
  // The lane's in a row that begins so many elements behind the first.
  STARLING_HD vector& on_chip(int begin) const { return at(chip_ + begin + lane_ * width); }
  STARLING_HD T* chip_rows() const { return chip_ + place_.chip + lane_ * width; }
  STARLING_HD T* memory_rows() const { return memory_ + place_.memory + lane_ * width; }
  // Cells of the row from the lane's first on.
  STARLING_HD int cells_left() const { return mine_.extent[2] - lane_ * width; }

  // f(row of the tile, vector) for every row of the band.
  template <class F>
  STARLING_HD void each_row(const F& f) {
    int y = place_.first_row;
    const bool registers_first = place_.registers_first;
    f(y++, on_chip(place_.first + now_));
    for (int part = 0; part < 3; ++part)
      if (part == (registers_first ? 0 : 2))
        unrolled<RegisterRows>([&](auto r) { f(y++, cells_[r]); });
      else if (part == 1)
        for (int i = 0; i < place_.chip_rows; ++i) f(y++, at(chip_rows() + i * pitch));
      else
        for (int i = 0; i < place_.memory_rows; ++i) f(y++, at(memory_rows() + i * pitch));
    f(y, on_chip(place_.last + now_));
  }

  // Of a lane at a side, the cell there.
  STARLING_HD T side_cell(const vector& v) const { return is(at_east_) ? cell_at_end(v) : v.cell[0]; }
  STARLING_HD T cell_at_end(const vector& v) const {
    T value = v.cell[width - 1];
    unrolled<width - 1>([&](auto k) {
      if (k + 1 == cells_left()) value = v.cell[k];
    });
    return value;
  }

  STARLING_HD vector maybe_weighted(const vector& v) const {
    if constexpr (Products) return weighted(weight_, v);
    return v;
  }

  // The row that the march is at; `south` is the one after it.
  template <bool Plain, class Lanes>
  STARLING_HD vector made(march& m, vector south, const Lanes& lanes, T* change) const {
    T beside = is(at_west_ | at_east_) ? *m.side : T();
    if constexpr (Products) beside = weight_.low[1] * beside;
    if constexpr (!Plain)
      unrolled<width>([&](auto k) {
        if (k == cells_left()) m.here.cell[k] = beside;
      });
    T west = lanes.from_before(m.here.cell[width - 1]);
    T east = lanes.from_after(m.here.cell[0]);
    if (is(at_west_)) west = beside;
    if (is(at_east_)) east = beside;
    const vector after = maybe_weighted(south);
    vector v = relaxed_row<Products>(weight_, m.centre, m.north, after, m.here, west, east);
    if (is(holds_first_)) v.cell[0] = m.centre.cell[0];
    T last = v.cell[width - 1];
    if constexpr (!Plain) {
      if (is(holds_last_))
        unrolled<width>([&](auto k) {
          if (k + 1 == cells_left()) v.cell[k] = m.centre.cell[k];
        });
      last = cell_at_end(v);
    } else {
      if (is(holds_last_)) v.cell[width - 1] = m.centre.cell[width - 1];
    }
    if constexpr (!Plain)
      if (change != nullptr)
        unrolled<width>([&](auto k) {
          if (k < cells_left()) note_difference(m.centre.cell[k], v.cell[k], *change);
        });
    if (is(at_west_ | at_east_)) *m.side = is(at_east_) ? last : v.cell[0];
    ++m.side;
    m.north = m.here;
    m.here = after;
    m.centre = south;
    return v;
  }

  template <bool Plain, class Lanes>
  STARLING_HD void make_piece(int piece, march& m, const Lanes& lanes, T* change) {
    const bool registers_first = place_.registers_first;
    const bool streams = place_.memory_rows > 0;
    if (piece == last_piece)
      make_ends<Plain>(m, lanes, change);
    else if (piece == (registers_first ? 0 : 2))
      make_in_registers<Plain>(m, registers_first ? vector_at(chip_rows()) : last(), lanes, change);
    else if (piece == 1)
      make_on_chip<Plain>(m, registers_first ? (streams ? vector_at(memory_rows()) : last()) : vector(cells_[0]), lanes,
                          change);
    else if (streams)
      make_in_memory<Plain>(m, registers_first ? last() : vector_at(chip_rows()), lanes, change);
  }

  template <bool Plain, class Lanes>
  STARLING_HD void make_ends(march& m, const Lanes& lanes, T* change) const {
    make_end<Plain>(m, place_.last, place_.holds_last, after(), lanes, change);
    const vector second = on_chip(place_.first + other());
    const vector row = first();
    march f{maybe_weighted(before()), maybe_weighted(row), row, side(is(at_east_)) + place_.first_row};
    make_end<Plain>(f, place_.first, place_.holds_first, second, lanes, change);
  }

  // The first or last row of the band, from one of its places to the other.
  template <bool Plain, class Lanes>
  STARLING_HD void make_end(march& m, int row, bool held, vector south, const Lanes& lanes, T* change) const {
    const vector was = m.centre;
    const vector v = made<Plain>(m, south, lanes, held ? nullptr : change);
    on_chip(row + other()) = held ? was : v;
  }

  // Each of these: `after` is the row behind the last of them.
  template <bool Plain, class Lanes>
  STARLING_HD void make_in_registers(march& m, vector after, const Lanes& lanes, T* change) {
    unrolled<RegisterRows>([&](auto row) {
      constexpr int r = decltype(row)::value;
      const vector south = r + 1 < RegisterRows ? cells_[r + 1 < RegisterRows ? r + 1 : r] : after;
      cells_[r] = made<Plain>(m, south, lanes, change);
    });
  }

  template <bool Plain, class Lanes>
  STARLING_HD void make_on_chip(march& m, vector after, const Lanes& lanes, T* change) const {
    T* row = chip_rows();
    for (int left = place_.chip_rows; left > 1; --left, row += pitch)
      at(row) = made<Plain>(m, vector_at(row + pitch), lanes, change);
    at(row) = made<Plain>(m, after, lanes, change);
  }

  template <bool Plain, class Lanes>
  STARLING_HD void make_in_memory(march& m, vector after, const Lanes& lanes, T* change) const {
    T* row = memory_rows();
    int left = place_.memory_rows;
    vector rows[ahead];
    unrolled<ahead>([&](auto i) {
      if (i + 1 < left) rows[i] = vector_at(row + (i + 1) * pitch);
    });
    const auto some = [&](auto more) {
      constexpr bool sure = decltype(more)::value;
      unrolled<ahead>([&](auto i) {
        if (!sure && i >= left) return;
        const vector south = sure || i + 1 < left ? rows[i] : after;
        if (sure || i + 1 + ahead < left) rows[i] = vector_at(row + (i + 1 + ahead) * pitch);
        at(row + i * pitch) = made<Plain>(m, south, lanes, change);
      });
      row += ahead * pitch;
      left -= ahead;
    };
    while (left > 2 * ahead) some(std::true_type());
    while (left > 0) some(std::false_type());
  }

  const coefficients<T>& weight_;
  const tile& mine_;
  const tiling& t_;
  const tall_place& place_;
  T* chip_;
  T* memory_;
  int lane_;
  unsigned is_;  // what holds of the lane, bit by bit
  int now_ = 0;  // from the first of two places for a row to the one where it is
  vector cells_[RegisterRows] = {};
};

}  // namespace starling::stencil
