// The part of a schedule that is the threads of blocks, and elements of loops.
#include "schedule.hpp"

#include <algorithm>
#include <vector>

namespace starling::check {

// Where nothing else is said: few, an odd number, several warps of several, or now and then a whole warp, which takes
// the time of many schedules. Not from the schedule's own numbers, which then are the same for any number of threads.
void schedule::draw_threads(std::uint64_t seed) {
  constexpr std::size_t cases = 32;
  constexpr int few[] = {1, 2, 3, 5, 1, 2, 3, 6};
  random by_seed(~seed);
  const std::size_t one = by_seed.below(cases);
  warp_draw_ = by_seed.next();
  if (canonical_)
    threads_ = 1;
  else if (work_.threads != 0)
    threads_ = work_.threads;
  else if (one == cases - 1)
    threads_ = 32;
  else
    threads_ = few[one % std::size(few)];
}

// Whole warps where there can be, as on a GPU; otherwise the seed draws a divisor of the threads.
schedule::thread_counts schedule::threads_of(const kernel& k) const {
  constexpr int whole = 32;
  int threads = k.threads_in_check != 0 ? k.threads_in_check : k.accesses_seen ? threads_ : 1;
  if (threads == 1) return {1, 1};
  if (k.whole_warps && threads < whole) threads = warp_draw_ % 2 == 0 ? whole : 2 * whole;
  if (k.whole_warps) threads = static_cast<int>(round_up(threads, whole));
  if (threads % whole == 0) return {threads, whole};
  std::vector<int> divisors;
  for (int n = 1; n <= std::min(threads, whole); ++n)
    if (threads % n == 0) divisors.push_back(n);
  return {threads, divisors[warp_draw_ / 2 % divisors.size()]};
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
