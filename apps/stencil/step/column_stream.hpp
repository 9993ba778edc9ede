// The interior of a box on a GPU. A thread goes along columns of cells, as many side by side as 16 bytes hold: along z
// in three dimensions, along y in two. What it has loaded of its columns stays in registers until the step has passed,
// so that a cell comes from memory once; its neighbours beside the columns were loaded by other threads of the block at
// about the same time, and are in the L1 cache.
//
// Rows start at multiples of 16 bytes and have room up to one. Vectors at the ends of a row may hold cells that are not
// the interior's: these are loaded and not used.
//
// A step that goes backwards begins where the one before ended: what that one stored last may still be in the second
// cache.
#pragma once

#include "starling/base/index.hpp"
#include "starling/device/loops.hpp"
#include "stencil/core/cell_vector.hpp"
#include "stencil/core/relax.hpp"

namespace starling::stencil {

// Into how many segments threads cut columns of a length, so that all threads have work to the end. A thread loads two
// cells more for each segment.
constexpr int segments_for(int columns, int length, int threads) {
  constexpr int most = 32;
  int best = 1;
  int least = 0;
  for (int segments = 1; segments <= (threads > 1 ? most : 1); ++segments) {
    const int rounds = (columns * segments + threads - 1) / threads;
    const int cells = rounds * ((length + segments - 1) / segments + 2);
    if (segments > 1 && cells >= least) continue;
    least = cells;
    best = segments;
  }
  return best;
}

// Cells of a column that are under way at once. So many that the loads of 512 threads hide the way to memory.
template <class T, int Dimensions>
inline constexpr int cells_at_once = Dimensions == 2 || sizeof(T) == 4 ? 4 : 2;

// Backwards: from the columns' ends to their beginnings, and what is first otherwise comes last.
template <class T, int Dimensions, bool Backwards = false, int AtOnce = cells_at_once<T, Dimensions>>
class column_stream {
 public:
  static constexpr int width = cell_vector<T>::width;
  static constexpr int at_once = AtOnce;

  using vector = cell_vector<T>;

  STARLING_HD column_stream(const coefficients<T>& w, const T* in, T* out, index_t layer, index_t pitch)
      : weight_(w), in_(target::in_memory(in)), out_(target::in_memory(out)), layer_(layer), pitch_(pitch) {}

  STARLING_HD static int vectors(index_range xs) {
    return static_cast<int>(ceil_div(xs.end, index_t{width})) - first_vector(xs);
  }

  // All cells of the ranges, shared among `members` threads. Each column is cut into so many segments.
  template <bool Check>
  STARLING_HD void run(int member, int members, index_range zs, index_range ys, index_range xs, int segments,
                       T& change) const {
    const index_range along = Dimensions == 3 ? zs : ys;
    const int first = first_vector(xs);
    const int vectors = column_stream::vectors(xs);
    const int rows = Dimensions == 3 ? static_cast<int>(ys.size()) : 1;
    const int columns = vectors * rows;
    const int rounds = (columns * segments + members - 1) / members;
    for (int round = 0; round < rounds; ++round) {
      const int i = member + (Backwards ? rounds - 1 - round : round) * members;
      if (i >= columns * segments) continue;
      const int segment = i / columns;
      const int column = i - segment * columns;
      const int row = column / vectors;
      const index_t x = static_cast<index_t>(first + column - row * vectors) * width;
      const index_t at = x + (Dimensions == 3 ? (ys.begin + row) * pitch_ : zs.begin * layer_);
      const index_range mine = segments == 1 ? index_range{0, along.size()} : share(along.size(), segments, segment);
      if (mine.empty()) continue;
      const int from = x < xs.begin ? static_cast<int>(xs.begin - x) : 0;
      const int to = xs.end - x < width ? static_cast<int>(xs.end - x) : width;
      const index_t begin = at + (Backwards ? along.begin + mine.end - 1 : along.begin + mine.begin) * pitch_along();
      column_of<Check>(begin, static_cast<int>(mine.size()), from, to, change);
    }
  }

  // n cells of the columns in a vector from `at` in the array on, of which [from, to) are the interior's; N: nearly
  // always so many.
  template <bool Check, int N>
  STARLING_HD void column(index_t at, int n, int from, int to, T& change) const {
    static_assert(N % at_once == 0);
    if (n == N)
      whole_column<Check, N>(at, from, to, change);
    else
      column_of<Check>(at, n, from, to, change);
  }

 private:
  STARLING_HD static int first_vector(index_range xs) {
    return static_cast<int>(xs.begin >= 0 ? xs.begin / width : -ceil_div(-xs.begin, index_t{width}));
  }
  // What is beside a cell of the column, on each side of it.
  struct beside {
    vector north, south;  // three dimensions only
    T west, east;
  };

