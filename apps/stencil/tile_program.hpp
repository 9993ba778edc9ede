// What a block of `resident` and `temporal` does: takes, computes, sends, step after step. Included where its kernels
// are made.
#pragma once

#include <type_traits>

#include "starling/device/block.hpp"
#include "stencil/one_array_sweep.hpp"
#include "stencil/resident_kernels.hpp"
#include "stencil/tile_edges.hpp"
#include "stencil/tile_faces.hpp"
#include "stencil/tile_memory_sweep.hpp"

namespace starling::stencil {

// One block's part.
template <class T, int Dimensions, bool OneArray, bool Streams, bool Faces>
class tile_program {
 public:
  using cells = tile_cells<T, Dimensions, Streams>;
  using share = std::conditional_t<OneArray, patch<T, Dimensions>, columns<Dimensions>>;
  using edges = std::conditional_t<Faces, tile_faces<T, Dimensions, OneArray, Streams>,
                                   tile_edges<T, Dimensions, OneArray, Streams>>;
  static constexpr int arrays = OneArray ? 1 : 2;

  STARLING_HD tile_program(block& b, const resident_arguments<T>& a)
      : b_(b),
        a_(a),
        mine_(*b.scratch<tile>(1)),
        memory_(Streams ? a.memory.on(b.pe()) + b.index() * a.grid.memory_elements() : nullptr),
        edges_(b, a.grid, a.mail),
        chip_(b.scratch<T>(arrays * a.grid.chip.elements)) {}

  STARLING_HD void run() {
    if (b_.member() == 0) mine_ = tile_of(a_.f.shape, a_.grid, *a_.f.own.on(b_.pe()), b_.index());
    b_.sync();
    edges_.plan(a_.f.shape, mine_, a_.compute);
    load();
    const share mine = share_of_tile();
    if constexpr (Streams && !OneArray) segments_ = memory_sweep<T, Dimensions>::segments(mine_, a_.grid, b_.members());
    index_t message = a_.first_message;
    edges_.send(message, array(0));
    double checked = 0;
    int until_exchange = 0;
    index_t until_check = a_.check_every;
    index_t left = a_.steps;
    for (int now = 0; left > 0;) {
      const int next = OneArray || !a_.compute ? now : 1 - now;
      const cells in = array(now);
      const cells out = array(next);
      if (until_exchange == 0) {
        // Held cells of the ring have to be in both arrays. Before the first step nobody reads the other one.
        edges_.take(message, in, out, !OneArray && left == a_.steps);
        until_exchange = a_.grid.depth;
      }
      --until_exchange;
      --left;
      b_.any(false);  // a barrier that ends the threads whose block has lost some in a wait
      const bool check = --until_check == 0;
      const bool send = until_exchange == 0 && left > 0;
      if constexpr (edges::ahead)
        if (send) edges_.send_next(++message, in, a_.f.weight);
      T change = 0;
      if (a_.compute) sweep(mine, until_exchange, in, out, check, change);
      if constexpr (!edges::ahead) {
        if (send && !OneArray) b_.sync();
        if (send) edges_.send(++message, out);
      }
      now = next;
      if (!check) continue;
      until_check = a_.check_every;
      checked = static_cast<double>(b_.all_reduce(b_.reduce(change, maximum{}), maximum{}));
      if (checked <= a_.tolerance) break;
    }
    const index_t steps = a_.steps - left;
    b_.sync();
    store(steps, array(OneArray || !a_.compute ? 0 : static_cast<int>(steps % 2)));
    if (b_.pe() == 0 && b_.index() == 0 && b_.member() == 0) *a_.status.on(0) = {a_.first + steps, checked};
  }

