// Signals of a group of threads: raised at any PE, awaited at one's own; names and meanings are OpenSHMEM 1.5's. Mixin
// for block, warp and thread, as communication.hpp, which says what all calls have in common. What ends a group whose
// wait has failed, or that asks for what there is not, is here too.
#pragma once

#include <type_traits>

#include "starling/device/gpu_wait.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/network/gpu_calls.hpp"
#include "starling/device/trace_span.hpp"

namespace starling {

// One of the signals that wait_each waits for. `from`: the PE that is to raise it, for reports.
struct awaited_signal {
  sym<signal> sig;
  int from;
};

class warp;

template <class Self>
class signalling {
 public:
  // Sets or adds to a signal at `pe` after all earlier accesses to this PE's own memory by the group. Puts to `pe` are
  // covered only after fence() (to other PEs: after quiet()).
  STARLING_HD void signal_set(sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) const {
    update(sig, value, pe, signal_op::set, at);
  }
  STARLING_HD void signal_add(sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) const {
    update(sig, value, pe, signal_op::add, at);
  }

  // Waits until the local copy of `sig` compares to `value`, then every thread of the group sees what was written
  // before the signal was raised. `from`: the PE that is to raise it; a stall report then knows whom this block waits
  // for.
  STARLING_HD void wait(sym<signal> sig, compare how, std::uint64_t value, int from = any_pe,
                        where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, 1, sig, value);
    wait_as(operation::wait, sig, 1, how, value, from, at);
  }
  STARLING_HD void wait(sym<signal> sig, std::uint64_t at_least, int from = any_pe, where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, 1, sig, at_least);
    wait_as(operation::wait, sig, 1, compare::ge, at_least, from, at);
  }

  // As wait, for blocks that serve others and have nothing to do: without a deadline. Ends with the program.
  STARLING_HD void wait_idle(sym<signal> sig, std::uint64_t at_least, int from = any_pe,
                             where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, 1, sig, at_least);
    wait_request w = request(operation::wait, sig, 0, compare::ge, at_least, from, at);
    w.idle = true;
    if constexpr (target::on_gpu) {
      end_if(leader() && !gpu::wait(self().state(), self().index(), w), operation::wait, at);
    } else {
      self().port().wait(w);
    }
  }

  // Waits until each of n signals, one after the other in memory, is at least `value`.
  STARLING_HD void wait_all(sym<signal> first, index_t n, std::uint64_t at_least, int from = any_pe,
                            where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, n, first, at_least);
    wait_as(operation::wait, first, n, compare::ge, at_least, from, at);
  }

  // Waits until each of the n signals what(i) is at least `value`, as wait_all does for signals side by side.
  template <class What>
    requires std::is_invocable_r_v<awaited_signal, const What&, int>
  STARLING_HD void wait_each(int n, const What& what, std::uint64_t at_least, where at = where::current()) const {
    if constexpr (target::on_gpu) {
      // A trace says of each how long it took: one after the other.
      if (!self().traced()) {
        bool failed = false;
        for (int i = self().member(); i < n; i += self().members()) {
          const awaited_signal s = what(i);
          const wait_request w = request(operation::wait, s.sig, 0, compare::ge, at_least, s.from, at);
          failed = failed || !gpu::wait(self().state(), self().index(), w);
        }
        end_if(failed, operation::wait, at);
        return;
      }
    }
    for (int i = 0; i < n; ++i) {
      const awaited_signal s = what(i);
      wait(s.sig, at_least, s.from, at);
    }
  }

  // Whether the local copy of `sig` compares to `value` now; if so, acquires as wait does. Does not return once the
  // program was ended elsewhere. A loop around it has no deadline of its own: bound it, or use wait.
  STARLING_HD bool test(sym<signal> sig, compare how, std::uint64_t value, where at = where::current()) const {
    const signal* local = sig.on(self().pe());
    if constexpr (target::on_gpu) {
      bool yes = false;
      bool ended = false;
      if (leader()) {
        const auto seen = gpu::system_atomic(const_cast<signal*>(local)->value).load(cuda::memory_order_acquire);
        yes = holds(seen, how, value);
        ended = !yes && gpu::program_ended(self().state());
        if (ended)
          gpu::give_up(self().state(), self().index(), {local, how, value, any_pe, operation::wait, at},
                       block_state::waiting, seen);
      }
      end_if(ended, operation::wait, at);
      return self().votes(yes) > 0;
    } else {
      return self().port().test({local, how, value, any_pe, operation::wait, at});
    }
  }

 protected:
  // Waits as part of `op`, which a stall report names.
  STARLING_HD void wait_as(operation op, sym<signal> first, index_t n, compare how, std::uint64_t value, int from,
                           where at) const {
    if constexpr (target::on_gpu) {
      bool failed = false;
      for (index_t i = self().member(); i < n; i += self().members())
        failed = failed || !gpu::wait(self().state(), self().index(), request(op, first, i, how, value, from, at));
      end_if(failed, op, at);
    } else {
      for (index_t i = 0; i < n; ++i) self().port().wait(request(op, first, i, how, value, from, at));
    }
  }

  // Ends all threads of the group if one of them has failed, or has left the kernel before: without it the group would
  // go on with what that thread did not do. Also a barrier of the group, which a vote of a warp alone is not.
  STARLING_HD void end_if(bool failed, operation op, where at) const {
    if (self().votes(!failed, at) < self().members()) leave(failed, op, at);
    if constexpr (std::is_same_v<Self, warp>) self().sync(at);
  }

  // Ends the calling thread. A thread that gave up in a wait has reported; one that returned from the kernel has not,
  // and is reported by those that it left.
  STARLING_HD void leave(bool failed, operation op, where at) const {
    if (!failed) gpu::report_absence(self().state(), self().index(), op, at);
    end_thread();
  }

  // Files that the group asks for what there is not, and ends the program, for every thread of the group.
  STARLING_HD void end_program(block_state state, operation op, int peer, std::uint64_t wanted, where at) const {
    if (leader()) gpu::refuse(self().state(), self().index(), state, op, peer, wanted, at);
    self().sync();
    end_thread();
  }

  STARLING_HD void end_thread() const {
    if (self().traced()) tracing::keep(self().state());
    if (self().with_warp()) target::leave_part_of_block(self().threads_of_block());
    target::exit_thread();
  }

  STARLING_HD void raise(sym<signal> sig, std::uint64_t value, signal_op op, int pe, where at) const {
    if (leader()) raise_by_thread(sig, value, op, pe, at);
  }

  STARLING_HD void raise_by_thread(sym<signal> sig, std::uint64_t value, signal_op op, int pe, where at) const {
    // Only blocks of `pe` wait for its copy: for one's own PE the cheaper fence suffices.
    signal& target = *sig.on(pe);
    if (self().behind_card(pe)) {
      const signal_update wanted{&target, op, value, pe, at, true, self().context_number()};
      const bool good =
          network::request(self(), [&](auto card) { return card.update(self().state(), self().index(), wanted); });
      if (!good) end_thread();
    } else if (pe == self().pe())
      set_or_add(gpu::device_atomic(target.value), value, op);
    else
      set_or_add(gpu::system_atomic(target.value), value, op);
  }

  STARLING_HD void check_pe(int pe, operation op, where at) const {
    if (pe >= 0 && pe < self().n_pes()) return;
    if constexpr (target::on_gpu) {
      end_program(block_state::out_of_range, op, pe, 0, at);
    } else {
      self().port().refuse_pe(op, pe, at);
    }
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
  STARLING_HD bool leader() const { return self().member() == 0; }

  STARLING_HD wait_request request(operation op, sym<signal> first, index_t i, compare how, std::uint64_t value,
                                   int from, where at) const {
    // In a machine-wide barrier signal i is that of PE i.
    const bool between_pes = (op == operation::sync_all || op == operation::all_reduce || op == operation::broadcast);
    if (between_pes && from == any_pe) from = static_cast<int>(i);
    return {(first + i).on(self().pe()), how, value, from, op, at};
  }

  template <class Word>
  STARLING_HD static void set_or_add(Word word, std::uint64_t value, signal_op op) {
    if (op == signal_op::set)
      word.store(value, cuda::memory_order_release);
    else
      word.fetch_add(value, cuda::memory_order_release);
  }

  STARLING_HD void update(sym<signal> sig, std::uint64_t value, int pe, signal_op op, where at) const {
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::signal, pe, sizeof(signal), sig, value, op);
    if constexpr (target::on_gpu) {
      self().sync();
      raise(sig, value, op, pe, at);
    } else {
      self().port().update({sig.on(pe), op, value, pe, at, true, self().context_number()});
    }
  }
};

}  // namespace starling
