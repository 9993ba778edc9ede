// One step of a star stencil over a tile that is kept in two arrays, which steps read and write in turn, by all threads
// of a group. Each thread goes down columns of cells: along z in three dimensions, along y in two. What it reads of its
// own column stays in its registers.
#pragma once

#include "starling/device/loops.hpp"
#include "stencil/tiles/tile_cells.hpp"

namespace starling::stencil {

// Which columns of the tile a thread has, and which layers of them: all that a loop over steps need not work out again.
template <int Dimensions>
class columns {
 public:
  static constexpr int along = Dimensions == 3 ? 0 : 1;  // the axis of the columns

  // For steps that leave at most `reach` layers of the ghost zone known.
  STARLING_HD columns(const tile& mine, int reach, int member, int members) : mine_(mine) {
    first_x_ = mine.begin(2, reach);
    width_ = mine.end(2, reach) - first_x_;
    const int first_row = Dimensions == 3 ? mine.begin(1, reach) : 0;
    const int rows = Dimensions == 3 ? mine.end(1, reach) - first_row : 1;
    if (width_ <= 0 || rows <= 0) return;
    const int count = width_ * rows;
    segments_ = members < count ? 1 : members / count;
    segment_ = members < count ? 0 : member / count;
    column_ = member - segment_ * count;
    row_ = first_row + column_ / width_;
    x_ = first_x_ + column_ % width_;
    rows_on_ = members / width_;
    x_on_ = members % width_;
    idle_ = segment_ >= segments_;
    last_row_ = first_row + rows;
    one_each_ = count <= members;
    layers_ = piece(mine.begin(along, reach), mine.end(along, reach));
  }

  struct layers {
    int begin = 0;
    int end = 0;
  };
  // Those of each of this thread's columns.
  STARLING_HD layers share() const { return layers_; }

  // Whether a step that leaves `reach` layers of the ghost zone computes the column.
  STARLING_HD bool has(int row, int x, int reach) const {
    return x >= mine_.begin(2, reach) && x < mine_.end(2, reach) &&
           (Dimensions == 2 || (row >= mine_.begin(1, reach) && row < mine_.end(1, reach)));
  }

  // f(row, x) for each of the thread's columns.
  template <class F>
  STARLING_HD void each(int reach, const F& f) const {
    if (idle_) return;
    if (one_each_) {
      if (has(row_, x_, reach)) f(row_, x_);
      return;
    }
    int x = x_;
    for (int row = row_; row < last_row_;) {
      if (has(row, x, reach)) f(row, x);
      row += rows_on_;
      x += x_on_;
      if (x >= first_x_ + width_) {
        x -= width_;
        ++row;
      }
    }
  }

 private:
  STARLING_HD layers piece(int begin, int end) const {
    const int each = (end - begin + segments_ - 1) / segments_;
    const int first = begin + segment_ * each;
    return {first, first + each < end ? first + each : end};
  }

  const tile& mine_;
  int first_x_ = 0;
  int width_ = 0;
  int column_ = 0;
  int row_ = 0;
  int x_ = 0;
  int rows_on_ = 0;
  int x_on_ = 0;
  int last_row_ = 0;
  int segment_ = 0;
  int segments_ = 1;
  layers layers_;
  bool idle_ = true;
  bool one_each_ = true;
};

// A step from one array to another.
template <class T, int Dimensions>
class double_buffered_sweep {
 public:
  using cells = tile_cells<T, Dimensions>;
  static constexpr int along = columns<Dimensions>::along;

  STARLING_HD double_buffered_sweep(const coefficients<T>& w, const tile& mine, const cells& in, const cells& out)
      : weight_(w), mine_(mine), in_(in), out_(out) {}

  template <bool Check>
  STARLING_HD void run(const columns<Dimensions>& c, int reach, T& change) const {
    c.each(reach, [&](int row, int x) { part<Check>(c.share(), reach, row, x, change); });
  }

