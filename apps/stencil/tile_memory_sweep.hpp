// One step of a star stencil over those layers of a tile that are in memory, by all threads of a GPU's block. They are
// in two arrays, and come before what is on chip: the first of them needs the last layer on chip as it was.
#pragma once

#include "stencil/column_march.hpp"
#include "stencil/tile_sweep.hpp"

namespace starling::stencil {

// A step of the layers that are in memory.
template <class T, int Dimensions>
class memory_sweep {
 public:
  using march = column_march<T, Dimensions>;
  using cells = tile_cells<T, Dimensions, true>;
  static constexpr int along = columns<Dimensions>::along;

  STARLING_HD memory_sweep(const coefficients<T>& w, const tile& mine, const cells& in, const cells& out)
      : weight_(w), mine_(mine), in_(in), out_(out) {}

  // Into how many segments so many threads best cut their columns.
  STARLING_HD static int segments(const tile& mine, const tiling& t, int threads) {
    const auto rows = static_cast<int>(Dimensions == 3 ? range(mine, 1, 0).size() : 1);
    return segments_for(march::vectors(range(mine, 2, 0)) * rows, static_cast<int>(layers(mine, t, 0).size()), threads);
  }

  template <bool Check>
  STARLING_HD void run(int member, int members, int segments, int reach, T& change) const {
    const index_range own = layers(mine_, in_.t, reach);
    const index_range zs = Dimensions == 3 ? own : index_range{0, 1};
    const index_range ys = Dimensions == 3 ? range(mine_, 1, reach) : own;
    const index_range xs = range(mine_, 2, reach);
    if (zs.empty() || ys.empty() || xs.empty()) return;
    const auto before = [&](index_t y, index_t x, T(&cells_before)[march::width]) {
      const int layer = static_cast<int>(own.begin) - 1;
      unrolled<march::width>([&](auto k) {
        const index_t at = x + k;
        const bool inside = at >= xs.begin && at < xs.end;
        cells_before[k] = inside ? *in_.in_layer(layer, static_cast<int>(y), static_cast<int>(at)) : T{};
      });
    };
    const tile_layout& l = in_.t.memory;
    march(weight_, in_.memory + l.origin, out_.memory + l.origin, l.stride[0], l.stride[1])
        .template run<Check>(member, members, zs, ys, xs, segments, change, before);
  }

 private:
  STARLING_HD static index_range range(const tile& mine, int axis, int reach) {
    return {mine.begin(axis, reach), mine.end(axis, reach)};
  }
  STARLING_HD static index_range layers(const tile& mine, const tiling& t, int reach) {
    index_range r = range(mine, along, reach);
    if (t.layers_on_chip > r.begin) r.begin = t.layers_on_chip;
    return r;
  }

  const coefficients<T>& weight_;
  const tile& mine_;
  const cells& in_;
  const cells& out_;
};

}  // namespace starling::stencil
