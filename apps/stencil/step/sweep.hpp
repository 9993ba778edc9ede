// One step of a star stencil on one PE, for kernels: the interior, which needs no other PE, and the faces, which do.
#pragma once

#include <type_traits>

#include "starling/device/block.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/step/column_stream.hpp"
#include "stencil/step/interior_loop.hpp"
#include "stencil/step/tile_queue.hpp"

namespace starling::stencil {

// Calls f(axis) with the axis as a compile-time constant, so that a face's cells are indexed without memory.
template <int Dimensions, class F>
STARLING_HD void with_axis(int axis, const F& f) {
  if constexpr (Dimensions == 3) {
    if (axis == 0) return f(std::integral_constant<int, 0>());
  }
  if (axis == 1) return f(std::integral_constant<int, 1>());
  f(std::integral_constant<int, 2>());
}

// What a step of one PE reads and writes. Made once per step; holds by value what the loops use.
template <class T, int Dimensions>
class sweep {
 public:
  // The step that makes `time_level`. check: find the largest change.
  STARLING_HD sweep(const fields<T>& f, const box& own, int pe, index_t time_level, bool compute, bool check)
      : own_(own),
        in_(f.u[(time_level - 1) % 2].on(pe)),
        out_(f.u[time_level % 2].on(pe)),
        weight_(f.weight),
        counter_(f.tile_counter),
        steps_queued_before_(static_cast<std::uint32_t>(time_level - 1 - f.counter_reset_at)),
        layer_(f.shape.stride[0]),
        pitch_(f.shape.stride[1]),
        compute_(compute),
        check_(check),
        backwards_(time_level % 2 == 0) {}

  STARLING_HD const box& own() const { return own_; }
  STARLING_HD const T* in() const { return in_; }
  STARLING_HD T* out() const { return out_; }
  STARLING_HD const coefficients<T>& weight() const { return weight_; }
  STARLING_HD bool computes() const { return compute_; }
  STARLING_HD bool checks() const { return check_; }
  STARLING_HD index_t offset(const cell& c) const { return c.at[0] * layer_ + c.at[1] * pitch_ + c.at[2]; }
  STARLING_HD index_t stride(int axis) const { return axis == 0 ? layer_ : axis == 1 ? pitch_ : 1; }

  // A cell of a face: what does not change from step to step.
  struct face_cell {
    cell c;
    index_t at;           // where it is in memory
    unsigned neighbours;  // bit 2a + s: the neighbour along axis a on side s is in this PE's memory
    bool updated;
    bool kept;  // this face owns it
  };

  template <int Axis>
  STARLING_HD face_cell cell_of(int side, index_t i) const {
    face_cell f{};
    f.c = own_.template face_cell<Axis>(side, i);
    f.at = offset(f.c);
    f.updated = compute_ && own_.is_updated(f.c);
    f.kept = own_.template owned_by_face<Axis>(side, f.c);
    for (int a = axes - Dimensions; a < axes; ++a) {
      if (f.c.at[a] > 0) f.neighbours |= 1u << (2 * a);
      if (f.c.at[a] < own_.extent[a] - 1) f.neighbours |= 2u << (2 * a);
    }
    return f;
  }

  // What this PE's memory tells of a cell's neighbourhood. Gathered before the neighbours' values are awaited, so that
  // the loads run meanwhile.
  struct neighbourhood {
    T centre;
    T low[axes];
    T high[axes];
  };

  STARLING_HD neighbourhood gather(const face_cell& f) const {
    neighbourhood n{};
    const T* in = in_ + f.at;
    n.centre = *in;
    if (!f.updated) return n;
    unrolled<Dimensions>([&](auto k) {
      constexpr int a = axes - Dimensions + decltype(k)::value;
      if ((f.neighbours & (1u << (2 * a))) != 0) n.low[a] = *(in - stride(a));
      if ((f.neighbours & (2u << (2 * a))) != 0) n.high[a] = *(in + stride(a));
    });
    return n;
  }

  // Computes the cell and keeps it if the face owns it; the neighbour wants the value. `beyond` is the neighbour's cell
  // across the face, received(face, i) gives those across other faces.
  template <int Axis, class Received>
  STARLING_HD T finish(int side, const face_cell& f, const neighbourhood& n, T beyond, const Received& received,
                       T& change) const {
    T value = n.centre;
    if (f.updated) {
      const auto across = [&](int axis, int s) {
        return axis == Axis && s == side ? beyond : received(2 * axis + s, own_.face_index(axis, f.c));
      };
      value = weight_.centre * n.centre;  // the order of the additions is the problem's
      unrolled<Dimensions>([&](auto k) {
        constexpr int a = axes - Dimensions + decltype(k)::value;
        value = value + weight_.low[a] * ((f.neighbours & (1u << (2 * a))) != 0 ? n.low[a] : across(a, 0));
        value = value + weight_.high[a] * ((f.neighbours & (2u << (2 * a))) != 0 ? n.high[a] : across(a, 1));
      });
    }
    if (check_) note_difference(n.centre, value, change);
    if (f.kept) out_[f.at] = value;
    return value;
  }

  // The part of the interior that the index-th of the blocks has which share the cut; Dynamic: the tiles that it takes
  // from the queue.
  template <bool Dynamic>
  STARLING_HD void interior(const block& b, const interior_partition& cut, int index, tile_queue<T>* queue,
                            T& change) const {
    if (!compute_) return;
    if constexpr (Dynamic) {
      if (check_)
        change = maximum{}(change, dynamic_tiles<true>(b, cut, index, queue));
      else
        dynamic_tiles<false>(b, cut, index, queue);
    } else if (index < cut.tiles()) {
      const interior_tile tile = cut.tile(own_, index);
      if (tile.empty()) return;
      if (check_)
        interior<true>(b, tile, cut.segments, change);
      else
        interior<false>(b, tile, cut.segments, change);
    }
  }

 private:
  // The largest change.
  template <bool Check>
  STARLING_HD T dynamic_tiles(const block& b, const interior_partition& cut, int index, tile_queue<T>* queue) const {
    if (b.member() == 0)
      queue->begin({in_, out_, layer_, pitch_}, own_, counter_.on(b.pe()), steps_queued_before_, cut);
    return run_queue<Dimensions, Check>(b.all_threads(), weight_, counter_, own_, cut, index, queue);
  }

  // Check is known when compiled: without it the loop has no reduction and vectorises.
  template <bool Check>
  STARLING_HD void interior(const block& b, const interior_tile& tile, int segments, T& change) const {
    if constexpr (target::on_gpu) {
      if (backwards_)
        columns<Check, true>(b, tile, segments, change);
      else
        columns<Check, false>(b, tile, segments, change);
    } else {
      loop_interior<Check, Dimensions>(b, tile, weight_, {in_, out_, layer_, pitch_}, change);
    }
  }

  template <bool Check, bool Backwards>
  STARLING_HD void columns(const block& b, const interior_tile& tile, int segments, T& change) const {
    column_stream<T, Dimensions, Backwards>(weight_, in_, out_, layer_, pitch_)
        .template run<Check>(b.member(), b.members(), tile.zs, tile.ys, tile.xs, segments, change);
  }

  const box& own_;
  const T* in_;
  T* out_;
  coefficients<T> weight_;
  sym<std::uint32_t> counter_;
  std::uint32_t steps_queued_before_;  // from the queue
  index_t layer_;
  index_t pitch_;
  bool compute_;
  bool check_;
  bool backwards_;
};

}  // namespace starling::stencil
