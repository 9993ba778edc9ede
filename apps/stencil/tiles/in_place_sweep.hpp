// One step of a star stencil in three dimensions over a tile that is kept in one array, by all threads of a group. Each
// thread goes along the layers of its columns, two of them in a phase: it computes them into registers, and stores them
// when all threads with the same layers have computed theirs. So every cell is read as it was by all who need it; the
// layer before a phase, which is already stored, is still in the registers of the thread, and the layers beyond a
// thread's share are read before anybody's first phase.
#pragma once

#include "stencil/tiles/in_place_columns.hpp"

namespace starling::stencil {

template <class T>
class in_place_sweep {
 public:
  using cells = tile_cells<T, 3>;
  using vector = cell_vector<T>;
  static constexpr int along = in_place_columns<T>::along;
  static constexpr int width = vector::width;
  static constexpr int rows = in_place_rows;
  // Layers of a phase: as many as there are registers for.
  static constexpr int phase = 2;

  STARLING_HD in_place_sweep(const coefficients<T>& w, const tile& mine, const cells& c, const in_place_columns<T>& p,
                             int reach)
      : weight_(w), cells_(c), columns_(p), updated_(p.updated(reach)) {
    low_ = mine.begin(along, reach);
    high_ = mine.end(along, reach);
  }

  // Ends with a barrier of the group.
  template <bool Check, class Group>
  STARLING_HD void run(const Group& g, T& change) const {
    if (low_ < high_) go<Check>(g, change);
    g.sync();
  }

 private:
  template <bool Check, class Group>
  STARLING_HD void go(const Group& g, T& change) const {
    const int phases = (columns_.most_of(low_, high_) + phase - 1) / phase;
    column_cursor m = start();
    if (columns_.segments() > 1) g.sync();
    for (int i = 0; i < phases; ++i) step<Check>(g, m, change);
  }

  // A thread's way along its layers: where it is, what lies before and there, and what lies behind its last layer.
  struct column_cursor {
    T* at = nullptr;
    int left = 0;
    vector before[rows];
    vector centre[rows];
    vector last[rows];
  };
  // What else the next layers need: what follows each, and the rows beside the columns.
  struct beside {
    vector after[phase][rows];
    vector north[phase];
    vector south[phase];
  };

  STARLING_HD static vector load(const T* p) { return *reinterpret_cast<const vector*>(p); }
  STARLING_HD vector load_layer(int layer, int r) const {
    return load(cells_.in_layer(layer, columns_.row() + r, columns_.x()));
  }

  STARLING_HD column_cursor start() const {
    const auto [first, count] = columns_.share_of(low_, high_);
    column_cursor m{};
    m.left = count;
    m.at = cells_.at(count > 0 ? first : low_, columns_.row(), columns_.x());
    if (m.left > 0)
      unrolled<rows>([&](auto r) {
        m.before[r] = load_layer(first - 1, r);
        m.centre[r] = load_layer(first, r);
        m.last[r] = load_layer(first + count, r);
      });
    return m;
  }

  template <bool Check, class Group>
  STARLING_HD void step(const Group& g, column_cursor& m, T& change) const {
    beside b{};
    load(m, b);
    vector made[phase][rows];
    compute<Check>(m, b, made, change);
    columns_.sync(g);
    store(m, made);
    advance(m, b);
  }

  STARLING_HD const tile_layout& layout() const { return cells_.t.shared; }
  STARLING_HD T* row_of(const column_cursor& m, int layer, int r) const {
    return m.at + layer * layout().stride[along] + r * layout().stride[1];
  }

  STARLING_HD void load(const column_cursor& m, beside& b) const {
    // Two loops: most phases need no look at what is left.
    if (m.left > phase)
      unrolled<phase>([&](auto i) { load_beside<true>(m, b, i); });
    else
      unrolled<phase>([&](auto i) {
        if (i < m.left) load_beside<false>(m, b, i);
      });
  }

