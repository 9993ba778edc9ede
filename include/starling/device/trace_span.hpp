// Records a call of a block: from where the span is made to where it dies. Only the block's first thread writes, so a
// call on thread() or warp() is recorded when that thread takes part. Without a trace it costs one branch that all
// threads take alike.
#pragma once

#include "starling/device/program_state.hpp"

namespace starling {
namespace tracing {

STARLING_HD inline bool on(const program_state& s) { return s.trace.heads != nullptr && target::thread_index() == 0; }

STARLING_HD inline std::uint64_t& written(trace_ring& ring) {
  if constexpr (target::on_gpu) return *target::trace_cursor();
  return ring.written;
}

// The block starts, and returns.
STARLING_HD inline void begin(const program_state& s, int block) {
  if (!on(s)) return;
  s.trace.heads[block].begin = {target::ticks(), target::now_ns()};
  written(s.trace.heads[block]) = 0;
}
STARLING_HD inline void end(const program_state& s, int block) {
  if (on(s)) s.trace.heads[block].end = {target::ticks(), target::now_ns()};
}

STARLING_HD inline std::uint64_t offset(const program_state& s, sym<signal> sig) {
  return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(sig.on(0)) - s.heap.on(0));
}

}  // namespace tracing

class trace_span {
 public:
  template <class Group>
  STARLING_HD trace_span(const Group& g, trace_operation op, int peer, index_t bytes)
      : state_(g.state()), block_(g.index()) {
    if (tracing::on(state_)) open(op, peer, bytes, 0, 0, false);
  }
  template <class Group>
  STARLING_HD trace_span(const Group& g, trace_operation op, int peer, index_t bytes, sym<signal> sig,
                         std::uint64_t value, signal_op how = signal_op::set)
      : state_(g.state()), block_(g.index()) {
    if (tracing::on(state_)) open(op, peer, bytes, tracing::offset(state_, sig), value, how == signal_op::add);
  }
  trace_span(const trace_span&) = delete;
  trace_span& operator=(const trace_span&) = delete;
  // A call that ends its block stays open in the trace.
  STARLING_HD ~trace_span() {
    if (number_ != 0 && !target::unwinding()) close();
  }

 private:
  STARLING_HD trace_record& slot() const {
    const trace_rings& t = state_.trace;
    return t.records[static_cast<std::size_t>(block_) * t.capacity + ((number_ - 1) & (t.capacity - 1))];
  }

  STARLING_HD void open(trace_operation op, int peer, index_t bytes, std::uint64_t signal, std::uint64_t value,
                        bool adds) {
    const trace_rings& t = state_.trace;
    trace_ring& ring = t.heads[block_];
    const std::uint64_t number = ++tracing::written(ring);
    if constexpr (target::on_gpu) ring.written = number;
    number_ = static_cast<std::uint32_t>(number);
    const std::uint64_t now = target::ticks();
    if constexpr (target::on_gpu)
      if ((number_ & ((1u << t.pair_shift) - 1)) == 0)
        ring.between[(number_ >> t.pair_shift) % clock_pairs] = {now, target::now_ns()};
    slot() = {now, 0, signal, value, static_cast<std::uint64_t>(bytes), peer, op, adds, 0};
  }

  // Unless calls made inside this one have filled the ring since.
  STARLING_HD void close() const {
    std::uint64_t& newest = tracing::written(state_.trace.heads[block_]);
    if (static_cast<std::uint32_t>(newest) - number_ >= state_.trace.capacity) return;
    trace_record& mine = slot();
    mine.end = target::ticks();
    if constexpr (!target::on_gpu)
      if (number_ > 1 && newest == number_ && repeats(*before(mine), mine)) --newest;
  }

  // A block of a virtual device takes every packet itself. One that it finds there, after another of the same message,
  // is only counted.
  STARLING_HD static bool repeats(trace_record& last, const trace_record& r) {
    constexpr std::uint64_t at_once = 1000;  // ns
    const bool yes = r.op == trace_operation::take_packet && last.op == r.op && last.value == r.value &&
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
