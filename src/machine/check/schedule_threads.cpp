// The part of a schedule that is the threads of blocks, and elements of loops.
#include "schedule.hpp"

namespace starling::check {

// Where nothing else is said: few, an odd number, or now and then a warp, which takes the time of many schedules. Not
// from the schedule's own numbers, which then are the same for any number of threads.
void schedule::draw_threads(std::uint64_t seed) {
  constexpr std::size_t cases = 32;
  constexpr int few[] = {1, 2, 3, 5};
  if (canonical_)
    threads_ = 1;
  else if (work_.threads != 0)
    threads_ = work_.threads;
  else if (const std::size_t one = random(~seed).below(cases); one == cases - 1)
    threads_ = 32;
  else
    threads_ = few[one % std::size(few)];
}

void schedule::thread_runs(scheduled_block& a, int thread, std::uint32_t interval) {
  marks_.thread = thread;
  marks_.interval = interval;
  resume(a);
}

void schedule::thread_rests(scheduled_block& a) {
  running_marks = nullptr;
  flush(a);
}

void schedule::enter_element(const scheduled_block& a, loop_accesses& loop) {
  access_marks* running = running_marks;
  running_marks = nullptr;
  if (auto met = loop.enter()) {
    finding f{defect::loop_elements, "", {a.number}};
    f.elements = std::move(met);
    fail(std::move(f));
  }
  running_marks = running;
}

// A put_nbi or get_nbi that may not be complete must not use the stack of a kernel that has returned.
void schedule::check_stack_unused(const scheduled_block& a, byte_range stack) {
  for (const near_use& u : marks_.in_use) {
    if (u.block != a.number || !stack.holds(u.begin, u.end - u.begin)) continue;
    const operation_fact& o = a.operations[u.operation];
    fail({defect::source_reused,
          message(
              block_text(a), " returns from the kernel while ", o.what, " at ", o.at.file, ":", o.at.line,
              u.written ? " may still write " : " may still read ", u.end - u.begin,
              " bytes of its stack (not complete before quiet): call quiet() before the kernel, or the function that "
              "has the variable, returns"),
          {a.number}});
  }
}

}  // namespace starling::check
