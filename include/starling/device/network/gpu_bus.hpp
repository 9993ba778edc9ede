// The way of a GPU's block to the card, for sender and carrier: see direct_bus. One fence stands for record and
// doorbell, neither of which the cards of GPUs take for the other; what warps of the block share is in its shared
// memory. A wait ends with the program, or at its deadline, and then has reported.
#pragma once

#include "starling/device/network/block_network.hpp"
#include "starling/device/network/card_trace.hpp"

namespace starling::network {

class gpu_bus : public records_nothing {
 public:
  STARLING_HD gpu_bus(const program_state& s, int block, int place, operation op, where at)
      : state_(s), rest_(s), at_(at), block_(block), place_(place), op_(op) {}

  STARLING_HD void store(std::uint64_t& to, std::uint64_t value) const {
    released_ = false;
    gpu::system_atomic(to).store(value, cuda::memory_order_relaxed);
  }
  STARLING_HD void release() const {
    if (!released_) target::release_system();
    released_ = true;
  }
  STARLING_HD void tell(std::uint64_t& to, std::uint64_t value) const {
    gpu::system_atomic(to).store(value, cuda::memory_order_relaxed);
  }
  STARLING_HD std::uint64_t load(std::uint64_t& from) const {
    return gpu::system_atomic(from).load(cuda::memory_order_acquire);
  }

  template <class Word>
  STARLING_HD Word take(Word& word, Word n) const {
    return block_atomic(word).fetch_add(n, cuda::memory_order_acq_rel);
  }
  template <class Word>
  STARLING_HD Word look(Word& word) const {
    return block_atomic(word).load(cuda::memory_order_acquire);
  }
  template <class Word>
  STARLING_HD void set(Word& word, Word value) const {
    block_atomic(word).store(value, cuda::memory_order_release);
  }
  template <class Word>
  STARLING_HD Word exchange(Word& word, Word value) const {
    return block_atomic(word).exchange(value, cuda::memory_order_acq_rel);
  }

  STARLING_HD void reserved(const queue_pair& q, std::uint64_t first, std::uint64_t n) const {
    origin* all = origins_of(q);
    for (std::uint64_t i = first; i < first + n; ++i) all[i & (q.depth - 1)] = {at_.file, at_.line, op_};
  }

  STARLING_HD bool pause(const queue_pair& q) {
    if (!rest_.spent()) return true;
    give_up(q);
    return false;
  }

  // When the program ends meanwhile, as if it had the lock: what it does then is of no consequence.
  STARLING_HD void lock_staging() {
    block_network& n = network_of_block();
    while (block_atomic(n.staging[place_]).exchange(1U, cuda::memory_order_acquire) != 0) {
      if (!rest_.spent()) continue;
      return give_up(n.pair[place_]);
    }
  }
  STARLING_HD void unlock_staging() const { unlock_word(network_of_block().staging[place_]); }

 private:
  STARLING_HD void give_up(const queue_pair& q) const {
    const queue_state& s = *q.state;
    block_report r;
    r.state = rest_.why();
    r.op = op_ == operation::none ? operation::quiet : op_;
    r.peer = q.peer;
    r.wanted = s.reserved;
    r.seen = s.completed;
    set_place(r, at_);
    gpu::file_report(state_, block_, r);
  }

  const program_state& state_;
  gpu::patience rest_;
  where at_;
  int block_;
  int place_;
  operation op_;
  mutable bool released_ = false;  // all that was stored
};

// The same for blocks that record.
class traced_gpu_bus : public gpu_bus {
 public:
  STARLING_HD traced_gpu_bus(const program_state& s, int block, int place, operation op, where at)
      : gpu_bus(s, block, place, op, at), trace_(s, block) {}

  STARLING_HD std::uint64_t begin_post() const { return trace_.begin_post(); }
  STARLING_HD void posted(const queue_pair& q, std::uint64_t first, const order* orders, std::uint64_t n,
                          std::uint64_t begin) const {
    trace_.posted(q, first, orders, n, begin);
  }
  STARLING_HD void answered(const queue_pair& q) const { trace_.answered(q); }

 private:
  card_trace trace_;
};

}  // namespace starling::network
