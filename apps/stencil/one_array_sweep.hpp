// One step of a star stencil over a tile that is kept in one array, by all threads of a group. Each thread goes along
// the layers of its patch, some of them in a phase: it computes them into registers, and stores them when all threads
// with the same layers have computed theirs. So every cell is read as it was by all who need it; the layer before a
// phase, which is already stored, is still in the registers of the thread, and the layers beyond a thread's share are
// read before anybody's first phase. What is on chip and what is in memory are gone along side by side: the loads from
// memory are under way while the cells on chip are computed.
#pragma once

#include "stencil/patches.hpp"

namespace starling::stencil {

template <class T, int Dimensions, bool Streams>
class one_array_sweep {
 public:
  using cells = tile_cells<T, Dimensions, Streams>;
  using vector = cell_vector<T>;
  static constexpr int along = patch<T, Dimensions>::along;
  static constexpr int width = vector::width;
  static constexpr int rows = patch_rows(Dimensions);
  // Layers of a phase: as many as there are registers for.
  static constexpr int chip_layers = Dimensions == 2 ? (Streams ? 2 : 4) : Streams ? 1 : 2;
  static constexpr int memory_layers = Dimensions == 2 ? 3 : 1;

  STARLING_HD one_array_sweep(const coefficients<T>& w, const tile& mine, const cells& c, const patch<T, Dimensions>& p,
                              int reach)
      : weight_(w), cells_(c), patch_(p), updated_(p.updated(reach)) {
    low_ = mine.begin(along, reach);
    high_ = mine.end(along, reach);
    cut_ = !Streams || c.t.layers_on_chip > high_ ? high_ : c.t.layers_on_chip < low_ ? low_ : c.t.layers_on_chip;
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
    const int chip_phases = (patch_.most_of(low_, cut_) + chip_layers - 1) / chip_layers;
    march on_chip = start(cells_.chip, cells_.t.chip, low_, cut_);
    if constexpr (!Streams) {
      if (patch_.segments() > 1) g.sync();
      for (int phase = 0; phase < chip_phases; ++phase) step_on_chip<Check>(g, on_chip, change);
    } else {
      const int memory_phases = (patch_.most_of(cut_, high_) + memory_layers - 1) / memory_layers;
      march in_memory = start(cells_.memory, cells_.t.memory, cut_, high_);
      if (patch_.segments() > 1) g.sync();
      for (int phase = 0; phase < memory_phases; ++phase) {
        loaded from_memory;
        load_ahead(in_memory, from_memory);
        if (phase < chip_phases)
          step_on_chip<Check>(g, on_chip, change);
        else
          patch_.sync(g);
        step_in_memory<Check>(in_memory, from_memory, change);
      }
      for (int phase = memory_phases; phase < chip_phases; ++phase) step_on_chip<Check>(g, on_chip, change);
    }
  }

  // A thread's way along its layers: where it is, what lies before and there, and what lies behind its last layer.
  struct march {
    T* at = nullptr;
    int left = 0;
    vector before[rows];
    vector centre[rows];
    vector last[rows];
  };
  // What else the next layers need: what follows each, and in three dimensions the rows beside the patch.
  template <int Layers>
  struct beside {
    vector after[Layers][rows];
    vector north[Layers];
    vector south[Layers];
  };
  // From memory also the cells before and after each row of the patch, where no other lane of the warp has them.
  struct loaded {
    beside<memory_layers> layers;
    T west[memory_layers][rows] = {};
    T east[memory_layers][rows] = {};
  };

  STARLING_HD static vector load(const T* p) { return *reinterpret_cast<const vector*>(p); }
  STARLING_HD vector load_layer(int layer, int r) const {
    return load(cells_.in_layer(layer, patch_.row() + r, patch_.x()));
  }

