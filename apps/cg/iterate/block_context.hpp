// What one block has at hand while it works on a linear system: its rows, its parts of the vectors, and the ways to
// publish a vector, to multiply the matrix with what was published, and to apply the preconditioner.
//
// In a persistent program blocks wait for each other by signals and packets; in launches of the host's each call is a
// part of some kernel, and the host's order stands for the waits.
#pragma once

#include "cg/iterate/system.hpp"
#include "sparse/product.hpp"
#include "sparse/row_pack.hpp"

namespace starling::cg {

// What of a block's data stays in shared memory while a persistent program runs.
struct kept_data {
  std::uint32_t vectors = 0;  // bit v: vector v
  index_t entries = 0;        // stored entries of the matrix (blocks of 3 x 3)
};

// All that is the same for the threads of a block, in shared memory: looked up there, it takes no registers.
template <class T>
struct shared_state {
  block_rows<T> rows;
  T* vectors[vector_count];
  bool persistent = false;
  preconditioner m = preconditioner::none;
  int block_size = 1;
  const T* m_values = nullptr;  // of the block's rows
  T* published[2];              // this PE's
  sym<T> published_of_all[2];
  sym<packet> receive_slots[2];
  sym<signal> ready;
  sym<signal> taken;
  const send_entry* sends = nullptr;
};

template <class T>
class block_context {
 public:
  // By every block of the kernel. `products`: number of the last product.
  STARLING_HD block_context(block& b, const system_data<T>& s, bool persistent, const kept_data& kept,
                            std::uint64_t products)
      : threads_(b.all_threads()), shared_(b.scratch<shared_state<T>>(1)), product_(products) {
    T* row_buffer = nullptr;
    if (target::on_gpu && s.a.how == storage::compressed)
      row_buffer = b.scratch<T>(index_t{b.warp().count()} * row_block::most_entries);
    if (b.member() == 0) lay_out(s, persistent, row_buffer);
    b.sync();
    if (persistent) keep_sends(b);
    if (kept.vectors != 0) keep_vectors(b, kept.vectors);
    if (kept.entries > 0) keep_entries(b, s, kept.entries);
  }

  // Bytes of scratch that a block context takes beside what is kept. `warps`: of a block of a GPU; 0 on virtual
  // devices.
  static std::size_t scratch_bytes(int warps, bool compressed) {
    const std::size_t buffers = compressed ? static_cast<std::size_t>(warps) * row_block::most_entries * sizeof(T) : 0;
    return sizeof(shared_state<T>) + buffers + most_kept_sends * sizeof(send_entry) + 48;
  }

  // This block's part of a vector.
  STARLING_HD T* operator[](vector_name v) const { return shared_->vectors[v]; }
  STARLING_HD index_t rows() const { return shared_->rows.plan.rows; }
  STARLING_HD const block_threads& all() const { return threads_; }
  STARLING_HD bool with_m() const { return shared_->m != preconditioner::none; }
  STARLING_HD std::uint64_t product_number() const { return product_; }

  // f(i) for the block's rows, numbered from 0; the same thread for the same row every time.
  template <class F>
  STARLING_HD void each_row(const F& f) const {
    threads_.for_each(rows(), f);
  }

  // The same, some rows at once.
  template <class F>
  STARLING_HD void each_pack(const F& f) const {
    cg::each_pack(threads_, rows(), f);
  }

  // The block's rows of a vector that lies anywhere.
  STARLING_HD T* part_of(sym<T> v) const { return v.on(threads_.pe()) + shared_->rows.plan.first_row; }
  // From now on v is what lies at `place`. A barrier of the block must be between the last use of v and this, and
  // between this and the next use.
  STARLING_HD void look_at(vector_name v, sym<T> place) const {
    if (threads_.member() == 0) shared_->vectors[v] = part_of(place);
  }

  // Writes what was kept back to where the next launch finds it. A barrier must be behind the last change of a vector.
  STARLING_HD void write_back(const system_data<T>& s, std::uint32_t vectors) const {
    for (int v = 0; v < vector_count; ++v) {
      if ((vectors >> v & 1) == 0) continue;
      T* to = home(s, v);
      const T* from = shared_->vectors[v];
      each_row([&](index_t i) { to[i] = from[i]; });
    }
  }

  // ---- products ----

  // Where the block's values of the next published vector go, before announce().
  STARLING_HD T* next_published() const {
    return shared_->published[(product_ + 1) % 2] + shared_->rows.own.first_own() + shared_->rows.plan.first_row;
  }

  // Tells those who read this block's values that they are there, and sends what other PEs need: `v` holds the same.
  // The caller then counts the product: functions that get a copy of the block context cannot.
  STARLING_HD void announce(vector_name v) const { announce_of(*this, shared_->vectors[v]); }
  STARLING_HD void count_product() { ++product_; }

