// Steps of a star stencil in two dimensions over a warp's band of a spilling register tile. Cells are made in place,
// row by row down the band: a thread still has the row before as it was. Only the first and the last row, which the
// bands beside read meanwhile, are made into another place than they are read from. So a step needs nothing of other
// warps but that they have made the step before: one barrier.
//
// A step makes a band in pieces: rows in registers, those in shared memory, and some of those in memory at a time; with
// the last piece the ends. What lies beside a piece is needed when the step comes to it, and what it has at its sides
// can be sent once it is made: much of a step is left for each packet's flight. The first row is made last, so that
// this holds for the row above it too.
//
// The columns beside the tile and those at its sides share their place in shared memory: a step reads what lies beside
// a row and leaves there what the row has at its side, until the neighbours' cells are taken the next time.
//
// What a warp's way depends on is told the compiler as the same for all its lanes. Where it cannot know this, it takes
// care of lanes that are apart before every shuffle.
//
// Rows in memory are loaded some rows ahead, and prefetched into the L2 cache further ahead. Half of the bands have
// them before their other rows and half behind, so that the transfers of some warps run beside the work of others.
#pragma once

#include <type_traits>

#include "stencil/core/cell_vector.hpp"
#include "stencil/temporal/relaxed_row.hpp"
#include "stencil/tiles/tiles.hpp"

namespace starling::stencil {

// Products: all neighbours have the same weight. Whole: no vector has both cells of the tile and others.
//
// Nearly all registers are for cells, so that what is needed once a step is read from the tiling and from the band's
// place, and not kept; and so that there is one way to make a row.
template <class T, int RegisterRows, bool Products, bool Whole>
class spilling_band {
 public:
  using vector = cell_vector<T>;
  static constexpr int width = vector::width;
  static constexpr int pitch = spilling_pitch(width);

  // Of the member's warp, whose place is at `places`. shared and memory: of the block, as the tiling says.
  template <class Lanes>
  STARLING_HD spilling_band(const coefficients<T>& w, const tile& mine, const tiling& t, const spilling_place* places,
                            T* shared, T* memory, int member, const Lanes& lanes)
      : weight_(w),
        mine_(mine),
        t_(t),
        place_(places[member / band_vectors]),
        shared_(shared),
        memory_(memory),
        lane_(member % band_vectors),
        shared_rows_(lanes.uniform(place_.shared_rows)),
        memory_rows_(lanes.uniform(place_.memory_rows)),
        ways_(lanes.uniform((place_.registers_first ? registers_first_ : 0) | (place_.first_band ? first_band_ : 0) |
                            (place_.last_band ? last_band_ : 0))) {
    const int vectors = (mine.extent[2] + width - 1) / width;
    const bool last = lane_ == vectors - 1;
    is_ = (lane_ == 0 && mine.open[4] ? at_west_ : 0) | (last && mine.open[5] ? at_east_ : 0) |
          (lane_ == 0 && mine.begin(2, 0) > 0 ? dirichlet_first_ : 0) |
          (last && mine.end(2, 0) < mine.extent[2] ? dirichlet_last_ : 0) | (lane_ < vectors ? has_cells_ : 0);
  }

  // ---- for links ----

  STARLING_HD int rows() const { return 2 + RegisterRows + shared_rows_ + memory_rows_; }
  STARLING_HD int cells_in_row() const { return mine_.extent[2]; }
  STARLING_HD int lane() const { return lane_; }
  STARLING_HD bool is_first() const { return (ways_ & first_band_) != 0; }
  STARLING_HD bool is_last() const { return (ways_ & last_band_) != 0; }
  // What packets carry: cells at a side of the tile, of which the band's begin with packet first_packet(), the band's
  // first and last row, and the rows beside them.
  STARLING_HD int first_packet() const { return place_.packet; }
  STARLING_HD packet_content<T>* side(bool east) const { return contents(t_.spilling.side(east, width)); }
  STARLING_HD packet_content<T>* first_row() const { return contents(place_.first + now_); }
  STARLING_HD packet_content<T>* last_row() const { return contents(place_.last + now_); }
  STARLING_HD packet_content<T>* row_before() const { return contents(place_.before + now_); }
  STARLING_HD packet_content<T>* row_behind() const { return contents(place_.after + now_); }

  // ---- between runs ----

