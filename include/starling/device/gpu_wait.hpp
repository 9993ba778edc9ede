// How a GPU thread waits: poll, with a deadline, and leave when the program is ended elsewhere.
#pragma once

#include <cuda/atomic>

#include "starling/device/network/card_view.hpp"
#include "starling/device/program_state.hpp"

namespace starling::gpu {

template <class T>
STARLING_HD cuda::atomic_ref<T, cuda::thread_scope_system> system_atomic(T& word) {
  return cuda::atomic_ref<T, cuda::thread_scope_system>(word);
}

// For words that only blocks of one PE touch.
template <class T>
STARLING_HD cuda::atomic_ref<T, cuda::thread_scope_device> device_atomic(T& word) {
  return cuda::atomic_ref<T, cuda::thread_scope_device>(word);
}

STARLING_HD inline bool program_ended(const program_state& s) {
  return system_atomic(s.control.abort.on(s.pe)->value).load(cuda::memory_order_relaxed) != 0;
}

// Whether the card has answered one of the block's calls with an error, which then is reported; looks at all answers.
// In network/gpu_calls.hpp.
STARLING_HD inline bool network_has_failed(const program_state& s, int block);

// Writes this block's report where the host finds it, then, if it is a first cause, ends the program on every PE that
// it reaches; the host ends it behind network cards.
STARLING_HD inline void file_report(const program_state& s, int block, const block_report& report) {
  block_report& slot = s.reports[static_cast<std::uint32_t>(block) % s.report_slots];
  const int role = s.roles.role_of(block);
  // Another thread of this block may have found the first cause already.
  const bool is_cause = report.state != block_state::waiting && report.state != block_state::late;
  if (!is_cause && slot.state != block_state::running) return;
  slot = report;
  slot.pe = s.pe;
  slot.block = block;
  slot.role = role;
  target::fence_system();
  if (!is_cause) return;
  for (int pe = 0; pe < s.n_pes; ++pe)
    if (s.network == nullptr || s.network->host_of[pe] == s.network->host_of[s.pe])
      system_atomic(s.control.abort.on(pe)->value).store(1, cuda::memory_order_relaxed);
}

// Files that threads of this block are missing at a collective, unless the block has a report already: then they have
// given up in a wait of their own. Every collective comes here, so there is one copy of it, and it is short: the host
// finds out the role, and ends the program when it sees the report.
__attribute__((noinline)) STARLING_HD inline void report_absence(const program_state& s, int block, operation op,
                                                                 where at) {
  block_report& slot = s.reports[static_cast<std::uint32_t>(block) % s.report_slots];
  if (*static_cast<const volatile block_state*>(&slot.state) != block_state::running) return;
  slot.pe = s.pe;
  slot.block = block;
  slot.op = op;
  set_place(slot, at);
  slot.state = block_state::incomplete;
}

// Files that a block asks for what there is not, and ends the program.
__attribute__((noinline)) STARLING_HD inline void refuse(const program_state& s, int block, block_state state,
                                                         operation op, int peer, std::uint64_t wanted, where at) {
  block_report r;
  r.state = state;
  r.op = op;
  r.peer = peer;
  r.wanted = wanted;
  set_place(r, at);
  file_report(s, block, r);
}

// The same for a message that its channel cannot carry.
__attribute__((noinline)) STARLING_HD inline void refuse_message(const program_state& s, int block, std::int64_t n,
                                                                 std::int64_t capacity, std::uint64_t number,
                                                                 where at) {
  block_report r;
  r.state = block_state::out_of_range;
  r.op = operation::channel;
  r.wanted = static_cast<std::uint64_t>(n);
  r.seen = static_cast<std::uint64_t>(capacity);
  r.signal_offset = number;
  set_place(r, at);
  file_report(s, block, r);
}

STARLING_HD inline std::uint64_t offset_in_heap(const program_state& s, const void* address) {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - s.heap.on(s.pe));
}

// Files what a wait that has not been satisfied was for. Out of line, as all that happens once at most; the request by
// value, so that waits need not keep it in memory.
__attribute__((noinline)) STARLING_HD inline void give_up(const program_state& s, int block, wait_request w,
                                                          block_state state, std::uint64_t seen) {
  block_report r;
  r.state = state;
  r.op = w.op;
  r.peer = w.from;
  r.how = w.how;
  r.signal_offset = offset_in_heap(s, w.local);
  r.wanted = w.wanted;
  r.seen = seen;
  r.kind = w.kind;
  set_place(r, w.at);
  file_report(s, block, r);
}

// How long a wait goes on: until the program has ended, or its deadline or the wait's own limit has passed.
class patience {
 public:
  STARLING_HD explicit patience(const program_state& s, bool idle = false, std::uint64_t limit_ns = 0)
      : state_(s), limit_ns_(limit_ns), idle_(idle) {}

  // To be called after each look that was in vain.
  STARLING_HD bool spent() {
    if (++looks_ % between_checks != 0) return false;  // what follows takes long
    ended_ = program_ended(state_);
    if constexpr (target::on_gpu && target::has_network_entries)
      ended_ = ended_ || (state_.network != nullptr && network_has_failed(state_, target::block_index()));
    if (idle_) return ended_;
    const std::uint64_t now = target::now_ns();
    if (start_ == 0) start_ = now;
    return ended_ || now - start_ >= (limit_ns_ != 0 ? limit_ns_ : state_.deadline_ns);
  }
  // When it is spent: whether by the end of the program, and what to report.
  STARLING_HD bool ended() const { return ended_; }
  STARLING_HD block_state why() const {
    if (!ended_) return block_state::expired;
    return looks_ == between_checks ? block_state::late : block_state::waiting;
  }

 private:
  static constexpr int between_checks = 64;

  const program_state& state_;
  std::uint64_t start_ = 0;
  std::uint64_t limit_ns_;
  int looks_ = 0;
  bool ended_ = false;
  bool idle_;
};

// How a wait ended; `failed`: report filed, and the thread has to leave.
enum class wait_end : std::int32_t { came, timed_out, failed };

// Calls look() until the value it returns compares as wanted, as values of its type.
template <class Look>
STARLING_HD wait_end poll_until(const program_state& s, int block, const wait_request& w, const Look& look) {
  using word = std::decay_t<decltype(look())>;
  for (patience rest(s, w.idle, w.limit_ns);;) {
    const word seen = look();
    if (holds_as(seen, w.how, static_cast<word>(w.wanted))) return wait_end::came;
    if (!rest.spent()) continue;
    if (w.limit_ns != 0 && !rest.ended()) return wait_end::timed_out;
    give_up(s, block, w, rest.why(), widened(seen));
    return wait_end::failed;
  }
}

// The same for waits that end the program: false, report filed, on deadline or abort.
template <class Look>
STARLING_HD bool poll(const program_state& s, int block, const wait_request& w, const Look& look) {
  return poll_until(s, block, w, look) == wait_end::came;
}

// Waits for a signal; acquires.
STARLING_HD inline bool wait(const program_state& s, int block, const wait_request& w) {
  auto word = system_atomic(static_cast<signal*>(const_cast<void*>(w.local))->value);
  return poll(s, block, w, [&] { return word.load(cuda::memory_order_acquire); });
}

}  // namespace starling::gpu
