// Products by tiles: a PE's rows in numbered parts of about equally much work, as matrix::dealt_to cuts them, any of
// which any block may take. For vectors that every PE has whole.
#pragma once

#include "sparse/product.hpp"

namespace starling::sparse {

template <class T>
class tile_product {
 public:
  // By every block of the kernel. `a`: of a partition into as many parts as there are tiles.
  STARLING_HD tile_product(block& b, const matrix_data<T>& a)
      : threads_(b.all_threads()), rows_(b.scratch<block_rows<T>>(1)) {
    T* row_buffer = nullptr;
    if (target::on_gpu && a.how == storage::compressed)
      row_buffer = b.scratch<T>(index_t{b.warp().count()} * row_block::most_entries);
    if (b.member() == 0) {
      *rows_ = {};
      rows_->a = a;
      rows_->pe = b.pe();
      rows_->own = *a.own.on(b.pe());
      rows_->row_buffer = row_buffer;
    }
    b.sync();
  }

  // Bytes of scratch that one takes, with so many warps in a block of a GPU; virtual devices take no buffers.
  static std::size_t scratch_bytes(int warps, bool compressed) {
    const std::size_t buffers = compressed ? static_cast<std::size_t>(warps) * row_block::most_entries * sizeof(T) : 0;
    return sizeof(block_rows<T>) + buffers + 32;
  }

  // out[i] = what C makes of row i and x, for the tile's rows i of the PE, numbered from 0. The threads of the block
  // see it afterwards.
  template <class C, entry_values Values>
  STARLING_HD void multiply(index_t tile, const T* x, T* out) const {
    multiply_tile<C, Values>(*this, tile, x, out);
  }

 private:
  template <class C, entry_values Values>
  STARLING_HD static void multiply_tile(tile_product k, index_t tile, const T* x, T* out) {
    const block_threads t = k.threads_;
    const block_rows<T>& rows = *k.rows_;
    const block_plan& plan = rows.a.plans.on(rows.pe)[tile];
    T* first = out + plan.first_row;
    sparse::multiply<C, Values>(t.thread(), rows, plan, x, first, which_parts::all);
    t.sync();
    if (plan.long_rows == 0) return;
    sum_pieces<C>(t.thread(), rows, plan, first);
    t.sync();
  }

  block_threads threads_;
  block_rows<T>* rows_;
};

}  // namespace starling::sparse