  template <bool More, class I>
  STARLING_HD void load_beside(const column_cursor& m, beside& b, I i) const {
    unrolled<rows>([&](auto r) { b.after[i][r] = More || i + 1 < m.left ? load(row_of(m, i + 1, r)) : m.last[r]; });
    b.north[i] = load(row_of(m, i, -1));
    b.south[i] = load(row_of(m, i, rows));
  }

  template <bool Check>
  STARLING_HD void compute(const column_cursor& m, const beside& b, vector (&made)[phase][rows], T& change) const {
    unrolled<phase>([&](auto layer) {
      constexpr int i = decltype(layer)::value;
      unrolled<rows>([&](auto row) {
        constexpr int r = decltype(row)::value;
        const vector& centre = of_layer<i>(m, b, r);
        // The lanes beside this one have the same layer and row of the columns beside it.
        T west = target::shuffle_up(centre.cell[width - 1], 1);
        T east = target::shuffle_down(centre.cell[0], 1);
        if (columns_.first() && i < m.left) west = row_of(m, i, r)[-1];
        if (columns_.last() && i < m.left) east = row_of(m, i, r)[width];
        unrolled<width>([&](auto cell) {
          constexpr int k = decltype(cell)::value;
          surroundings<T> s{};
          s.centre = centre.cell[k];
          s.below = of_layer<i - 1>(m, b, r).cell[k];
          s.above = b.after[i][r].cell[k];
          if constexpr (r == 0)
            s.north = b.north[i].cell[k];
          else
            s.north = of_layer<i>(m, b, r - 1).cell[k];
          if constexpr (r + 1 == rows)
            s.south = b.south[i].cell[k];
          else
            s.south = of_layer<i>(m, b, r + 1).cell[k];
          if constexpr (k == 0)
            s.west = west;
          else
            s.west = centre.cell[k - 1];
          if constexpr (k + 1 == width)
            s.east = east;
          else
            s.east = centre.cell[k + 1];
          made[i][r].cell[k] = relaxed<3>(weight_, s);
          if constexpr (Check)
            if (i < m.left && updated(r, k)) note_difference(s.centre, made[i][r].cell[k], change);
        });
      });
    });
  }

  // A layer of this phase as it was; -1: the one before.
  template <int I>
  STARLING_HD static const vector& of_layer(const column_cursor& m, const beside& b, int r) {
    if constexpr (I < 0)
      return m.before[r];
    else if constexpr (I == 0)
      return m.centre[r];
    else
      return b.after[I - 1][r];
  }

  STARLING_HD bool updated(int r, int k) const { return (updated_ >> (r * width + k) & 1) != 0; }

  STARLING_HD void store(const column_cursor& m, const vector (&made)[phase][rows]) const {
    constexpr unsigned whole = (1u << rows * width) - 1;
    if (updated_ == whole && m.left >= phase) {
      unrolled<phase>(
          [&](auto i) { unrolled<rows>([&](auto r) { *reinterpret_cast<vector*>(row_of(m, i, r)) = made[i][r]; }); });
      return;
    }
    unrolled<phase>([&](auto i) {
      if (i >= m.left) return;
      unrolled<rows>([&](auto r) {
        T* p = row_of(m, i, r);
        unrolled<width>([&](auto k) {
          if (updated(r, k)) p[k] = made[i][r].cell[k];
        });
      });
    });
  }

  STARLING_HD void advance(column_cursor& m, const beside& b) const {
    unrolled<rows>([&](auto r) {
      m.before[r] = of_layer<phase - 1>(m, b, r);
      m.centre[r] = b.after[phase - 1][r];
    });
    const int done = m.left < phase ? m.left : phase;
    m.at += done * layout().stride[along];
    m.left -= done;
  }

  const coefficients<T>& weight_;
  const cells& cells_;
  const in_place_columns<T>& columns_;
  unsigned updated_;  // a bit for each cell of a layer of the columns
  int low_;
  int high_;
};

}  // namespace starling::stencil
