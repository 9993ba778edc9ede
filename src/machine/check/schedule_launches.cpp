// The part of a schedule that is kernels which blocks of programs launch.
#include <algorithm>

#include "schedule.hpp"
#include "starling/base/error.hpp"

namespace starling::check {

bool schedule::launch_beside(scheduled_block& a, const kernel_launch& k) {
  const auto program = static_cast<std::size_t>(a.program);
  const int most = program < work_.most_pending.size() ? work_.most_pending[program] : 0;
  expect<argument_error>(a.what == scheduled_block::kind::block && most > 0, "thread::launch at ", k.at.file, ":",
                         k.at.line,
                         ": the program does not say what it launches; set program::launches, for machine::run");
  std::vector<launched_kernel>& pending = pending_[{a.program, a.pe}];
  const bool room = pending.size() < static_cast<std::size_t>(most);
  if (room) {
    pending.push_back({k, snapshot_of_all(a)});
    wake_for_launches(a.program, a.pe);
    spins_.progress();
  }
  resume(a);
  return room;
}

// Any of those that rest; the others look for more by themselves.
void schedule::wake_for_launches(int program, int pe) {
  std::vector<scheduled_block*> resting;
  for (scheduled_block& a : work_.scheduled)
    if (a.what == scheduled_block::kind::launched && a.launched_from == program && a.pe == pe &&
        a.now == scheduled_block::state::finished)
      resting.push_back(&a);
  if (resting.empty()) return;
  scheduled_block& a = *resting[canonical_ ? 0 : random_.below(resting.size())];
  a.job = [this, &a] { serve_launches(a); };
  a.now = scheduled_block::state::waiting;
  make_ready(a);
}

// In any order: nothing orders launches. The end of each completes what it has put.
void schedule::serve_launches(scheduled_block& a) {
  std::vector<launched_kernel>& pending = pending_[{a.launched_from, a.pe}];
  while (!pending.empty()) {
    const auto which = pending.begin() + static_cast<std::ptrdiff_t>(canonical_ ? 0 : random_.below(pending.size()));
    launched_kernel next = std::move(*which);
    pending.erase(which);
    forget_all(a);
    acquire(a, *next.happened_before);
    snapshots_.drop(next.happened_before);
    resume(a);
    work_.run_launched(a, next.what);
    running_marks = nullptr;
    flush(a);
    check_stack_unused(a, stack_of(a));
    end_outstanding(a, any_context);
  }
}

// What the block ran before did not happen before what it runs next.
void schedule::forget_all(scheduled_block& a) {
  a.happened_before.reset(work_.scheduled.size());
  a.joined.assign(work_.scheduled.size(), 0);
  snapshots_.drop(a.released);
  ++a.clock;
}

}  // namespace starling::check
