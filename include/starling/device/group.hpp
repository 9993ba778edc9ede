// What block, warp and thread have in common: they stand for some threads of one block of a program.
#pragma once

#include <type_traits>

#include "starling/device/atomics.hpp"
#include "starling/device/communication.hpp"
#include "starling/device/gpu_wait.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/messages.hpp"
#include "starling/device/packet_exchange.hpp"
#include "starling/device/reduce.hpp"
#include "starling/device/waits.hpp"

namespace starling {

class warp;
class thread;

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

  // `kind`: of the kernel's entry that runs the block.
  STARLING_HD group(const program_state& state, host_port* port, int index, target::entry_kind kind)
      : state_(&state), port_(port), index_(index), kind_(kind) {}
  // The threads of another group, a part of them, or the warp of a thread.
  template <class Other>
  STARLING_HD explicit group(const group<Other>& whole)
      : state_(&whole.state()), port_(part_of(whole.port_pointer())), index_(whole.index()), kind_(whole.kind()) {}

  STARLING_HD int pe() const { return state_->pe; }
  STARLING_HD int n_pes() const { return state_->n_pes; }

  // The block's number among all blocks of this PE.
  STARLING_HD int index() const { return index_; }

  // Barrier; whether any thread of the group passed true. Ends the others when a thread has given up in a wait.
  STARLING_HD bool any(bool value, where at = where::current()) const {
    const int without = self().votes(!value, at);
    if (without == self().members()) return false;
    if (without + self().votes(value, at) < self().members()) this->leave(false, operation::none, at);
    return true;
  }

  // For the parts of a group; kernels have no use for these.
  STARLING_HD void check_peer(int pe, operation op, where at) const { this->check_pe(pe, op, at); }
  STARLING_HD const program_state& state() const { return *state_; }
  STARLING_HD host_port& port() const { return *port_; }
  // On a virtual device, for calls that a thread makes for itself.
  STARLING_HD host_port& own_port() const { return port_->own(); }
  STARLING_HD host_port* port_pointer() const { return port_; }
  STARLING_HD target::entry_kind kind() const { return kind_; }
  STARLING_HD bool traced() const { return kind_.traced; }
  // Of a GPU's block: whether a network card may be between it and a PE, and whether one is between it and that PE,
  // which exists. In an entry without cards the compiler knows that there are none.
  STARLING_HD bool networked() const { return target::on_gpu && target::has_network_entries && kind_.networked; }
  STARLING_HD bool behind_card(int pe) const { return networked() && network::apart(state(), pe); }
  // Whether the block has one more warp, which barriers leave out; the threads of the block but for that.
  STARLING_HD bool with_warp() const { return target::on_gpu && kind_.with_warp; }
  STARLING_HD int threads_of_block() const {
    if constexpr (!target::on_gpu) return port_->threads_of_block();
    return with_warp() ? target::thread_count() - target::threads_beside : target::thread_count();
  }
  // Of which context the group's puts, gets and signals are: see shmem/context.hpp, whose groups have others.
  STARLING_HD int context_number() const { return 0; }
  STARLING_HD void give_up() const { this->end_thread(); }
  // Barrier; ends the group when a thread of it has given up in a wait.
  STARLING_HD void end_if_absent(operation op, where at) const { this->end_if(false, op, at); }
  STARLING_HD void end_if_failed(bool failed, operation op, where at) const { this->end_if(failed, op, at); }
  STARLING_HD void raise_signal(sym<signal> sig, std::uint64_t value, signal_op op, int pe,
                                where at = where::current()) const {
    this->raise(sig, value, op, pe, at);
  }
  STARLING_HD void raise_signal_by_thread(sym<signal> sig, std::uint64_t value, int pe,
                                          where at = where::current()) const {
    this->raise_by_thread(sig, value, signal_op::set, pe, at);
  }
  // On a virtual device, before a call that the first thread makes for all: they pass the same arguments.
  void come_alike(const char* what, std::initializer_list<std::uint64_t> arguments, where at) const {
    if (port_->threads_of_block() > 1) port_->come_alike(what, arguments, at);
  }
  // Of n elements side by side, by way of the card, behind which `pe` is; see put_nbi.
  template <class T>
  STARLING_HD void put_by_card(T* dest, const T* source, index_t dest_stride, index_t source_stride, index_t n, int pe,
                               where at) const {
    this->card_put(dest, dest_stride, source, source_stride, n, pe, false, at);
  }
  // What was put by way of the card has arrived on return, and its sources are free.
  STARLING_HD void quiet_of_card(where at) const { this->card_quiet(at); }
  lane_order lanes() const { return port_->lanes(); }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  STARLING_HD static host_port* part_of(host_port* whole) {
    if constexpr (!target::on_gpu && std::is_same_v<Self, warp>)
      if (whole != nullptr) return &whole->warp();
    if constexpr (!target::on_gpu && std::is_same_v<Self, thread>)
      if (whole != nullptr) return &whole->own();
    return whole;
  }