  STARLING_HD march start(T* array, const tile_layout& l, int begin, int end) const {
    const auto [first, count] = patch_.share_of(begin, end);
    march m{};
    m.left = count;
    const int from = count > 0 ? first : begin;
    m.at = array + (Dimensions == 3 ? l.at(from, patch_.row(), patch_.x()) : l.at(0, from, patch_.x()));
    if (m.left > 0)
      unrolled<rows>([&](auto r) {
        m.before[r] = load_layer(first - 1, r);
        m.centre[r] = load_layer(first, r);
        m.last[r] = load_layer(first + count, r);
      });
    return m;
  }

  template <bool Check, class Group>
  STARLING_HD void step_on_chip(const Group& g, march& m, T& change) const {
    const tile_layout& l = cells_.t.chip;
    beside<chip_layers> b{};
    load(m, l, b);
    vector made[chip_layers][rows];
    const auto row = [&](auto i, auto r) { return m.at + i * l.stride[along] + r * l.stride[1]; };
    compute<Check>(
        m, b,
        [&](auto i, auto r, T& west) {
          if (i < m.left) west = row(i, r)[-1];
        },
        [&](auto i, auto r, T& east) {
          if (i < m.left) east = row(i, r)[width];
        },
        made, change);
    patch_.sync(g);
    store(m, l, made);
    advance(m, l, b);
  }

  template <int Layers>
  STARLING_HD void load(const march& m, const tile_layout& l, beside<Layers>& b) const {
    // Two loops: most phases need no look at what is left.
    if (m.left > Layers)
      unrolled<Layers>([&](auto i) { load_beside<true>(m, l, b, i); });
    else
      unrolled<Layers>([&](auto i) {
        if (i < m.left) load_beside<false>(m, l, b, i);
      });
  }

  template <bool More, int Layers, class I>
  STARLING_HD void load_beside(const march& m, const tile_layout& l, beside<Layers>& b, I i) const {
    const T* layer = m.at + i * l.stride[along];
    unrolled<rows>([&](auto r) {
      const T* p = layer + r * l.stride[1];
      b.after[i][r] = More || i + 1 < m.left ? load(p + l.stride[along]) : m.last[r];
    });
    if constexpr (Dimensions == 3) {
      b.north[i] = load(layer - l.stride[1]);
      b.south[i] = load(layer + rows * l.stride[1]);
    }
  }

  // All loads at once, whatever is left, so that nothing waits for one of them: what is not left is not looked at, and
  // what follows the last layer is not `last` yet.
  STARLING_HD void load_ahead(const march& m, loaded& to) const {
    // Where nothing is left these are cells that other threads store at the same time, and nobody looks at what was
    // loaded. A GPU is spared the branch.
    if constexpr (!target::on_gpu) {
      if (m.left == 0) {
        to = {};
        return;
      }
    }
    const tile_layout& l = cells_.t.memory;
    unrolled<memory_layers>([&](auto i) {
      const T* here = m.at + (i < m.left ? i : 0) * l.stride[along];
      const T* after = m.at + (i + 1 < m.left ? i + 1 : 0) * l.stride[along];
      unrolled<rows>([&](auto r) {
        to.layers.after[i][r] = load(after + r * l.stride[1]);
        const T* p = here + r * l.stride[1];
        if (patch_.first()) to.west[i][r] = p[-1];
        if (patch_.last()) to.east[i][r] = p[width];
      });
      if constexpr (Dimensions == 3) {
        to.layers.north[i] = load(here - l.stride[1]);
        to.layers.south[i] = load(here + rows * l.stride[1]);
      }
    });
  }

  template <bool Check>
  STARLING_HD void step_in_memory(march& m, loaded& from, T& change) const {
    unrolled<memory_layers>([&](auto i) {
      if (i + 1 == m.left) unrolled<rows>([&](auto r) { from.layers.after[i][r] = m.last[r]; });
    });
    vector made[memory_layers][rows];
    compute<Check>(
        m, from.layers, [&](auto i, auto r, T& west) { west = from.west[i][r]; },
        [&](auto i, auto r, T& east) { east = from.east[i][r]; }, made, change);
    store(m, cells_.t.memory, made);
    advance(m, cells_.t.memory, from.layers);
  }

