// Steps of a star stencil in two dimensions over a tile that stays in the registers of a block's warps. What one warp
// has to know of another's cells is in the array in shared memory that holds the tile: the first and last rows of a
// band and the columns that edges are made of are stored there after each step, and read before the next one. Dirichlet
// cells and the ghost zone are only there: lanes whose vectors have such cells read these again before each step, and
// do not store them.
//
// Where a tile exchanges less often than every step (DeepHalo), what lies beyond it is made like the cells beside it,
// and is as little known as the ghost zone is after as many steps.
//
// The last band ends with the tile, so it may have rows of the one before; both compute them, the other one stores
// them.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/core/cell_vector.hpp"
#include "stencil/temporal/relaxed_row.hpp"
#include "stencil/tiles/tile_cells.hpp"

namespace starling::stencil {

// The lanes of a virtual device's warp, which in check mode has as many.
class lanes_in_check {
 public:
  explicit lanes_in_check(const warp& w) : warp_(w) {}
  template <class T>
  T from_before(T value) const {
    return from(value, warp_.member() - 1);
  }
  template <class T>
  T from_after(T value) const {
    return from(value, warp_.member() + 1);
  }

 private:
  template <class T>
  T from(const T& value, int lane) const {
    const auto* of_all = reinterpret_cast<const T*>(warp_.port().gather(&value, sizeof value, where::current()));
    return lane < 0 || lane >= warp_.members() ? value : of_all[lane];
  }

  warp warp_;
};

// The lanes of a GPU's warp.
struct lanes_of_warp {
  template <class T>
  STARLING_HD T from_before(T value) const {
    return target::shuffle_up(value, 1);
  }
  template <class T>
  STARLING_HD T from_after(T value) const {
    return target::shuffle_down(value, 1);
  }
  STARLING_HD void sync() const { target::sync_warp(); }
  // A value that all lanes have, in a way that the compiler knows it.
  template <class T>
  STARLING_HD T uniform(T value) const {
    return target::shuffle_first(value);
  }
};

template <class T, int Rows, bool DeepHalo>
class register_sweep {
 public:
  using cells = tile_cells<T, 2>;
  using vector = cell_vector<T>;
  static constexpr int width = vector::width;
  static constexpr int pitch = band_pitch * width;

  // Of the member's warp. uniform_weights: all neighbours have the same weight. Cells have to be loaded before the
  // first step.
  STARLING_HD register_sweep(const coefficients<T>& w, bool uniform_weights, const tile& mine, const cells& c,
                             int member)
      : weight_(w), mine_(mine), depth_(c.t.depth), member_(member), is_(uniform_weights ? uniform_ : 0) {
    const int reach = c.t.depth - 1;
    const int warp = member / band_vectors;
    const int lane = member % band_vectors;
    const int rows = mine.end(1, reach) - mine.begin(1, reach);
    const int begin = mine.begin(2, reach);
    const int end = mine.end(2, reach);
    if (warp * Rows >= rows || begin >= end) {
      is_ |= idle_;
      return;
    }
    const int first = first_row(warp, rows);
    const int next = first_row(warp + 1, rows);
    stored_ = warp * Rows - first;
    const int first_x = round_down(begin, width);
    const int last_x = first_x + (end - 1 - first_x) / width * width;
    const int x = first_x + lane * width;
    // What a lane without cells loads for nothing has to be there.
    const int here = x < last_x ? x : last_x;
    const int made_begin = DeepHalo && mine.open[4] ? here : begin;
    const int made_end = DeepHalo && mine.open[5] ? here + width : end;
    made_ = x > last_x ? 0 : bits_between(made_begin - here, made_end - here, width);
    at_ = c.shared + c.t.shared.at(0, mine.begin(1, reach) + first, here);
    // Where edges are sent ahead, they are computed from the second line too.
    const auto bit = [&](int column) { return column >= here && column < here + width ? 1u << (column - here) : 0u; };
    if (!DeepHalo && mine.open[4]) sent_ |= bit(0) | bit(1);
    if (!DeepHalo && mine.open[5]) sent_ |= bit(mine.extent[2] - 2) | bit(mine.extent[2] - 1);
    sent_ &= made_;
    if (stored_ >= lines) one_more_ = stored_;
    if (next < rows && next < first + Rows) one_more_ = next - first - 1;
    is_ |= (lane == 0 ? first_ : 0) | (lane == band_vectors - 1 || here == last_x ? last_ : 0) |
           (made_ == all_made ? whole_ : 0);
  }