  // The cells from an array in which the tile's first is `from` and rows are `row` apart.
  STARLING_HD void load(const T* from, index_t row) {
    each_row([&](int y, vector& v) {
      vector here{};
      unrolled<width>([&](auto k) {
        if (k < cells_left()) here.cell[k] = from[y * row + lane_ * width + k];
      });
      if (is(at_west_ | at_east_)) side_of_row(y - place_.first_row) = side_cell(here);
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
  struct row_cursor {
    vector north;
    vector here;
    vector centre;
    T* side;   // its place there
    T beside;  // what is there, for lanes at a side
    bool checks;
    T change;  // the largest of a cell, if it checks
  };

  STARLING_HD int pieces() const { return pieces_of_band(memory_rows_); }
  STARLING_HD spilling_piece piece(int number) const {
    return piece_of_band(RegisterRows, shared_rows_, memory_rows_, registers_first(), number);
  }

  // The bands beside have made the step before. checks: the largest change is found.
  STARLING_HD row_cursor begin(bool checks) const {
    const vector row = in_shared(place_.first + now_);
    const vector second = registers_first()  ? vector(cells_[0])
                          : memory_rows_ > 0 ? vector_at(memory_rows())
                                             : vector_at(shared_rows());
    in_shared(place_.first + other()) = second;  // for the first row; nobody reads that place before the next step
    return {maybe_weighted(row), maybe_weighted(second), second, &side_of_row(1), T(), checks, T()};
  }

  // All lanes of the warp take part, and meet. The bands beside do not begin the next step before all threads of the
  // block have met.
  template <class Lanes>
  STARLING_HD void make(const spilling_piece& piece, row_cursor& m, const Lanes& lanes) {
    m.beside = at_side() ? *m.side : T();
    if (piece.part == spilling_part::registers) make_in_registers(m, lanes);
    if (m.checks)
      make_others<true>(piece, m, lanes);
    else
      make_others<false>(piece, m, lanes);
    if (piece.last) now_ = other();
    lanes.sync();
  }

 private:
  // Rows from memory that are prefetched into the L2 cache ahead of those on the way to registers.
  static constexpr int prefetched_ahead = 12;

  // What holds of the whole warp.
  static constexpr unsigned registers_first_ = 1;
  static constexpr unsigned first_band_ = 2;
  static constexpr unsigned last_band_ = 4;
  STARLING_HD bool registers_first() const { return (ways_ & registers_first_) != 0; }

  static constexpr unsigned at_west_ = 1;          // the cell before its first is another tile's
  static constexpr unsigned at_east_ = 2;          // likewise the one after its last
  static constexpr unsigned dirichlet_first_ = 4;  // steps do not make the lane's first cell
  static constexpr unsigned dirichlet_last_ = 8;   // nor its last
  static constexpr unsigned has_cells_ = 16;
  STARLING_HD bool is(unsigned what) const { return (is_ & what) != 0; }
  STARLING_HD bool at_side() const { return is(at_west_ | at_east_); }

  STARLING_HD static vector& at(T* p) { return *reinterpret_cast<vector*>(p); }
  STARLING_HD static vector vector_at(const T* p) { return *reinterpret_cast<const vector*>(p); }
  // From the first of two places for a row to the one that it is made into.
  STARLING_HD int other() const { return pitch - now_; }
  STARLING_HD packet_content<T>* contents(int begin) const {
    return reinterpret_cast<packet_content<T>*>(shared_ + begin);
  }
  // The lane's in a row that begins so many elements behind the first.
  STARLING_HD vector& in_shared(int begin) const { return at(shared_ + begin + lane_ * width); }
  STARLING_HD vector last() const { return in_shared(place_.last + now_); }
  STARLING_HD T* shared_rows() const { return shared_ + place_.shared + lane_ * width; }
  STARLING_HD T* memory_rows() const { return memory_ + place_.memory + lane_ * width; }
  // Of a lane at a side, the place there of a row of the band.
  STARLING_HD T& side_of_row(int row) const {
    constexpr int each = static_cast<int>(elements_per_packet<T>);
    const int k = row > 0 ? row - 1 : (rows() - 2 + each) / each * each;
    return shared_[t_.spilling.side(is(at_east_), width) + place_.packet * each + k];
  }
  // Cells of the row from the lane's first on.
  STARLING_HD int cells_left() const { return mine_.extent[2] - lane_ * width; }

  // f(row of the tile, vector) for every row of the band.
  template <class F>
  STARLING_HD void each_row(const F& f) {
    int y = place_.first_row;
    f(y++, in_shared(place_.first + now_));
    for (int part = 0; part < 3; ++part)
      if (part == (registers_first() ? 0 : 2))
        unrolled<RegisterRows>([&](auto r) { f(y++, cells_[r]); });
      else if (part == 1)
        for (int i = 0; i < shared_rows_; ++i) f(y++, at(shared_rows() + i * pitch));
      else
        for (int i = 0; i < memory_rows_; ++i) f(y++, at(memory_rows() + i * pitch));
    f(y, in_shared(place_.last + now_));
  }

  // Of a lane at a side, the cell there.
  STARLING_HD T side_cell(const vector& v) const { return is(at_east_) ? cell_at_end(v) : v.cell[0]; }
  STARLING_HD T cell_at_end(const vector& v) const {
    T value = v.cell[width - 1];
    if constexpr (Whole) return value;
    unrolled<width - 1>([&](auto k) {
      if (k + 1 == cells_left()) value = v.cell[k];
    });
    return value;
  }

  STARLING_HD vector maybe_weighted(const vector& v) const {
    if constexpr (Products) return weighted(weight_, v);
    return v;
  }

  // The row that the row_cursor is at; `south` is the one after it. dirichlet: the row stays as it is.
  template <bool Check, class Lanes>
  STARLING_HD vector made(row_cursor& m, vector south, const Lanes& lanes, bool dirichlet = false) const {
    const vector was = m.centre;
    const vector v = made_unseen(m, south, lanes, dirichlet);
    if constexpr (Check) note_change(was, v, m.change);
    return v;
  }

  // The same without noting its change.
  template <class Lanes>
  STARLING_HD vector made_unseen(row_cursor& m, vector south, const Lanes& lanes, bool dirichlet = false) const {
    T beside = m.beside;
    // Behind a piece there may be a cell of the step before; nobody uses it.
    m.beside = at_side() ? m.side[1] : T();
    if constexpr (Products) beside = weight_.low[1] * beside;
    if constexpr (!Whole)
      unrolled<width>([&](auto k) {
        if (k == cells_left()) m.here.cell[k] = beside;
      });
    T west = lanes.from_before(m.here.cell[width - 1]);
    T east = lanes.from_after(m.here.cell[0]);
    if (is(at_west_)) west = beside;
    if (is(at_east_)) east = beside;
    const vector after = maybe_weighted(south);
    vector v = relaxed_row<Products>(weight_, m.centre, m.north, after, m.here, west, east);
    if (is(dirichlet_first_)) v.cell[0] = m.centre.cell[0];
    if (is(dirichlet_last_)) restore_last(v, m.centre);
    if (dirichlet) v = m.centre;
    if (at_side()) *m.side = side_cell(v);
    ++m.side;
    m.north = m.here;
    m.here = after;
    m.centre = south;
    return v;
  }

  STARLING_HD void restore_last(vector& v, const vector& was) const {
    unrolled<width>([&](auto k) {
      if (Whole ? k == width - 1 : k + 1 == cells_left()) v.cell[k] = was.cell[k];
    });
  }

  STARLING_HD void note_change(const vector& was, const vector& v, T& change) const {
    unrolled<width>([&](auto k) {
      if (Whole ? is(has_cells_) : k < cells_left()) note_difference(was.cell[k], v.cell[k], change);
    });
  }

  // ---- parts of a band, each from its first row on ----

  // The convergence check takes them as they were from memory: registers have no room for both.
  template <class Lanes>
  STARLING_HD void make_in_registers(row_cursor& m, const Lanes& lanes) {
    volatile T was[RegisterRows][width];
    const auto each_cell = [&](const auto& f) {
      unrolled<RegisterRows>([&](auto r) { unrolled<width>([&](auto k) { f(cells_[r].cell[k], was[r][k]); }); });
    };
    if (m.checks) each_cell([&](T cell, volatile T& there) { there = cell; });
    const vector after = registers_first() ? vector_at(shared_rows()) : last();
    unrolled<RegisterRows>([&](auto row) {
      constexpr int r = decltype(row)::value;
      const vector south = r + 1 < RegisterRows ? cells_[r + 1 < RegisterRows ? r + 1 : r] : after;
      cells_[r] = made_unseen(m, south, lanes);
    });
    if (!m.checks) return;
    unrolled<RegisterRows>([&](auto r) {
      vector before;
      unrolled<width>([&](auto k) { before.cell[k] = was[r][k]; });
      note_change(before, cells_[r], m.change);
    });
  }

  // What is not in registers.
  template <bool Check, class Lanes>
  STARLING_HD void make_others(const spilling_piece& piece, row_cursor& m, const Lanes& lanes) const {
    if (piece.part == spilling_part::shared) make_in_shared<Check>(m, lanes);
    if (piece.part == spilling_part::memory) make_in_memory<Check>(piece, m, lanes);
    if (piece.last) make_ends<Check>(m, lanes);
  }

  template <bool Check, class Lanes>
  STARLING_HD void make_in_shared(row_cursor& m, const Lanes& lanes) const {
    const vector after = !registers_first() ? vector(cells_[0]) : memory_rows_ > 0 ? vector_at(memory_rows()) : last();
    make_rows<Check, 3>(m, shared_rows(), shared_rows_, after, lanes, [](const T*, int) {});
  }

  template <bool Check, class Lanes>
  STARLING_HD void make_in_memory(const spilling_piece& piece, row_cursor& m, const Lanes& lanes) const {
    const int first = piece.rows.begin - (registers_first() ? RegisterRows + shared_rows_ : 0);
    const int rows = piece.rows.end - piece.rows.begin;
    const int behind = memory_rows_ - first - rows;
    T* row = memory_rows() + first * pitch;
    const vector after = behind > 0          ? vector_at(row + rows * pitch)
                         : registers_first() ? last()
                                             : vector_at(shared_rows());
    constexpr int ahead = 6;
    make_rows<Check, ahead>(m, row, rows, after, lanes, [behind](const T* from, int left) {
      if (left + behind > 2 * ahead + prefetched_ahead)
        unrolled<ahead>([&](auto i) { target::prefetch_l2(from + (i + ahead + prefetched_ahead) * pitch); });
    });
  }

  // Rows that lie one after the other; `after` is the one behind them. Ahead: rows that are in registers or on the way
  // there; in multiples of 3 the vectors of a row_cursor stay where they are. call(row, rows from it on) looks further
  // ahead.
  template <bool Check, int Ahead, class Lanes, class Call>
  STARLING_HD void make_rows(row_cursor& m, T* row, int left, vector after, const Lanes& lanes,
                             const Call& call) const {
    vector rows[Ahead];
    rows[0] = m.centre;
    unrolled<Ahead - 1>([&](auto i) { rows[i + 1] = i + 1 < left ? vector_at(row + (i + 1) * pitch) : after; });
    const auto some = [&](auto all) {
      call(row, left);
      unrolled<Ahead>([&](auto i) {
        if (!all && i >= left) return;
        at(row + i * pitch) = made<Check>(m, rows[(i + 1) % Ahead], lanes);
        rows[i] = all || i + Ahead < left ? vector_at(row + (i + Ahead) * pitch) : after;
      });
      row += Ahead * pitch;
      left -= Ahead;
    };
    while (left >= 2 * Ahead) some(std::true_type());
    while (left > 0) some(std::false_type());
  }

  // The first and last row of the band, each from one of its places to the other.
  template <bool Check, class Lanes>
  STARLING_HD void make_ends(row_cursor& m, const Lanes& lanes) const {
    in_shared(place_.last + other()) = made<Check>(m, in_shared(place_.after + now_), lanes, place_.dirichlet_last);
    const vector row = in_shared(place_.first + now_);
    m.north = maybe_weighted(in_shared(place_.before + now_));
    m.here = maybe_weighted(row);
    m.centre = row;
    m.side = &side_of_row(0);
    m.beside = at_side() ? *m.side : T();
    const vector second = in_shared(place_.first + other());
    in_shared(place_.first + other()) = made<Check>(m, second, lanes, place_.dirichlet_first);
  }

  const coefficients<T>& weight_;
  const tile& mine_;
  const tiling& t_;
  const spilling_place& place_;
  T* shared_;
  T* memory_;
  int lane_;
  int shared_rows_;
  int memory_rows_;
  unsigned ways_;
  unsigned is_;  // what holds of the lane, bit by bit
  int now_ = 0;  // from the first of two places for a row to the one where it is
  vector cells_[RegisterRows] = {};
};

}  // namespace starling::stencil
