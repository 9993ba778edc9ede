// What one block has at hand while it works on a linear system: its rows, its parts of the vectors, and the ways to
// publish a vector, to multiply the matrix with what was published, and to apply the preconditioner.
//
// In a persistent program blocks wait for each other by signals and packets; in launches of the host's each call is a
// part of some kernel, and the host's order stands for the waits.
#pragma once

#include "cg/product.hpp"
#include "cg/system.hpp"

namespace starling::cg {

// What of a block's data stays in its fast memory while a persistent program runs.
struct kept_data {
  std::uint32_t vectors = 0;  // bit v: vector v
  index_t entries = 0;        // stored entries of the matrix (blocks of 3 x 3)
};

template <class T>
class worker {
 public:
  // `products`: number of the last product. Every block of the kernel makes one.
  STARLING_HD worker(block& b, const system_data<T>& s, bool persistent, const kept_data& kept, std::uint64_t products)
      : b_(b),
        s_(s),
        persistent_(persistent),
        product_(products),
        rows_(b.scratch<block_rows<T>>(1)),
        vectors_(b.scratch<T*>(vector_count)) {
    const int pe = b.pe();
    T* row_buffer = nullptr;
    if (s.a.how == storage::compressed) row_buffer = b.scratch<T>(index_t{b.warp().count()} * chunk::most_entries);
    if (b.member() == 0) {
      *rows_ = {};
      rows_->a = s.a;
      rows_->pe = pe;
      rows_->plan = s.a.plans.on(pe)[b.index()];
      rows_->row_buffer = row_buffer;
      for (int v = 0; v < vector_count; ++v) vectors_[v] = home(v);
      if (s.m == preconditioner::none) {
        vectors_[vec_u] = vectors_[vec_r];
        vectors_[vec_q] = vectors_[vec_s];
        vectors_[vec_m] = vectors_[vec_w];
      }
    }
    b.sync();
    if (kept.vectors != 0) keep_vectors(kept.vectors);
    if (kept.entries > 0) keep_entries(kept.entries);
  }

  // Bytes of scratch that a worker takes beside what is kept.
  static std::size_t scratch_bytes(int warps, bool compressed) {
    const std::size_t buffers = compressed ? static_cast<std::size_t>(warps) * chunk::most_entries * sizeof(T) : 0;
    return sizeof(block_rows<T>) + vector_count * sizeof(T*) + buffers + 64;
  }

  // This block's part of a vector.
  STARLING_HD T* operator[](vector_name v) const { return vectors_[v]; }
  STARLING_HD index_t rows() const { return rows_->plan.rows; }
  STARLING_HD block& b() const { return b_; }
  STARLING_HD const system_data<T>& system() const { return s_; }
  STARLING_HD std::uint64_t products() const { return product_; }

  // Writes what was kept back to where the next launch finds it.
  STARLING_HD void write_back(std::uint32_t vectors) const {
    b_.sync();
    for (int v = 0; v < vector_count; ++v) {
      if ((vectors >> v & 1) == 0) continue;
      T* to = home(v);
      const T* from = vectors_[v];
      b_.for_each(rows(), [&](index_t i) { to[i] = from[i]; });
    }
  }

  // ---- products ----

  // Where the block's values of the next published vector go, before announce().
  STARLING_HD T* next_published() const { return own_published(product_ + 1) + rows_->plan.first_row; }

  // Tells those who read this block's values that they are there, and sends what other PEs need.
  STARLING_HD void announce() {
    ++product_;
    if (persistent_)
      b_.signal_set(s_.ready + b_.index(), product_, b_.pe());
    else
      b_.sync();
    const T* mine = own_published(product_);
    const send_entry* sends = s_.a.sends.on(b_.pe()) + rows_->plan.first_send;
    for (index_t i = b_.member(); i < rows_->plan.sends; i += b_.members()) {
      const send_entry e = sends[i];
      if (persistent_)
        b_.thread().template put_packets<T>(
            s_.boxes + ((product_ % 2) * s_.halo + e.box),
            [&](index_t) {
              packet_content<T> content{};
              content.element[0] = mine[e.row];
              return content;
            },
            1, product_, e.pe);
      else
        b_.thread().p(s_.published + (slot(product_) + e.column), mine[e.row], e.pe);
    }
  }

  // out = A times what was published last, for the block's rows; all threads of the block see it.
  STARLING_HD void product(vector_name out) const {
    const T* x = s_.published.on(b_.pe()) + slot(product_);
    T* to = vectors_[out];
    const block_plan& plan = rows_->plan;
    if (!persistent_) {
      multiply(b_.thread(), *rows_, x, to, which_parts::all);
    } else {
      take_boxes();
      if (plan.peers > 0) b_.wait_all(s_.ready + plan.first_peer, plan.peers, product_, b_.pe());
      multiply(b_.thread(), *rows_, x, to, plan.takers > 0 ? which_parts::own : which_parts::all);
      if (plan.takers > 0) {
        b_.wait_all(s_.taken + plan.first_taker, plan.takers, product_, b_.pe());
        multiply(b_.thread(), *rows_, x, to, which_parts::halo);
      }
    }
    if (plan.long_rows > 0) multiply_long_rows(b_, *rows_, x, to);
    b_.any(false);
  }

