// Records a call of a block: from where the span is made to where it dies. Only the block's first thread writes, so a
// call on thread() or warp() is recorded when that thread takes part. Without a trace it costs one branch that all
// threads take alike.
#pragma once

#include "starling/device/program_state.hpp"

namespace starling {
namespace tracing {

STARLING_HD inline bool on(const program_state& s) { return s.trace.heads != nullptr && target::thread_index() == 0; }

// What a block's first thread needs at hand. In the shared memory of a GPU's block: in registers it would be in the way
// of the kernel, and worked out anew for each record it would take most of the time.
struct block_log {
  trace_record* records;
  trace_ring* head;
  std::uint32_t written;  // as in the head
};
static_assert(sizeof(block_log) <= target::trace_memory_bytes);

STARLING_HD inline block_log log_of(const program_state& s, int block) {
  trace_ring* head = s.trace.heads + block;
  return {s.trace.records + static_cast<std::size_t>(block) * s.trace.capacity, head,
          static_cast<std::uint32_t>(head->written)};
}
STARLING_HD inline block_log& own_log() { return *reinterpret_cast<block_log*>(target::trace_memory()); }

// The block starts, and returns.
STARLING_HD inline void begin(const program_state& s, int block) {
  if (!on(s)) return;
  const block_log log = log_of(s, block);
  if constexpr (target::on_gpu) own_log() = log;
  log.head->begin = {target::ticks(), target::now_ns()};
}
// What a GPU's block keeps at hand goes to where the host finds it. Also called when a block gives up.
STARLING_HD inline void keep(const program_state& s) {
  if constexpr (target::on_gpu)
    if (on(s)) own_log().head->written = own_log().written;
}
STARLING_HD inline void end(const program_state& s, int block) {
  if (!on(s)) return;
  keep(s);
  s.trace.heads[block].end = {target::ticks(), target::now_ns()};
}

STARLING_HD inline std::uint64_t offset(const program_state& s, sym<signal> sig) {
  return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(sig.on(0)) - s.heap.on(0));
}

// Writes the next record into the block's ring, which starts now; its number, from 1.
STARLING_HD inline std::uint32_t append(const program_state& s, int block, const trace_record& r) {
  block_log log;
  if constexpr (target::on_gpu)
    log = own_log();
  else
    log = log_of(s, block);
  const std::uint32_t number = log.written + 1;
  if constexpr (target::on_gpu) {
    own_log().written = number;
    const std::uint32_t shift = s.trace.pair_shift;
    if ((number & ((1u << shift) - 1)) == 0)
      log.head->between[(number >> shift) % clock_pairs] = {target::ticks(), target::now_ns()};
  } else {
    log.head->written = number;
  }
  log.records[(number - 1) & (s.trace.capacity - 1)] = r;
  return number;
}

}  // namespace tracing

class trace_span {
 public:
  template <class Group>
  STARLING_HD trace_span(const Group& g, trace_operation op, int peer, index_t bytes)
      : state_(g.state()), block_(g.index()) {
    if (g.traced() && target::thread_index() == 0) open(op, peer, bytes, 0, 0, false);
  }
  template <class Group>
  STARLING_HD trace_span(const Group& g, trace_operation op, int peer, index_t bytes, sym<signal> sig,
                         std::uint64_t value, signal_op how = signal_op::set)
      : state_(g.state()), block_(g.index()) {
    if (g.traced() && target::thread_index() == 0)
      open(op, peer, bytes, tracing::offset(state_, sig), value, how == signal_op::add);
  }
  trace_span(const trace_span&) = delete;
  trace_span& operator=(const trace_span&) = delete;
  // A call that ends its block stays open in the trace.
  STARLING_HD ~trace_span() {
    if (number_ != 0 && !target::unwinding()) close();
  }

 private:
  STARLING_HD tracing::block_log log() const {
    if constexpr (target::on_gpu) return tracing::own_log();
    return tracing::log_of(state_, block_);
  }
  STARLING_HD trace_record& slot(const tracing::block_log& log) const {
    return log.records[(number_ - 1) & (state_.trace.capacity - 1)];
  }

  STARLING_HD void open(trace_operation op, int peer, index_t bytes, std::uint64_t signal, std::uint64_t value,
                        bool adds) {
    number_ = tracing::append(state_, block_,
                              {target::ticks(), 0, signal, value, static_cast<std::uint64_t>(bytes), peer,
                               static_cast<std::uint32_t>(op) + (adds ? 256u : 0u)});
  }

  // Unless calls made inside this one have filled the ring since.
  STARLING_HD void close() const {
    const tracing::block_log l = log();
    if (l.written - number_ >= state_.trace.capacity) return;
    trace_record& mine = slot(l);
    mine.end = target::ticks();
    if constexpr (!target::on_gpu)
      if (number_ > 1 && l.written == number_ && repeats(*before(mine), mine)) --l.head->written;
  }

  // A block of a virtual device takes every packet itself. One that it finds there, after another of the same message,
  // is only counted.
  STARLING_HD static bool repeats(trace_record& last, const trace_record& r) {
    constexpr std::uint64_t at_once = 1000;  // ns
    const bool yes = r.op() == trace_operation::take_packet && last.what == r.what && last.value == r.value &&
                     last.peer == r.peer && r.end - r.start < at_once;
    if (yes) last.bytes += r.bytes;
    return yes;
  }
  STARLING_HD trace_record* before(trace_record& r) const {
    const bool first = ((number_ - 1) & (state_.trace.capacity - 1)) == 0;
    return first ? &r + (state_.trace.capacity - 1) : &r - 1;
  }

  const program_state& state_;
  int block_;
  std::uint32_t number_ = 0;  // of the record, from 1; 0: none
};

}  // namespace starling