  // west(layer, row, value), east likewise: set what no other lane has.
  template <bool Check, int Layers, class West, class East>
  STARLING_HD void compute(const march& m, const beside<Layers>& b, const West& west_of, const East& east_of,
                           vector (&made)[Layers][rows], T& change) const {
    unrolled<Layers>([&](auto layer) {
      constexpr int i = decltype(layer)::value;
      unrolled<rows>([&](auto row) {
        constexpr int r = decltype(row)::value;
        const vector& centre = of_layer<i>(m, b, r);
        // The lanes beside this one have the same layer and row of the columns beside it.
        T west = target::shuffle_up(centre.cell[width - 1], 1);
        T east = target::shuffle_down(centre.cell[0], 1);
        if (patch_.first()) west_of(layer, row, west);
        if (patch_.last()) east_of(layer, row, east);
        unrolled<width>([&](auto cell) {
          constexpr int k = decltype(cell)::value;
          surroundings<T> s{};
          s.centre = centre.cell[k];
          const T low = of_layer<i - 1>(m, b, r).cell[k];
          const T high = b.after[i][r].cell[k];
          if constexpr (Dimensions == 3) {
            s.below = low;
            s.above = high;
            if constexpr (r == 0)
              s.north = b.north[i].cell[k];
            else
              s.north = of_layer<i>(m, b, r - 1).cell[k];
            if constexpr (r + 1 == rows)
              s.south = b.south[i].cell[k];
            else
              s.south = of_layer<i>(m, b, r + 1).cell[k];
          } else {
            s.north = low;
            s.south = high;
          }
          if constexpr (k == 0)
            s.west = west;
          else
            s.west = centre.cell[k - 1];
          if constexpr (k + 1 == width)
            s.east = east;
          else
            s.east = centre.cell[k + 1];
          made[i][r].cell[k] = relaxed<Dimensions>(weight_, s);
          if constexpr (Check)
            if (i < m.left && updated(r, k)) note_difference(s.centre, made[i][r].cell[k], change);
        });
      });
    });
  }

  // A layer of this phase as it was; -1: the one before.
  template <int I, int Layers>
  STARLING_HD static const vector& of_layer(const march& m, const beside<Layers>& b, int r) {
    if constexpr (I < 0)
      return m.before[r];
    else if constexpr (I == 0)
      return m.centre[r];
    else
      return b.after[I - 1][r];
  }

  STARLING_HD bool updated(int r, int k) const { return (updated_ >> (r * width + k) & 1) != 0; }

  template <int Layers>
  STARLING_HD void store(const march& m, const tile_layout& l, const vector (&made)[Layers][rows]) const {
    constexpr unsigned whole = (1u << rows * width) - 1;
    if (updated_ == whole && m.left >= Layers) {
      unrolled<Layers>([&](auto i) {
        unrolled<rows>(
            [&](auto r) { *reinterpret_cast<vector*>(m.at + i * l.stride[along] + r * l.stride[1]) = made[i][r]; });
      });
      return;
    }
    unrolled<Layers>([&](auto i) {
      if (i >= m.left) return;
      unrolled<rows>([&](auto r) {
        T* p = m.at + i * l.stride[along] + r * l.stride[1];
        unrolled<width>([&](auto k) {
          if (updated(r, k)) p[k] = made[i][r].cell[k];
        });
      });
    });
  }

  template <int Layers>
  STARLING_HD static void advance(march& m, const tile_layout& l, const beside<Layers>& b) {
    unrolled<rows>([&](auto r) {
      m.before[r] = of_layer<Layers - 1>(m, b, r);
      m.centre[r] = b.after[Layers - 1][r];
    });
    const int done = m.left < Layers ? m.left : Layers;
    m.at += done * l.stride[along];
    m.left -= done;
  }

  const coefficients<T>& weight_;
  const cells& cells_;
  const patch<T, Dimensions>& patch_;
  unsigned updated_;  // a bit for each cell of a layer of the patch
  int low_;
  int high_;
  int cut_;
};

}  // namespace starling::stencil
