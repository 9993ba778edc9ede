#include "copy_queue.hpp"

namespace starling::host {
namespace {

// As a stream: whatever a step does is complete before the next thing begins. What is not blocking is delivered in
// pieces, in check mode in any order.
void carry_out(block& b, const copy_step& s) {
  for (const int pe : s.to) {
    b.put_nbi(s.data, s.data.on(b.pe()), static_cast<index_t>(s.bytes), pe);
    b.quiet();
  }
  if (s.on_host != nullptr) {
    b.put_nbi(sym<std::byte>(s.on_host, 0), s.data.on(b.pe()), static_cast<index_t>(s.bytes), b.pe());
    b.quiet();
  }
  const std::uint64_t made = b.g(s.made, b.pe());
  for (const int pe : s.to) {
    b.signal_set(s.arrived, made, pe);
    b.quiet();
  }
  if (s.arrived_host != nullptr) {
    b.signal_set(sym<signal>(s.arrived_host, 0), made, b.pe());
    b.quiet();
  }
  if (static_cast<bool>(s.done)) b.signal_set(s.done, made, b.pe());
}

// Waits for the step's data; false: it will not be made.
bool awaited(block& b, const copy_step& s) {
  b.wait_idle(s.awaited, s.value, b.pe());
  const sym<std::uint64_t> word(&s.awaited.on(0)->value, s.awaited.stride_bytes());
  return triggered_copies::is_made(b.atomic_fetch(word, b.pe()), s.value);
}

struct queue_kernel {
  static constexpr bool one_thread_on_host = true;

  const triggered_copies* copies;

  void operator()(block& b) const {
    copy_step s;
    for (std::uint64_t i = 0; copies->step(b.pe(), b.index(), i, s); ++i) {
      if (!awaited(b, s)) return;
      carry_out(b, s);
    }
  }
};

struct launched_queue_kernel {
  static constexpr bool one_thread_on_host = true;

  const launch_copies* copies;

  void operator()(block& b) const {
    for (const copy_step& s : copies->queues[static_cast<std::size_t>(b.index())])
      if (awaited(b, s)) carry_out(b, s);
  }
};

template <class F>
program queues_of(int queues, const F& f) {
  program p;
  p.roles.add("copy engine", queues);
  p.k = make_kernel(f);
  p.k.accesses_seen = true;  // it has none but its calls
  return p;
}

}  // namespace

program copy_queues(const triggered_copies& copies) { return queues_of(copies.queues(), queue_kernel{&copies}); }

program copy_queues(const launch_copies& copies) {
  return queues_of(static_cast<int>(copies.queues.size()), launched_queue_kernel{&copies});
}

}  // namespace starling::host
