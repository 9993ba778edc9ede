// What a block of `resident` does whose tile spills: its warps take, make their bands, send, step after step.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/spilling_tiles/spilling_links.hpp"
#include "stencil/tiles/register_sweep.hpp"
#include "stencil/tiles/resident_kernels.hpp"

namespace starling::stencil {

// Block: block, or what plays one; so Lanes.
// Products, Whole: as spilling_band says.
template <class T, int RegisterRows, bool Products, bool Whole, class Block = block, class Lanes = lanes_of_warp>
class spilling_program {
 public:
  using band = spilling_band<T, RegisterRows, Products, Whole>;
  using band_links = spilling_links<T, band, Block>;

  STARLING_HD spilling_program(Block& b, const resident_arguments<T>& a, const Lanes& lanes = {})
      : b_(b),
        a_(a),
        lanes_(lanes),
        mine_(*b.template scratch<tile>(1)),
        links_(b, a.grid, a.packet_buffer),
        places_(b.template scratch<spilling_place>(a.grid.spilling.count)),
        shared_(b.template scratch<T>(a.grid.spilling.elements(cell_vector<T>::width))) {}

  STARLING_HD void run() {
    if (b_.member() == 0) mine_ = tile_of(a_.f.shape, a_.grid, *a_.f.own.on(b_.pe()), b_.index());
    links_.plan(a_.f.shape);
    const int rows = mine_.extent[1];
    for (int i = b_.member(); i < a_.grid.spilling.count; i += b_.members())
      places_[i] = place_of_band(a_.grid.spilling, i, rows, mine_.begin(1, 0) > 0, mine_.end(1, 0) < rows, band::width,
                                 band_links::each_packet);
    b_.sync();
    const index_t in_memory = a_.grid.memory_elements;
    T* memory = in_memory > 0 ? a_.memory.on(b_.pe()) + b_.index() * in_memory : nullptr;
    band mine(a_.f.weight, mine_, a_.grid, places_, shared_, memory, b_.member(), lanes_);
    const index_t row = a_.f.shape.stride[1];
    const index_t first = mine_.first[0] * a_.f.shape.stride[0] + mine_.first[1] * row + mine_.first[2];
    mine.load(a_.f.u[a_.first % 2].on(b_.pe()) + first, row);
    b_.sync();
    index_t message = a_.first_message;
    const int pieces = mine.pieces();
    for (int i = 0; i < pieces; ++i) links_.send(message, links_.slot(message), mine.piece(i), mine, lanes_);
    lanes_.sync();  // what they take goes where they have read what they sent
    double checked = 0;
    index_t until_check = a_.check_every;
    index_t left = a_.steps;
    while (left > 0) {
      --left;
      const bool check = --until_check == 0;
      const int slot = links_.slot(message);
      const int next_slot = links_.slot(message + 1);
      auto cursor = mine.begin(check);
      for (int i = 0; i < pieces; ++i) {
        const spilling_piece piece = mine.piece(i);
        links_.take(message, slot, piece, mine, lanes_);
        if (a_.compute) mine.make(piece, cursor, lanes_);
        if (left > 0) links_.send(message + 1, next_slot, piece, mine, lanes_);
      }
      ++message;
      b_.any(false);  // a barrier that ends the threads whose block has lost some in a wait
      if (!check) continue;
      until_check = a_.check_every;
      checked = static_cast<double>(b_.all_reduce(b_.reduce(cursor.change, maximum{}), maximum{}));
      b_.sync();  // tells the compiler that lanes are together again
      if (lanes_.uniform(checked <= a_.tolerance ? 1 : 0) != 0) break;
    }
    const index_t steps = a_.steps - left;
    mine.store(a_.f.u[(a_.first + steps) % 2].on(b_.pe()) + first, row);
    if (b_.pe() == 0 && b_.index() == 0 && b_.member() == 0) *a_.status.on(0) = {a_.first + steps, checked};
  }

 private:
  Block& b_;
  const resident_arguments<T>& a_;
  Lanes lanes_;
  tile& mine_;
  band_links links_;
  spilling_place* places_;
  T* shared_;
};

}  // namespace starling::stencil