  // out = A times what was published last, for the block's rows; all threads of the block see it.
  STARLING_HD void product(vector_name out) const { product_of(*this, out); }

  // ---- the preconditioner ----

  // Whether M works on each row by itself, so that it can be applied while r is computed.
  STARLING_HD bool pointwise() const {
    return shared_->m == preconditioner::none || shared_->m == preconditioner::jacobi;
  }
  // M r of some rows, for such an M.
  STARLING_HD pack<T> scaled(const row_place& at, const pack<T>& r) const {
    return shared_->m == preconditioner::jacobi ? at.load(shared_->m_values) * r : r;
  }

  // out = M in for a block-diagonal M; all threads see `in` before and `out` after.
  STARLING_HD void multiply_blocks(vector_name in, vector_name out) const {
    const index_t size = shared_->block_size;
    const index_t n = rows();
    const T* inverse = shared_->m_values;
    const T* from = shared_->vectors[in];
    T* to = shared_->vectors[out];
    threads_.sync();
    each_row([&](index_t i) {
      const index_t first = i - i % size;
      const index_t end = first + size < n ? first + size : n;
      T sum{0};
      for (index_t j = first; j < end; ++j) sum += inverse[i * size + (j - first)] * from[j];
      to[i] = sum;
    });
    threads_.sync();
  }

 private:
  STARLING_HD static void announce_of(block_context k, const T* mine) {
    const shared_state<T>& d = *k.shared_;
    const block_threads t = k.threads_;
    const std::uint64_t number = k.product_ + 1;
    t.sync();
    // One warp tells the PE's blocks while the others begin with what has the longest way: a release waits for what its
    // thread has sent before.
    const warp w = t.warp();
    if (d.persistent && w.rank() == w.count() - 1) w.signal_set(d.ready + t.index(), number, t.pe());
    const int sends = static_cast<int>(d.rows.plan.sends);
    for (int i = t.member(); i < sends; i += t.members()) {
      const send_entry e = d.sends[i];
      const T value = mine[e.row - d.rows.plan.first_row];
      if (d.persistent)
        k.send(d.receive_slots[number % 2] + e.receive_slot, value, number, e.pe);
      else
        t.thread().p(d.published_of_all[number % 2] + e.column, value, e.pe);
    }
  }

  STARLING_HD static void product_of(block_context k, vector_name out) {
    const shared_state<T>& d = *k.shared_;
    const block_threads t = k.threads_;
    const std::uint64_t number = k.product_;
    const T* x = d.published[number % 2];
    T* to = d.vectors[out];
    const block_plan& plan = d.rows.plan;
    if (!d.persistent) {
      multiply(t.thread(), d.rows, plan, x, to, which_parts::all);
    } else {
      if (plan.peers > 0) t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());
      if (plan.receive_slots > 0) k.unpack_receive_slots();
      multiply(t.thread(), d.rows, plan, x, to, plan.unpacking > 0 ? which_parts::own : which_parts::all);
      if (plan.unpacking > 0) {
        t.wait_all(d.taken + plan.first_unpacking, plan.unpacking, number, t.pe());
        multiply(t.thread(), d.rows, plan, x, to, which_parts::halo);
      }
    }
    if (plan.long_rows > 0) {
      t.sync();
      sum_pieces(t.thread(), d.rows, plan, to);
    }
    t.any(false);
  }

  // This block's part of the values that other PEs have sent. All threads of the block see them after it.
  STARLING_HD void unpack_receive_slots() const {
    const shared_state<T>& d = *shared_;
    const block_plan& plan = d.rows.plan;
    const sym<packet> receive_slots = d.receive_slots[product_ % 2] + plan.first_receive_slot;
    T* x = d.published[product_ % 2];
    constexpr int at_once = 2;  // their loads run together
    const auto n = static_cast<int>(plan.receive_slots);
    const int members = threads_.members();
    for (int first = threads_.member(); first < n; first += at_once * members)
      threads_.thread().template take_packets<T, at_once>(
          [&](int i) { return first + i * members < n; }, [&](int i) { return receive_slots + (first + i * members); },
          product_, [&](int) { return plan.sender; },
          [&](int i, const packet_content<T>& c) {
            x[d.rows.own.column_of_receive_slot(plan.first_receive_slot + first + i * members)] = c.element[0];
          });
    if (plan.awaited)
      threads_.signal_set(d.taken + threads_.index(), product_, threads_.pe());
    else
      threads_.any(false);
  }

  STARLING_HD void send(sym<packet> receive_slot, T value, std::uint64_t number, int pe) const {
    const auto content = [&](index_t) {
      packet_content<T> c{};
      c.element[0] = value;
      return c;
    };
    threads_.thread().template put_packets<T>(receive_slot, content, 1, number, pe);
  }

