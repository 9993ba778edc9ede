// What a block of `resident` and `temporal` does: takes, computes, sends, step after step. Included where its kernels
// are made.
#pragma once

#include <iterator>
#include <type_traits>

#include "starling/device/block.hpp"
#include "stencil/core/gpu_kernel.hpp"
#include "stencil/tiles/double_buffered_sweep.hpp"
#include "stencil/tiles/in_place_sweep.hpp"
#include "stencil/tiles/register_sweep.hpp"
#include "stencil/tiles/resident_kernels.hpp"
#include "stencil/tiles/tile_edges.hpp"

namespace starling::stencil {

// How a block keeps its tile.
struct keeping {
  bool single_buffered = false;  // instead of two
  int band_rows = 0;             // of a warp's registers, which hold the cells; 0: they do not
  bool deep_halo = true;         // tiles may exchange less often than every step, and a thread may have many packets

  // Of cells in registers the array has enough for edges of one layer.
  constexpr bool ahead() const { return !single_buffered || (band_rows > 0 && !deep_halo); }
};

// Which cells a thread has, and where it keeps them itself, these too.
template <class T, int Dimensions, keeping Keeping>
struct share_of_tile {
  using type = columns<Dimensions>;
};
template <class T, keeping Keeping>
  requires(Keeping.band_rows > 0)
struct share_of_tile<T, 2, Keeping> {
  using type = register_sweep<T, Keeping.band_rows, Keeping.deep_halo>;
};
template <class T, keeping Keeping>
  requires(Keeping.single_buffered)
struct share_of_tile<T, 3, Keeping> {
  using type = in_place_columns<T>;
};

// One block's part.
template <class T, int Dimensions, keeping Keeping>
class tile_program {
 public:
  static constexpr bool single_buffered = Keeping.single_buffered;
  static constexpr bool in_registers = Keeping.band_rows > 0;
  using cells = tile_cells<T, Dimensions>;
  using share = typename share_of_tile<T, Dimensions, Keeping>::type;
  using edges = tile_edges<T, Dimensions, Keeping.ahead(), Keeping.deep_halo>;
  static constexpr int arrays = single_buffered ? 1 : 2;

  STARLING_HD tile_program(block& b, const resident_arguments<T>& a)
      : b_(b),
        a_(a),
        mine_(*b.scratch<tile>(1)),
        edges_(b, a.grid, a.packet_buffer),
        shared_(b.scratch<T>(arrays * a.grid.shared.elements)) {}

  STARLING_HD void run() {
    if (b_.member() == 0) mine_ = tile_of(a_.f.shape, a_.grid, *a_.f.own.on(b_.pe()), b_.index());
    // Cells of the ghost zone that nobody sends are loaded with the others, and not used.
    b_.for_each(arrays * a_.grid.shared.elements, [&](index_t i) { shared_[i] = 0; });
    edges_.plan(a_.f.shape, mine_, a_.compute);
    load();
    share mine = own_share();
    index_t message = a_.first_message;
    edges_.send(message, array(0));
    double checked = 0;
    int until_exchange = 0;
    index_t until_check = a_.check_every;
    index_t left = a_.steps;
    for (int now = 0; left > 0;) {
      const int next = single_buffered || !a_.compute ? now : 1 - now;
      const cells in = array(now);
      const cells out = array(next);
      const bool take = until_exchange == 0;
      if (take) {
        // Dirichlet cells of the ghost zone have to be in both arrays. Before the first step nobody reads the other
        // one.
        edges_.take(message, in, out, !single_buffered && left == a_.steps);
        until_exchange = a_.grid.depth;
      }
      b_.any(false);  // a barrier that ends the threads whose block has lost some in a wait
      if constexpr (in_registers)
        if (left == a_.steps || (Keeping.deep_halo && take)) mine.load();
      --until_exchange;
      --left;
      const bool check = --until_check == 0;
      const bool send = until_exchange == 0 && left > 0;
      if constexpr (edges::ahead)
        if (send) edges_.send_next(++message, in, a_.f.weight);
      T change = 0;
      if constexpr (in_registers) {
        if (a_.compute) {
          if constexpr (target::on_gpu)
            mine.step(lanes_of_warp(), check, change);
          else
            mine.step(lanes_in_check(b_.warp()), check, change);
          b_.sync();
          share_registers(mine, until_exchange == 0);
        }
      } else if (a_.compute) {
        sweep(mine, until_exchange, in, out, check, change);
      }
      if constexpr (!edges::ahead) {
        if (send && (in_registers || !single_buffered)) b_.sync();
        if (send) edges_.send(++message, out);
      }
      now = next;
      if (!check) continue;
      until_check = a_.check_every;
      checked = static_cast<double>(b_.all_reduce(b_.reduce(change, maximum{}), maximum{}));
      if (checked <= a_.tolerance) break;
    }
    const index_t steps = a_.steps - left;
    if constexpr (in_registers)
      if (a_.compute) mine.store();
    b_.sync();
    store(steps, array(single_buffered || !a_.compute ? 0 : static_cast<int>(steps % 2)));
    if (b_.pe() == 0 && b_.index() == 0 && b_.member() == 0) *a_.status.on(0) = {a_.first + steps, checked};
  }