  // ---- the preconditioner ----

  // Whether M works on each row by itself, so that it can be applied while r is computed.
  STARLING_HD bool pointwise() const { return s_.m == preconditioner::none || s_.m == preconditioner::jacobi; }
  STARLING_HD T scaled(index_t i, T r) const { return s_.m == preconditioner::none ? r : m_values()[i] * r; }

  // out = M in for a block-diagonal M; all threads see `in` before and `out` after.
  STARLING_HD void multiply_blocks(vector_name in, vector_name out) const {
    const index_t size = s_.block_size;
    const T* inverse = s_.m_values.on(b_.pe()) + rows_->plan.first_row * size;
    const T* from = vectors_[in];
    T* to = vectors_[out];
    b_.sync();
    b_.for_each(rows(), [&](index_t i) {
      const index_t first = i - i % size;
      const index_t end = first + size < rows() ? first + size : rows();
      T sum{0};
      for (index_t j = first; j < end; ++j) sum += inverse[i * size + (j - first)] * from[j];
      to[i] = sum;
    });
    b_.sync();
  }

 private:
  STARLING_HD T* home(int v) const { return s_.vectors.on(b_.pe()) + v * s_.stride + rows_->plan.first_row; }
  STARLING_HD index_t slot(std::uint64_t product) const { return static_cast<index_t>(product % 2) * s_.columns; }
  STARLING_HD const T* m_values() const { return s_.m_values.on(b_.pe()) + rows_->plan.first_row; }
  STARLING_HD T* own_published(std::uint64_t product) const {
    return s_.published.on(b_.pe()) + slot(product) + s_.a.own.on(b_.pe())->lower;
  }

  // This block's part of the values that other PEs have sent.
  STARLING_HD void take_boxes() const {
    const block_plan& plan = rows_->plan;
    if (plan.boxes == 0) return;
    const int pe = b_.pe();
    const rows_of_pe own = *s_.a.own.on(pe);
    const sym<packet> boxes = s_.boxes + static_cast<index_t>(product_ % 2) * s_.halo;
    const std::int32_t* sender = s_.a.sender.on(pe);
    T* x = s_.published.on(pe) + slot(product_);
    b_.for_each(index_range{plan.first_box, plan.first_box + plan.boxes}, [&](index_t box) {
      x[own.column_of_box(box)] = b_.thread().template take_packet<T>(boxes + box, product_, sender[box]).element[0];
    });
    b_.signal_set(s_.taken + b_.index(), product_, pe);
  }

  STARLING_HD void keep_vectors(std::uint32_t which) {
    for (int v = 0; v < vector_count; ++v) {
      if ((which >> v & 1) == 0) continue;
      T* fast = b_.scratch<T>(rows());
      const T* from = vectors_[v];
      b_.for_each(rows(), [&](index_t i) { fast[i] = from[i]; });
      b_.sync();
      if (b_.member() == 0)
        for (int same = 0; same < vector_count; ++same)
          if (vectors_[same] == from) vectors_[same] = fast;
      b_.sync();
    }
  }

  STARLING_HD void keep_entries(index_t most) {
    const slice* slices = s_.a.slices.on(b_.pe()) + rows_->plan.first_part;
    const index_t n = rows_->plan.parts;
    if (n == 0) return;
    const auto end_of = [&](index_t i) { return slices[i].start + index_t{slice_rows} * slices[i].width(); };
    const index_t first = slices[0].start;
    index_t kept = 0;
    while (kept < n && end_of(kept) - first <= most) ++kept;
    if (kept == 0) return;
    const index_t entries = end_of(kept - 1) - first;
    const index_t area = s_.a.how == storage::sliced_3x3 ? 9 : 1;
    T* value = b_.scratch<T>(entries * area);
    const T* from = s_.a.value.on(b_.pe()) + first * area;
    b_.for_each(entries * area, [&](index_t i) { value[i] = from[i]; });
    const void* offset = s_.a.short_offsets ? static_cast<const void*>(copy_offsets(s_.a.offset_16, first, entries))
                                            : copy_offsets(s_.a.offset_32, first, entries);
    if (b_.member() == 0) {
      rows_->kept_value = value;
      rows_->kept_offset = offset;
      rows_->kept = kept;
    }
    b_.sync();
  }

  template <class Offset>
  STARLING_HD const Offset* copy_offsets(sym<Offset> all, index_t first, index_t n) const {
    Offset* kept = b_.scratch<Offset>(n);
    const Offset* from = all.on(b_.pe()) + first;
    b_.for_each(n, [&](index_t i) { kept[i] = from[i]; });
    return kept;
  }

  block& b_;
  const system_data<T>& s_;
  bool persistent_;
  std::uint64_t product_;
  block_rows<T>* rows_;  // in the block's fast memory: it is looked at in every product
  T** vectors_;
};

}  // namespace starling::cg
