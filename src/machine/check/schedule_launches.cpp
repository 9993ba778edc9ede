// The part of a schedule that is kernels which blocks of programs launch.
#include <algorithm>

#include "schedule.hpp"
#include "starling/base/error.hpp"

namespace starling::check {

bool schedule::launch_beside(actor& a, const kernel_launch& k) {
  const auto program = static_cast<std::size_t>(a.program);
  const int most = program < work_.most_pending.size() ? work_.most_pending[program] : 0;
  expect<argument_error>(a.what == actor::kind::block && most > 0, "thread::launch at ", k.at.file, ":", k.at.line,
                         ": the program does not say what it launches; set program::launches, for machine::run");
  std::vector<launched_kernel>& pending = pending_[{a.program, a.pe}];
  const bool room = pending.size() < static_cast<std::size_t>(most);
  if (room) {
    pending.push_back({k, everything_known(a)});
    wake_for_launches(a.program, a.pe);
    spins_.progress();
  }
  resume(a);
  return room;
}

// Any of those that rest; the others look for more by themselves.
void schedule::wake_for_launches(int program, int pe) {
  std::vector<actor*> resting;
  for (actor& a : work_.actors)
    if (a.what == actor::kind::launched && a.launched_from == program && a.pe == pe && a.now == actor::state::finished)
      resting.push_back(&a);
  if (resting.empty()) return;
  actor& a = *resting[canonical_ ? 0 : random_.below(resting.size())];
  a.job = [this, &a] { serve_launches(a); };
  a.now = actor::state::waiting;
  make_ready(a);
}

// In any order: nothing orders launches. The end of each completes what it has put.
void schedule::serve_launches(actor& a) {
  std::vector<launched_kernel>& pending = pending_[{a.launched_from, a.pe}];
  while (!pending.empty()) {
    const auto which = pending.begin() + static_cast<std::ptrdiff_t>(canonical_ ? 0 : random_.below(pending.size()));
    launched_kernel next = std::move(*which);
    pending.erase(which);
    forget_all(a);
    learn(a, *next.known);
    snapshots_.drop(next.known);
    resume(a);
    work_.run_launched(a, next.what);
    running_marks = nullptr;
    flush(a);
    check_stack_unused(a, stack_of(a));
    end_outstanding(a, any_context);
  }
}

// What the actor ran before is no past of what it runs next.
void schedule::forget_all(actor& a) {
  a.known.reset(work_.actors.size());
  a.joined.assign(work_.actors.size(), 0);
  snapshots_.drop(a.released);
  ++a.clock;
}

}  // namespace starling::check
