// What block, warp and thread have in common: they stand for some threads of one block of a program.
#pragma once

#include "starling/device/atomics.hpp"
#include "starling/device/communication.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/messages.hpp"
#include "starling/device/packet_exchange.hpp"
#include "starling/device/reduce.hpp"
#include "starling/device/waits.hpp"

namespace starling {

template <class Self>
class group : public loops<Self>,
              public communication<Self>,
              public packet_exchange<Self>,
              public messages<Self>,
              public atomics<Self>,
              public waits<Self> {
 public:
  using communication<Self>::test;
  using waits<Self>::test;

  // `with_warp`: the block has one more warp beside the group's (target.hpp), which barriers leave out.
  STARLING_HD group(const program_state& state, host_port* port, int index, bool traced, bool with_warp = false)
      : state_(&state), port_(port), index_(index), traced_(traced), with_warp_(with_warp) {}
  // A part of another group: same block, fewer threads.
  template <class Other>
  STARLING_HD explicit group(const group<Other>& whole)
      : state_(&whole.state()),
        port_(whole.port_pointer()),
        index_(whole.index()),
        traced_(whole.traced()),
        with_warp_(whole.with_warp()) {}

  STARLING_HD int pe() const { return state_->pe; }
  STARLING_HD int n_pes() const { return state_->n_pes; }

  // The block's number among all blocks of this PE.
  STARLING_HD int index() const { return index_; }

  // Barrier; whether any thread of the group passed true. Ends the others when a thread has given up in a wait.
  STARLING_HD bool any(bool value, where at = where::current()) const {
    const int without = self().votes(!value);
    if (without == self().members()) return false;
    if (without + self().votes(value) < self().members()) this->leave(false, operation::none, at);
    return true;
  }

  // For the parts of a group; kernels have no use for these.
  STARLING_HD void check_peer(int pe, operation op, where at) const { this->check_pe(pe, op, at); }
  STARLING_HD const program_state& state() const { return *state_; }
  STARLING_HD host_port& port() const { return *port_; }
  STARLING_HD host_port* port_pointer() const { return port_; }
  STARLING_HD bool traced() const { return traced_; }
  STARLING_HD bool with_warp() const { return with_warp_; }
  // The threads of the block, but for a warp beside them.
  STARLING_HD int threads_of_block() const {
    return with_warp_ ? target::thread_count() - target::threads_beside : target::thread_count();
  }
  // Of which context the group's puts, gets and signals are: see shmem/context.hpp, whose groups have others.
  STARLING_HD int context_number() const { return 0; }
  STARLING_HD void give_up() const { this->end_thread(); }
  // Barrier; ends the group when a thread of it has given up in a wait.
  STARLING_HD void end_if_absent(operation op, where at) const { this->end_if(false, op, at); }
  STARLING_HD void end_if_failed(bool failed, operation op, where at) const { this->end_if(failed, op, at); }
  STARLING_HD void raise_signal(sym<signal> sig, std::uint64_t value, signal_op op, int pe) const {
    this->raise(sig, value, op, pe);
  }
  STARLING_HD void raise_signal_by_thread(sym<signal> sig, std::uint64_t value, int pe) const {
    this->raise_by_thread(sig, value, signal_op::set, pe);
  }
  lane_order lanes() const { return port_->lanes(); }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  const program_state* state_;
  host_port* port_;
  int index_;
  bool traced_;
  bool with_warp_;
};

// One thread by itself: its calls involve no other thread.
class thread : public group<thread> {
 public:
  using group<thread>::group;

  STARLING_HD int member() const { return 0; }
  STARLING_HD int members() const { return 1; }
  STARLING_HD void sync() const {}
  STARLING_HD int votes(bool value) const { return value ? 1 : 0; }
  template <class T>
  STARLING_HD T first(const T& value) const {
    return value;
  }
};

// The 32 threads of a warp; on a virtual device the block's only thread.
class warp : public group<warp> {
 public:
  using group<warp>::group;

  // This warp among those of its block.
  STARLING_HD int rank() const { return target::thread_index() / target::warp_size; }
  STARLING_HD int count() const { return (threads_of_block() + target::warp_size - 1) / target::warp_size; }

  STARLING_HD int member() const { return target::thread_index() % target::warp_size; }
  STARLING_HD int members() const { return target::warp_size; }
  STARLING_HD void sync() const { target::sync_warp(); }
  // Barrier; how many threads passed true. Threads that have left the kernel do not count.
  STARLING_HD int votes(bool value) const { return target::sync_warp_count(value); }
  // Lane 0's value, to every lane.
  template <class T>
  STARLING_HD T first(const T& value, where at = where::current()) const {
    end_if(false, operation::none, at);
    return target::shuffle_first(value);
  }

  // Combines one value per lane; every lane gets the result.
  template <class T, class Op>
  STARLING_HD T reduce(const T& value, Op op, where at = where::current()) const {
    end_if(false, operation::none, at);
    return target::shuffle_first(detail::reduce_warp(value, op));
  }
};

}  // namespace starling