  STARLING_HD T* home(const system_data<T>& s, int v) const { return part_of(s.vectors + v * s.stride); }

  STARLING_HD void lay_out(const system_data<T>& s, bool persistent, T* row_buffer) const {
    const int pe = threads_.pe();
    shared_state<T>& d = *shared_;
    d = {};
    d.rows.a = s.a;
    d.rows.pe = pe;
    d.rows.plan = s.a.plans.on(pe)[threads_.index()];
    d.rows.own = *s.a.own.on(pe);
    d.rows.row_buffer = row_buffer;
    for (int v = 0; v < vector_count; ++v) d.vectors[v] = home(s, v);
    if (s.m == preconditioner::none) {
      d.vectors[vec_u] = d.vectors[vec_r];
      d.vectors[vec_q] = d.vectors[vec_s];
      d.vectors[vec_m] = d.vectors[vec_w];
    }
    d.persistent = persistent;
    d.m = s.m;
    d.block_size = s.block_size;
    const index_t per_row = s.m == preconditioner::block_jacobi ? s.block_size : 1;
    if (s.m == preconditioner::jacobi || s.m == preconditioner::block_jacobi)
      d.m_values = s.m_values.on(pe) + d.rows.plan.first_row * per_row;
    for (index_t slot = 0; slot < 2; ++slot) {
      d.published_of_all[slot] = s.published + slot * s.columns;
      d.published[slot] = d.published_of_all[slot].on(pe);
      d.receive_slots[slot] = s.receive_slots + slot * s.halo;
    }
    d.ready = s.ready;
    d.taken = s.taken;
    d.sends = s.a.sends.on(pe) + d.rows.plan.first_send;
  }

  // A short list of what to send is looked up in every product: it had better be near.
  STARLING_HD void keep_sends(block& b) const {
    const index_t n = shared_->rows.plan.sends;
    send_entry* near = b.scratch<send_entry>(most_kept_sends);
    if (n == 0 || n > most_kept_sends) return;
    const send_entry* from = shared_->sends;
    b.for_each(n, [&](index_t i) { near[i] = from[i]; });
    b.sync();
    if (b.member() == 0) shared_->sends = near;  // read behind the barrier of announce()
  }

  STARLING_HD void keep_vectors(block& b, std::uint32_t which) const {
    for (int v = 0; v < vector_count; ++v) {
      if ((which >> v & 1) == 0) continue;
      T* fast = b.scratch<T>(round_up(rows(), pack_rows));
      const T* from = shared_->vectors[v];
      each_pack([&](const row_place& at) { at.store(fast, at.load(from)); });
      b.sync();
      if (b.member() == 0)
        for (int same = 0; same < vector_count; ++same)
          if (shared_->vectors[same] == from) shared_->vectors[same] = fast;
    }  // vectors that go on to be kept are others; read behind the barrier of new_sum_state()
  }

  STARLING_HD void keep_entries(block& b, const system_data<T>& s, index_t most) const {
    block_rows<T>& rows = shared_->rows;
    const slice* slices = s.a.slices.on(b.pe()) + rows.plan.first_part;
    const index_t n = rows.plan.parts;
    if (n == 0) return;
    const auto end_of = [&](index_t i) { return slices[i].start + index_t{slice_rows} * slices[i].width(); };
    const index_t first = slices[0].start;
    index_t kept = 0;
    while (kept < n && end_of(kept) - first <= most) ++kept;
    if (kept == 0) return;
    const index_t entries = end_of(kept - 1) - first;
    const index_t area = s.a.how == storage::sliced_3x3 ? 9 : 1;
    const T* value = copied(b, s.a.value, first * area, entries * area);
    const slice* table = copied(b, s.a.slices, rows.plan.first_part, n);
    const void* offset = s.a.short_offsets ? static_cast<const void*>(copied(b, s.a.offset_16, first, entries))
                                           : copied(b, s.a.offset_32, first, entries);
    if (b.member() == 0) {
      rows.kept_value = value;
      rows.kept_offset = offset;
      rows.kept = kept;
      rows.kept_slices = table;
    }  // read behind the barrier of announce()
  }

  template <class Element>
  STARLING_HD const Element* copied(block& b, sym<Element> all, index_t first, index_t n) const {
    Element* kept = b.scratch<Element>(n);
    const Element* from = all.on(b.pe()) + first;
    b.for_each(n, [&](index_t i) { kept[i] = from[i]; });
    return kept;
  }

  static constexpr index_t most_kept_sends = 512;

  block_threads threads_;
  shared_state<T>* shared_;
  std::uint64_t product_;
};

}  // namespace starling::cg