 private:
  STARLING_HD cells array(int which) const { return {shared_ + which * a_.grid.shared.elements, a_.grid}; }
  STARLING_HD share own_share() const {
    if constexpr (in_registers)
      return {a_.f.weight, a_.uniform_weights, mine_, array(0), b_.member()};
    else
      return {mine_, a_.grid.depth - 1, b_.member(), b_.members()};
  }
  // Dirichlet cells have to be in both arrays: no step writes them.
  STARLING_HD void load() {
    const T* from = a_.f.u[a_.first % 2].on(b_.pe());
    const cells first = array(0);
    const cells second = array(arrays - 1);
    each_cell([&](int z, int y, int x, index_t at) {
      const T value = from[at];
      *first.at(z, y, x) = value;
      if constexpr (!single_buffered) *second.at(z, y, x) = value;
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

  // What others have to know of the cells in registers goes into the array.
  STARLING_HD void share_registers(const share& mine, bool before_exchange) const {
    if (Keeping.deep_halo && before_exchange)
      mine.store();
    else
      mine.share();
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
    if constexpr (single_buffered)
      in_place_sweep<T>(w, mine_, in, mine, reach).template run<Check>(b_, change);
    else if constexpr (target::on_gpu)
      double_buffered_sweep<T, Dimensions>(w, mine_, in, out).template run<Check>(mine, reach, change);
    else
      double_buffered_sweep<T, Dimensions>(w, mine_, in, out).template run_rows<Check>(b_, reach, change);
  }

  block& b_;
  const resident_arguments<T>& a_;
  tile& mine_;
  edges edges_;
  T* shared_;
};

template <class T, int Dimensions, keeping Keeping>
struct resident {
  resident_arguments<T> a;
  static constexpr int max_threads = resident_most_threads;
  STARLING_HD void operator()(block& b) const { tile_program<T, Dimensions, Keeping>(b, a).run(); }
};

// The program for tiles in registers, in bands of as many rows as the tiling says.
template <bool DeepHalo, class T>
kernel register_kernel(const resident_arguments<T>& a) {
  kernel found;
  unrolled<static_cast<int>(std::size(band_rows))>([&](auto i) {
    constexpr int rows = band_rows[decltype(i)::value];
    if constexpr (!DeepHalo || rows <= most_deep_halo_band_rows)
      if (a.grid.registers.rows == rows)
        found = make_gpu_kernel(
            resident<T, 2, keeping{.single_buffered = true, .band_rows = rows, .deep_halo = DeepHalo}>{a});
  });
  return found;
}

// The program for tiles in arrays.
template <class T>
kernel tile_kernel(const resident_arguments<T>& a) {
  if (a.grid.single_buffered) return make_gpu_kernel(resident<T, 3, keeping{.single_buffered = true}>{a});
  return a.f.shape.active[0] ? make_kernel(resident<T, 3, keeping{}>{a}) : make_kernel(resident<T, 2, keeping{}>{a});
}

}  // namespace starling::stencil