 private:
  STARLING_HD cells array(int which) const {
    return {chip_ + which * a_.grid.chip.elements, memory_ + which * a_.grid.memory.elements, a_.grid};
  }
  STARLING_HD share share_of_tile() const {
    if constexpr (OneArray)
      return {mine_, a_.grid.depth - 1, b_.member(), b_.members()};
    else
      return {mine_, a_.grid.depth - 1, b_.member(), b_.members(), a_.grid.layers_on_chip};
  }
  // Held cells have to be in both arrays: no step writes them.
  STARLING_HD void load() {
    const T* from = a_.f.u[a_.first % 2].on(b_.pe());
    const cells first = array(0);
    const cells second = array(arrays - 1);
    each_cell([&](int z, int y, int x, index_t at) {
      const T value = from[at];
      *first.at(z, y, x) = value;
      if constexpr (!OneArray) *second.at(z, y, x) = value;
    });
    b_.sync();
  }

  STARLING_HD void store(index_t steps, const cells& now) const {
    T* to = a_.f.u[(a_.first + steps) % 2].on(b_.pe());
    each_cell([&](int z, int y, int x, index_t at) { to[at] = *now.at(z, y, x); });
  }

  // f(z, y, x, place in the PE's array) for the tile's own cells.
  template <class F>
  STARLING_HD void each_cell(const F& f) const {
    const index_t* stride = a_.f.shape.stride;
    const index_t first = mine_.first[0] * stride[0] + mine_.first[1] * stride[1] + mine_.first[2];
    const index_range zs{0, mine_.extent[0]};
    b_.for_each(zs, {0, mine_.extent[1]}, {0, mine_.extent[2]}, [&](index_t z, index_t y, index_t x) {
      f(static_cast<int>(z), static_cast<int>(y), static_cast<int>(x), first + z * stride[0] + y * stride[1] + x);
    });
  }

  STARLING_HD void sweep(const share& mine, int reach, const cells& in, const cells& out, bool check, T& change) const {
    if (check)
      sweep<true>(mine, reach, in, out, change);
    else
      sweep<false>(mine, reach, in, out, change);
  }

  template <bool Check>
  STARLING_HD void sweep(const share& mine, int reach, const cells& in, const cells& out, T& change) const {
    const coefficients<T>& w = a_.f.weight;
    if constexpr (OneArray) {
      one_array_sweep<T, Dimensions, Streams>(w, mine_, in, mine, reach).template run<Check>(b_, change);
    } else if constexpr (target::on_gpu) {
      if constexpr (Streams)
        memory_sweep<T, Dimensions>(w, mine_, in, out)
            .template run<Check>(b_.member(), b_.members(), segments_, reach, change);
      two_array_sweep<T, Dimensions, Streams>(w, mine_, in, out).template run<Check>(mine, reach, change);
    } else {
      two_array_sweep<T, Dimensions, Streams>(w, mine_, in, out).template run_rows<Check>(b_, reach, change);
    }
  }

  block& b_;
  const resident_arguments<T>& a_;
  tile& mine_;
  T* memory_;
  edges edges_;
  T* chip_;
  int segments_ = 1;  // of a column in memory
};

template <class T, int Dimensions, bool OneArray, bool Streams, bool Faces>
struct resident {
  resident_arguments<T> a;
  static constexpr int max_threads = resident_most_threads;
  STARLING_HD void operator()(block& b) const { tile_program<T, Dimensions, OneArray, Streams, Faces>(b, a).run(); }
};

template <bool Faces, class T, int Dimensions>
kernel of_tiling(const resident_arguments<T>& a) {
  if (a.grid.in_place && a.grid.streams) return make_kernel(resident<T, Dimensions, true, true, Faces>{a});
  if (a.grid.in_place) return make_kernel(resident<T, Dimensions, true, false, Faces>{a});
  if (a.grid.streams) return make_kernel(resident<T, Dimensions, false, true, Faces>{a});
  return make_kernel(resident<T, Dimensions, false, false, Faces>{a});
}

// The program for tiles whose edges travel so.
template <bool Faces, class T>
kernel tile_kernel(const resident_arguments<T>& a) {
  return a.f.shape.active[0] ? of_tiling<Faces, T, 3>(a) : of_tiling<Faces, T, 2>(a);
}

}  // namespace starling::stencil