  // The cells from the array.
  STARLING_HD void load() {
    if (is(idle_)) return;
    unrolled<Rows>([&](auto r) { cells_[r] = vector_at(at_ + r * pitch); });
  }

  // All of them into the array.
  STARLING_HD void store() const {
    if (!is(idle_)) store_rows(~0u << stored_);
  }

  // What other warps read, and what edges are made of that are sent ahead.
  STARLING_HD void share() const {
    if (is(idle_)) return;
    if (is(whole_)) {
      each_shared_by_all([&](auto r) { store_vector(r); });
    } else if (made_ != 0) {
      each_shared_by_all([&](auto r) { store_cells(r, made_); });
    }
    if (one_more_ >= 0) store_rows(1u << one_more_);
    if (DeepHalo || sent_ == 0) return;
    if (sent_ == first_two || sent_ == last_two) {
      const bool first = sent_ == first_two;
      T* to = first ? at_ : at_ + width - 2;
      each_other([&](auto r) {
        const vector& v = cells_[r];
        *reinterpret_cast<two_cells*>(to + r * pitch) =
            first ? two_cells{v.cell[0], v.cell[1]} : two_cells{v.cell[width - 2], v.cell[width - 1]};
      });
    } else {
      each_other([&](auto r) { store_cells(r, sent_); });
    }
  }

  // One step; reads the array, so a barrier has to be between it and what is stored. All lanes of the warp take part.
  // check: notes the largest change; then the array has all cells as they were.
  template <class Lanes>
  STARLING_HD void step(const Lanes& lanes, bool check, T& change) {
    if (is(idle_)) return;
    if (check) store_unshared();
    if (!is(whole_) && made_ != 0) load_others();
    if (is(uniform_))
      make<true>(lanes);
    else
      make<false>(lanes);
    if (check) note_changes(change);
  }

 private:
  static constexpr unsigned all_made = (1u << width) - 1;
  static constexpr unsigned first_two = 3;
  static constexpr unsigned last_two = 3u << (width - 2);
  struct alignas(2 * sizeof(T)) two_cells {
    T cell[2];
  };

  static constexpr unsigned uniform_ = 1;  // all neighbours have the same weight
  static constexpr unsigned idle_ = 2;     // the warp has no band
  static constexpr unsigned first_ = 4;    // the cell before is not another lane's
  static constexpr unsigned last_ = 8;     // likewise the cell after
  static constexpr unsigned whole_ = 16;   // steps make all cells of the vector
  STARLING_HD bool is(unsigned what) const { return (is_ & what) != 0; }

  // Relative to the tile's first; of no band: behind the last.
  STARLING_HD static int first_row(int warp, int rows) {
    const int first = warp * Rows;
    return first >= rows ? rows : first + Rows > rows ? rows - Rows : first;
  }
  static constexpr int lines = DeepHalo ? 1 : 2;
  STARLING_HD static constexpr bool shared_by_all(int r) { return r < lines || r >= Rows - lines; }
  STARLING_HD static vector vector_at(const T* p) { return *reinterpret_cast<const vector*>(p); }

  // The cells of its vectors that the lane does not make: of the ghost zone, or Dirichlet.
  STARLING_HD void load_others() {
    constexpr unsigned all_but_first = all_made & ~1u;
    constexpr unsigned all_but_last = all_made >> 1;
    if (made_ == all_but_first)
      unrolled<Rows>([&](auto r) { cells_[r].cell[0] = at_[r * pitch]; });
    else if (made_ == all_but_last)
      unrolled<Rows>([&](auto r) { cells_[r].cell[width - 1] = at_[r * pitch + width - 1]; });
    else
      unrolled<Rows>([&](auto r) {
        unrolled<width>([&](auto k) {
          if ((made_ >> k & 1) == 0) cells_[r].cell[k] = at_[r * pitch + k];
        });
      });
  }