  // From a cell of a column to the next one in the array, and to the next one that is gone to.
  STARLING_HD index_t pitch_along() const { return Dimensions == 3 ? layer_ : pitch_; }
  STARLING_HD index_t stride() const { return Backwards ? -pitch_along() : pitch_along(); }
  STARLING_HD static vector load(const T* p) { return *reinterpret_cast<const vector*>(p); }

  // N vectors one after the other, without a look at what is left. Cells that are not the interior's stay as they are.
  template <bool Check, int N>
  STARLING_HD void whole_column(index_t at, int from, int to, T& change) const {
    const T* in = in_ + at;
    T* out = out_ + at;
    vector before = load(in - stride());
    vector centre = load(in);
    for (int done = 0; done < N; done += at_once) {
      vector after[at_once];
      beside sides[at_once];
      unrolled<at_once>([&](auto k) { after[k] = load(in + (k + 1) * stride()); });
      unrolled<at_once>([&](auto k) { sides[k] = load_beside(in + k * stride()); });
      target::ask_first();
      unrolled<at_once>([&](auto k) {
        vector made = step<Check>(before, centre, after[k], sides[k], from, to, change);
        unrolled<width>([&](auto c) {
          if (c < from || c >= to) made.cell[c] = centre.cell[c];
        });
        *reinterpret_cast<vector*>(out + k * stride()) = made;
        before = centre;
        centre = after[k];
      });
      in += at_once * stride();
      out += at_once * stride();
    }
  }

  STARLING_HD beside load_beside(const T* p) const {
    beside b{};
    b.west = p[-1];
    b.east = p[width];
    if constexpr (Dimensions == 3) {
      b.north = load(p - pitch_);
      b.south = load(p + pitch_);
    }
    return b;
  }

  // n vectors one after the other, of which the cells [from, to) are the interior's.
  template <bool Check>
  STARLING_HD void column_of(index_t at, int n, int from, int to, T& change) const {
    const T* in = in_ + at;
    T* out = out_ + at;
    vector before = load(in - stride());
    vector centre = load(in);
    for (int left = n; left > 0; left -= at_once) {
      vector after[at_once];
      beside sides[at_once];
      // Past the column's end the last one is loaded again: no branch stands between the loads.
      unrolled<at_once>([&](auto k) {
        constexpr int i = decltype(k)::value;
        after[i] = load(in + (i < left ? i + 1 : left) * stride());
      });
      unrolled<at_once>([&](auto k) {
        constexpr int i = decltype(k)::value;
        sides[i] = load_beside(in + (i < left ? i : left - 1) * stride());
      });
      unrolled<at_once>([&](auto k) {
        constexpr int i = decltype(k)::value;
        if (i < left) {
          const vector made = step<Check>(before, centre, after[i], sides[i], from, to, change);
          keep(out + i * stride(), made, from, to);
        }
        before = centre;
        centre = after[i];
      });
      in += at_once * stride();
      out += at_once * stride();
    }
  }

  template <bool Check>
  STARLING_HD vector step(const vector& before, const vector& centre, const vector& after, const beside& sides,
                          int from, int to, T& change) const {
    const vector& low = Backwards ? after : before;
    const vector& high = Backwards ? before : after;
    vector made;
    unrolled<width>([&](auto k) {
      constexpr int i = decltype(k)::value;
      surroundings<T> s{};
      s.centre = centre.cell[i];
      if constexpr (Dimensions == 3) {
        s.below = low.cell[i];
        s.above = high.cell[i];
        s.north = sides.north.cell[i];
        s.south = sides.south.cell[i];
      } else {
        s.north = low.cell[i];
        s.south = high.cell[i];
      }
      if constexpr (i == 0)
        s.west = sides.west;
      else
        s.west = centre.cell[i - 1];
      if constexpr (i + 1 == width)
        s.east = sides.east;
      else
        s.east = centre.cell[i + 1];
      made.cell[i] = relaxed<Dimensions>(weight_, s);
      if constexpr (Check)
        if (i >= from && i < to) note_difference(s.centre, made.cell[i], change);
    });
    return made;
  }

  STARLING_HD static void keep(T* out, const vector& made, int from, int to) {
    if (from == 0 && to == width) {
      *reinterpret_cast<vector*>(out) = made;
      return;
    }
    unrolled<width>([&](auto k) {
      constexpr int i = decltype(k)::value;
      if (i >= from && i < to) out[i] = made.cell[i];
    });
  }

  coefficients<T> weight_;
  const T* in_;
  T* out_;
  index_t layer_;
  index_t pitch_;
};

}  // namespace starling::stencil