  // The same by one thread that has all of the tile: rows are plain loops.
  template <bool Check, class Group>
  STARLING_HD void run_rows(const Group& g, int reach, T& change) const {
    const int rows_begin = Dimensions == 3 ? mine_.begin(1, reach) : 0;
    const int rows_end = Dimensions == 3 ? mine_.end(1, reach) : 1;
    const index_range xs{mine_.begin(2, reach), mine_.end(2, reach)};
    const int pitch = in_.t.shared.stride[1];
    for (int layer = mine_.begin(along, reach); layer < mine_.end(along, reach); ++layer) {
      for (int row = rows_begin; row < rows_end; ++row) {
        const T* here = in_.in_layer(layer, row, 0);
        const T* before = in_.in_layer(layer - 1, row, 0);
        const T* after = in_.in_layer(layer + 1, row, 0);
        T* to = out_.in_layer(layer, row, 0);
        g.for_each(xs, [&](index_t x) {
          surroundings<T> s{here[x], before[x], after[x], before[x], after[x], here[x - 1], here[x + 1]};
          if constexpr (Dimensions == 3) {
            s.north = here[x - pitch];
            s.south = here[x + pitch];
          }
          const T value = relaxed<Dimensions>(weight_, s);
          if constexpr (Check) note_difference(s.centre, value, change);
          to[x] = value;
        });
      }
    }
  }

 private:
  using layers = typename columns<Dimensions>::layers;
  static constexpr int at_once = 4;

  template <bool Check>
  STARLING_HD void part(layers mine, int reach, int row, int x, T& change) const {
    const int low = mine_.begin(along, reach);
    const int high = mine_.end(along, reach);
    const int begin = mine.begin > low ? mine.begin : low;
    const int end = mine.end < high ? mine.end : high;
    if (begin >= end) return;
    const tile_layout& l = in_.t.shared;
    column<Check>(in_.in_layer(begin, row, x), out_.in_layer(begin, row, x), end - begin, l.stride[along], l.stride[1],
                  change);
  }

  // n cells, `stride` apart.
  template <bool Check>
  STARLING_HD void column(const T* __restrict__ in, T* __restrict__ out, int n, int stride, int pitch,
                          T& change) const {
    T before = in[-stride];
    T centre = *in;
    int left = n;
    for (; left >= at_once; left -= at_once) {
      cells_of_column<at_once, Check>(in, out, before, centre, stride, pitch, change);
      in += at_once * stride;
      out += at_once * stride;
    }
    for (; left > 0; --left) {
      cells_of_column<1, Check>(in, out, before, centre, stride, pitch, change);
      in += stride;
      out += stride;
    }
  }

  // N cells one after the other. All loads come before the first store.
  template <int N, bool Check>
  STARLING_HD void cells_of_column(const T* __restrict__ in, T* __restrict__ out, T& before, T& centre, int stride,
                                   int pitch, T& change) const {
    const T after = in[N * stride];
    surroundings<T> s[N];
    unrolled<N>([&](auto k) {
      constexpr int i = decltype(k)::value;
      const T* p = in + i * stride;
      s[i].west = p[-1];
      s[i].east = p[1];
      if constexpr (Dimensions == 3) {
        s[i].north = p[-pitch];
        s[i].south = p[pitch];
      }
      s[i].centre = i == 0 ? centre : *p;
    });
    unrolled<N>([&](auto k) {
      constexpr int i = decltype(k)::value;
      T low = before;
      T high = after;
      if constexpr (i > 0) low = s[i - 1].centre;
      if constexpr (i + 1 < N) high = s[i + 1].centre;
      if constexpr (Dimensions == 3) {
        s[i].below = low;
        s[i].above = high;
      } else {
        s[i].north = low;
        s[i].south = high;
      }
      const T value = relaxed<Dimensions>(weight_, s[i]);
      if constexpr (Check) note_difference(s[i].centre, value, change);
      out[i * stride] = value;
    });
    before = s[N - 1].centre;
    centre = after;
  }

  const coefficients<T>& weight_;
  const tile& mine_;
  const cells& in_;
  const cells& out_;
};

}  // namespace starling::stencil
