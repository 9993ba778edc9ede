// What a block records of its queue pairs while a program is traced: each entry that it posts, and each completion that
// it sees. Of the block's first thread, as all records are.
#pragma once

#include "starling/device/gpu_wait.hpp"
#include "starling/device/network/queue_pair.hpp"
#include "starling/device/trace_span.hpp"

namespace starling::network {

// For a bus of blocks that record nothing.
struct records_nothing {
  STARLING_HD static std::uint64_t begin_post() { return 0; }
  STARLING_HD static void posted(const queue_pair&, std::uint64_t, const order*, std::uint64_t, std::uint64_t) {}
  STARLING_HD static void answered(const queue_pair&) {}
};

// Of one block.
class card_trace {
 public:
  STARLING_HD card_trace(const program_state& s, int block) : state_(s), block_(block) {}

  // The time; 0: nothing is recorded.
  STARLING_HD std::uint64_t begin_post() const { return tracing::on(state_) ? target::ticks() : 0; }

  // The card has been told of n entries, whose places were asked for at `begin`.
  STARLING_HD void posted(const queue_pair& q, std::uint64_t first, const order* orders, std::uint64_t n,
                          std::uint64_t begin) const {
    if (!tracing::on(state_)) return;
    const std::uint64_t now = target::ticks();
    for (std::uint64_t i = 0; i < n; ++i)
      append(trace_operation::post, q, begin, now, static_cast<std::uint32_t>(orders[i].what), first + i,
             orders[i].bytes);
  }

  // What the card has answered since the last time. All before the first entry that failed was done.
  STARLING_HD void answered(const queue_pair& q) const {
    if (!tracing::on(state_)) return;
    queue_state& s = *q.state;
    const std::uint64_t completed = gpu::device_atomic(s.completed).load(cuda::memory_order_acquire);
    if (completed == s.recorded) return;
    const bool failed = gpu::device_atomic(s.error).load(cuda::memory_order_acquire) != 0;
    const std::uint64_t now = target::ticks();
    const auto record = [&](std::uint64_t end, status result) {
      if (end <= s.recorded) return;
      append(trace_operation::completion, q, now, now, static_cast<std::uint32_t>(result), end - 1, 0);
      s.recorded = end;
    };
    if (failed && s.recorded <= s.failed) {
      record(s.failed, status::ok);
      record(s.failed + 1, static_cast<status>(s.error));
    }
    record(completed, failed ? status::flushed : status::ok);
  }

 private:
  STARLING_HD void append(trace_operation what, const queue_pair& q, std::uint64_t start, std::uint64_t end,
                          std::uint32_t detail, std::uint64_t number, std::uint64_t bytes) const {
    constexpr int queue_bits = 24;
    const std::uint64_t queue = q.number | static_cast<std::uint64_t>(detail) << queue_bits;
    (void)tracing::append(state_, block_, {start, end, queue, number, bytes, q.peer, static_cast<std::uint32_t>(what)});
  }

  const program_state& state_;
  int block_;
};

}  // namespace starling::network