  const program_state* state_;
  host_port* port_;
  int index_;
  target::entry_kind kind_;
};

// One thread by itself: its calls involve no other thread.
class thread : public group<thread> {
 public:
  using group<thread>::group;

  STARLING_HD int member() const { return 0; }
  STARLING_HD int members() const { return 1; }
  STARLING_HD void sync(where = where::current()) const {}
  STARLING_HD int votes(bool value, where = where::current()) const { return value ? 1 : 0; }
  template <class T>
  STARLING_HD T first(const T& value, where = where::current()) const {
    return value;
  }

  // Starts a kernel of one block beside the program, which says so beforehand (program::launches), and returns at once.
  // It sees what this thread sees, and what it does is done when the program ends; nothing orders it otherwise, nor
  // several of them among themselves. It must not wait for anything. False: it does not start, since as many as may
  // have not begun (program::most_pending); the thread then does the work by itself. A GPU counts launches for a while
  // after they have ended, and those of all its PEs together.
  template <class Kernel>
  STARLING_HD bool launch(const Kernel& k, where at = where::current()) const {
    if constexpr (target::on_gpu) {
      program_state one = state();
      one.n_blocks = 1;
      one.roles = {};
      one.scratch_bytes = 0;
      one.threads_beside = 0;
      return target::launch_from_kernel<block>(one, k, threads_of_block());
    } else {
      return own_port().launch({[](const void* closure, block& b) { (*static_cast<const Kernel*>(closure))(b); },
                                std::make_shared<const Kernel>(k), sizeof(Kernel), at});
    }
  }
};

// The 32 threads of a warp. On a virtual device one thread; in check mode also several, all warps of a block as many.
//
// sync() orders the memory accesses of the warp's threads, and so do its calls that end with a barrier. Votes and what
// hands values from lane to lane do not: what one lane has stored, another reads behind sync().
class warp : public group<warp> {
 public:
  using group<warp>::group;

  // This warp among those of its block.
  STARLING_HD int rank() const {
    if constexpr (!target::on_gpu) return port().thread_of_block() / port().threads_of_warp();
    return target::thread_index() / target::warp_size;
  }
  STARLING_HD int count() const { return (threads_of_block() + members() - 1) / members(); }

  STARLING_HD int member() const {
    if constexpr (!target::on_gpu) return port().thread_of_block() % port().threads_of_warp();
    return target::thread_index() % target::warp_size;
  }
  STARLING_HD int members() const {
    if constexpr (!target::on_gpu) return port().threads_of_warp();
    return target::warp_size;
  }
  STARLING_HD void sync([[maybe_unused]] where at = where::current()) const {
    if constexpr (!target::on_gpu) return port().sync(at);
    target::sync_warp();
  }
  // Waits for all; how many threads passed true. Threads that have left the kernel do not count.
  STARLING_HD int votes(bool value, [[maybe_unused]] where at = where::current()) const {
    if constexpr (!target::on_gpu) return port().votes(value, at);
    return target::sync_warp_count(value);
  }
  // Waits for all; which of the threads passed true, a bit each, lane 0's the lowest.
  STARLING_HD unsigned which(bool value, [[maybe_unused]] where at = where::current()) const {
    if constexpr (target::on_gpu) {
      return target::lanes_where(value);
    } else {
      const auto* all = reinterpret_cast<const bool*>(port().gather(&value, sizeof value, at));
      unsigned bits = 0;
      for (int i = 0; i < members(); ++i) bits |= all[i] ? 1u << i : 0u;
      return bits;
    }
  }
  // Lane 0's value, to every lane.
  template <class T>
  STARLING_HD T first(const T& value, where at = where::current()) const {
    if constexpr (!target::on_gpu) return *reinterpret_cast<const T*>(port().gather(&value, sizeof(T), at));
    check_all_here(at);
    return target::shuffle_first(value);
  }

  // Combines one value per lane; every lane gets the result.
  template <class T, class Op>
  STARLING_HD T reduce(const T& value, Op op, where at = where::current()) const {
    if constexpr (!target::on_gpu) return detail::reduce_block(*this, value, op, at);
    check_all_here(at);
    return target::shuffle_first(detail::reduce_warp(value, op));
  }

 private:
  STARLING_HD void check_all_here(where at) const {
    if (votes(true) < members()) leave(false, operation::none, at);
  }
};

}  // namespace starling
