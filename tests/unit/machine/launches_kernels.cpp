// Kernels that blocks of a program launch (thread::launch): each runs once, beside the program, which ends after them;
// what cannot be launched is refused.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"
#include "support/usable.hpp"

namespace starling::test::launches_tests {
namespace {

constexpr int blocks = 3;
constexpr int rounds = 40;

// Adds what its launcher has written to the sum at the next PE.
struct addition {
  sym<int> numbers;  // [blocks][rounds]
  sym<int> sums;     // [PEs][blocks][rounds] by sender
  int which = 0;
  int bad_pe = -1;  // of a signal; -1: none

  STARLING_HD void operator()(block& b) const {
    const int right = (b.pe() + 1) % b.n_pes();
    const index_t at = index_t{b.pe()} * blocks * rounds + which;
    if (b.member() == 0) {
      const int before = b.thread().g(sums + at, right);
      b.thread().p(sums + at, before + numbers.on(b.pe())[which], right);
    }
    b.quiet();
    if (bad_pe >= 0) b.signal_set(sym<signal>(), 1, bad_pe);
  }
};

program launching(const addition& a, int most_pending, bool says_so = true) {
  role_plan all;
  all.add("launchers", blocks);
  program p{all,
            make_kernel(STARLING_KERNEL(block & b) {
              for (int i = 0; i < rounds; ++i) {
                addition mine = a;
                mine.which = b.index() * rounds + i;
                if (b.member() == 0) {
                  a.numbers.on(b.pe())[mine.which] = 7 * mine.which + b.pe();
                  // Where there is no room for one more, later there is.
                  while (!b.thread().launch(mine)) {
                  }
                }
                b.sync();
              }
            }),
            {.threads = 64}};
  role_plan two;
  two.add("additions", 2);
  if (says_so) p.launches = std::make_shared<const program>(program{two, make_kernel(a), {.threads = 64}});
  p.most_pending = most_pending;
  return p;
}

bool cannot_launch(const machine& m) { return m.kind() == machine_kind::cuda && !target::can_launch; }

struct arrays {
  explicit arrays(machine& m)
      : numbers(m.allocate<int>(blocks * rounds)), sums(m.allocate<int>(index_t{m.size()} * blocks * rounds)) {
    for (int pe = 0; pe < m.size(); ++pe) m.fill(sums.on(pe), 0, static_cast<std::size_t>(sums.size()) * sizeof(int));
  }
  addition kernel() { return {numbers.data(), sums.data()}; }

  symmetric_array<int> numbers, sums;
};

TEST_CASE("each kernel that is launched runs once, and before the program is over") {
  for (const int pes : {1, 2, 3}) {
    auto m = test_machine(pes);
    if (!m || m->checking() || cannot_launch(*m)) return;  // check mode sees no end of a loop that tries again
    for (const int most_pending : {1, 5, blocks * rounds}) {
      CAPTURE(pes);
      CAPTURE(most_pending);
      arrays a(*m);
      for (int times = 1; times <= 2; ++times) {
        m->run({launching(a.kernel(), most_pending)});
        for (int pe = 0; pe < pes; ++pe) {
          const int from = (pe + pes - 1) % pes;
          std::vector<int> got(static_cast<std::size_t>(a.sums.size()));
          m->copy(got.data(), a.sums.on(pe), got.size() * sizeof(int));
          for (int i = 0; i < blocks * rounds; ++i)
            CHECK(got[static_cast<std::size_t>(from * blocks * rounds + i)] == times * (7 * i + from));
        }
      }
    }
    check_usable(*m);
  }
}

TEST_CASE("a kernel that was launched and fails ends the program") {
  auto m = test_machine(2);
  if (!m || m->checking() || cannot_launch(*m)) return;
  arrays a(*m);
  addition bad = a.kernel();
  bad.bad_pe = 1000;
  check_parts(failure_of<range_error>([&] { m->run({launching(bad, 500)}); }), {"PE 1000"});
  check_usable(*m);
}

TEST_CASE("what cannot be launched is refused") {
  auto m = test_machine(2);
  if (!m) return;
  arrays a(*m);
  program p = launching(a.kernel(), 0);
  check_parts(failure_of<argument_error>([&] { m->run({p}); }), {"program::most_pending = 0", "at least 1"});
  program nested = launching(a.kernel(), 9);
  nested.launches = std::make_shared<const program>(nested);
  check_parts(failure_of<argument_error>([&] { m->run({nested}); }), {"program::launches", "launches nothing itself"});
  if (cannot_launch(*m)) {
    check_parts(failure_of<unsupported_error>([&] { m->run({launching(a.kernel(), 9)}); }),
                {"relocatable", "starling_kernels(... LAUNCHES)"});
    return check_usable(*m);
  }
  program crowd = launching(a.kernel(), 9);
  program many = *crowd.launches;
  role_plan too_many;
  too_many.add("additions", 100'000);
  many.roles = too_many;
  crowd.launches = std::make_shared<const program>(many);
  check_parts(failure_of<launch_error>([&] { m->run({crowd}); }), {"100003 blocks per PE wanted"});
  if (m->kind() == machine_kind::host)
    check_parts(failure_of<argument_error>([&] { m->run({launching(a.kernel(), 9, false)}); }),
                {"thread::launch at", "launches_kernels.cpp:", "set program::launches"});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::launches_tests