  // Those cells of a row whose bits are set.
  template <class R>
  STARLING_HD void store_cells(R r, unsigned which) const {
    unrolled<width>([&](auto k) {
      if ((which >> k & 1) != 0) at_[r * pitch + k] = cells_[r].cell[k];
    });
  }
  template <class R>
  STARLING_HD void store_vector(R r) const {
    *reinterpret_cast<vector*>(at_ + r * pitch) = cells_[r];
  }
  STARLING_HD void store_rows(unsigned which) const {
    unrolled<Rows>([&](auto r) {
      if ((which >> r & 1) == 0) return;
      if (is(whole_))
        store_vector(r);
      else
        store_cells(r, made_);
    });
  }
  // What the array does not have of the cells. What others may read at the same time is not written again.
  STARLING_HD void store_unshared() const {
    each_other([&](auto r) {
      if (r != one_more_) store_cells(r, made_ & ~sent_);
    });
  }
  // f(row) for the rows that the warp stores: the first and last ones, which others read of each band, and those
  // between.
  template <class F>
  STARLING_HD void each_shared_by_all(const F& f) const {
    unrolled<Rows>([&](auto r) {
      if constexpr (shared_by_all(r))
        if (r >= stored_) f(r);
    });
  }
  template <class F>
  STARLING_HD void each_other(const F& f) const {
    unrolled<Rows>([&](auto r) {
      if constexpr (!shared_by_all(r))
        if (r >= stored_) f(r);
    });
  }

  // How much those of the tile's own cells that the warp stores have changed since the array had them.
  STARLING_HD void note_changes(T& change) const {
    const int reach = depth_ - 1;
    const int x = round_down(mine_.begin(2, reach), width) + member_ % band_vectors * width;
    const unsigned own = bits_between(mine_.begin(2, 0) - x, mine_.end(2, 0) - x, width);
    const int rows = mine_.end(1, reach) - mine_.begin(1, reach);
    const int row = mine_.begin(1, reach) + first_row(member_ / band_vectors, rows);
    const int begin = mine_.begin(1, 0) - row > stored_ ? mine_.begin(1, 0) - row : stored_;
    const int end = mine_.end(1, 0) - row;
    unrolled<Rows>([&](auto r) {
      if (r < begin || r >= end) return;
      unrolled<width>([&](auto k) {
        if ((own >> k & 1) != 0) note_difference(at_[r * pitch + k], cells_[r].cell[k], change);
      });
    });
  }

  // Products: see relaxed_row.
  template <bool Products, class Lanes>
  STARLING_HD void make(const Lanes& lanes) {
    const vector after = vector_at(at_ + Rows * pitch);
    vector north = vector_at(at_ - pitch);
    vector here = cells_[0];
    if constexpr (Products) {
      north = weighted(weight_, north);
      here = weighted(weight_, here);
    }
    unrolled<Rows>([&](auto row) {
      constexpr int r = decltype(row)::value;
      const vector centre = cells_[r];
      vector south = r + 1 < Rows ? cells_[r + 1 < Rows ? r + 1 : r] : after;
      if constexpr (Products) south = weighted(weight_, south);
      T west = lanes.from_before(centre.cell[width - 1]);
      T east = lanes.from_after(centre.cell[0]);
      if (is(first_)) west = at_[r * pitch - 1];
      if (is(last_)) east = at_[r * pitch + width];
      if constexpr (Products) {
        west = weight_.low[1] * west;
        east = weight_.low[1] * east;
      }
      cells_[r] = relaxed_row<Products>(weight_, centre, north, south, here, west, east);
      north = here;
      here = south;
    });
  }

  const coefficients<T>& weight_;
  const tile& mine_;
  int depth_;
  int member_;
  unsigned is_;        // what holds, bit by bit
  unsigned made_ = 0;  // cells of a vector that steps make
  unsigned sent_ = 0;  // those of columns that edges are made of
  int stored_ = 0;     // first row that the warp stores
  int one_more_ = -1;  // row that others read of this band besides
  T* at_ = nullptr;
  vector cells_[Rows] = {};
};

}  // namespace starling::stencil
