// Kernels that blocks launch, under many schedules: a launch orders what happened before it before the kernel, and
// nothing orders anything behind it but the end of the program.
#include "support/checked.hpp"

namespace starling::test::check_launches_tests {
namespace {

enum class mistake { none, writes_after, reads_without_waiting, two_at_a_time, another_blocks_data };

struct copy_on {
  sym<int> from, to;
  sym<signal> there;
  int slot = 0;

  STARLING_HD void operator()(block& b) const {
    const int right = (b.pe() + 1) % b.n_pes();
    b.put_signal(to + slot, from.on(b.pe()) + slot, 4, there + slot, 1, right);
  }
};

// Not CHECK, which keeps exceptions that end a schedule.
void expect(bool yes) {
  if (!yes) throw std::runtime_error("not as it should be");
}

void run(machine& m, mistake wrong, int at_once) {
  constexpr int words = 16;
  const auto from = m.allocate<int>(words);
  const auto to = m.allocate<int>(words);
  const auto there = m.allocate<signal>(words);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(from.on(pe), 0, words * sizeof(int));
  const copy_on copy{from.data(), to.data(), there.data()};
  role_plan all, copies;
  all.add("all", 2);
  copies.add("copies", at_once);
  program p{all,
            make_kernel(STARLING_KERNEL(block & b) {
              const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
              copy_on mine = copy;
              mine.slot = 8 * b.index();
              if (wrong == mistake::another_blocks_data) mine.slot = 0;
              b.for_each(4, [&](index_t i) { copy.from.on(b.pe())[8 * b.index() + i] = b.pe() + 1; });
              b.sync();
              if (b.member() == 0 && (wrong != mistake::another_blocks_data || b.index() == 1))
                expect(b.thread().launch(mine));
              if (wrong == mistake::two_at_a_time && b.member() == 0) expect(b.thread().launch(mine));
              if (wrong == mistake::writes_after && b.member() == 0) copy.from.on(b.pe())[8 * b.index()] = 0;
              if (wrong == mistake::two_at_a_time || wrong == mistake::another_blocks_data) return;
              if (wrong != mistake::reads_without_waiting) b.wait(copy.there + mine.slot, 1, left);
              int sum = 0;
              for (int i = 0; i < 4; ++i) sum += copy.to.on(b.pe())[mine.slot + i];
              if (wrong == mistake::none) expect(sum == 4 * (left + 1));
            }),
            {}};
  p.launches = std::make_shared<const program>(program{copies, make_kernel(copy), {}});
  p.most_pending = 4;
  m.run({p});
}

TEST_CASE("launched kernels see what their launchers have written") {
  for (const int at_once : {1, 2, 3}) {
    machine m = checked_machine(2);
    run(m, mistake::none, at_once);
    CHECK(m.checked().schedules >= few_seeds);
  }
}

TEST_CASE("what nothing orders with launched kernels is found") {
  for (const mistake wrong :
       {mistake::writes_after, mistake::reads_without_waiting, mistake::two_at_a_time, mistake::another_blocks_data})
    for (const int at_once : {1, 2}) {
      CAPTURE(static_cast<int>(wrong));
      CAPTURE(at_once);
      machine m = checked_machine(2);
      const auto e = finding_of([&] { run(m, wrong, at_once); });
      if (e) check_parts(e->what(), {"PE ", "launches_kernels.cpp:"});
    }
}

TEST_CASE("no more launches are made than may be pending, and those run") {
  for (const int most : {1, 3}) {
    CAPTURE(most);
    machine m = checked_machine(1, few_seeds, 1, 1);
    int made = 0, ran = 0, refused = 0;
    int* counts[] = {&made, &ran, &refused};
    role_plan one;
    one.add("one", 1);
    const auto mark = [=](block& b) {
      b.sync();
      ++*counts[1];
    };
    program p{one,
              make_kernel([=](block& b) {
                for (int i = 0; i < 6; ++i) ++*counts[b.thread().launch(mark) ? 0 : 2];
              }),
              {}};
    p.launches = std::make_shared<const program>(program{one, make_kernel(mark), {}});
    p.most_pending = most;
    m.run({p});
    CHECK(ran == made);
    CHECK(refused > 0);
    CHECK(made > refused / 6 * most);
  }
}

TEST_CASE("a launch that the program does not speak of is refused") {
  machine m = checked_machine(1);
  check_parts(failure_of<argument_error>([&] {
                m.run(1, [](block& b) {
                  if (b.member() == 0) (void)b.thread().launch([](block&) {});
                });
              }),
              {"thread::launch at", "launches_kernels.cpp:", "set program::launches"});
}

}  // namespace
}  // namespace starling::test::check_launches_tests
