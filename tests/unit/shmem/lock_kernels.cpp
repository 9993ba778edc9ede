// Locks: what set, test and clear give, and that a lock may be used again.
#include "starling/shmem/lock.hpp"

#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::lock_tests {
namespace {

TEST_CASE("test_lock takes a free lock, and not one that somebody holds") {
  auto m = test_machine(2);
  if (!m) return;
  for (const int home : {0, 1}) {
    auto owner = shmem::make_lock(*m, 1, home);
    const shmem::lock lock = owner.handle();
    auto answers = poisoned<int>(*m, 4);
    auto turns = zeroed<signal>(*m, 1);
    const sym<int> got = answers.data();
    const sym<signal> turn = turns.data();
    auto k = STARLING_KERNEL(block & b) {
      const auto tell = [&](int i, int value) {
        if (b.member() == 0) got.on(b.pe())[i] = value;
      };
      if (b.pe() == 0) {
        tell(0, shmem::test_lock(b, lock));
        tell(1, shmem::test_lock(b, lock));  // it has it already
        b.signal_set(turn, 1, 1);
        b.wait(turn, 1, 1);
        shmem::clear_lock(b, lock);
        b.signal_set(turn, 2, 1);
      } else {
        b.wait(turn, 1, 0);
        tell(0, shmem::test_lock(b, lock));
        b.signal_set(turn, 1, 0);
        b.wait(turn, 2, 0);
        tell(1, shmem::test_lock(b, lock));
        shmem::clear_lock(b, lock);
        shmem::set_lock(b, lock);
        tell(2, 7);
        shmem::clear_lock(b, lock);
      }
    };
    m->run(1, k, {.threads = 64});
    const int p = poison_value<int>();
    CHECK(read(*m, answers, 0) == std::vector<int>{0, 1, p, p});
    CHECK(read(*m, answers, 1) == std::vector<int>{1, 0, 7, p});
  }
}

TEST_CASE("blocks of all PEs count under a lock, by set and by test, run after run") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr int blocks = 3;
  constexpr int times = 30;
  auto owner = shmem::make_lock(*m, blocks, 1);
  const shmem::lock lock = owner.handle();
  auto numbers = zeroed<int>(*m, 2);
  const sym<int> x = numbers.data();
  auto k = STARLING_KERNEL(block & b) {
    for (int i = 0; i < times; ++i) {
      if (i % 3 == 2) {
        while (shmem::test_lock(b, lock) != 0) {
        }
      } else {
        shmem::set_lock(b, lock);
      }
      // No atomics: two at once would lose a step.
      const int first = b.g(x, 2);
      const int second = b.g(x + 1, 0);
      b.sync();  // every thread has got them
      b.p(x, first + 1, 2);
      b.p(x + 1, second + 2, 0);
      shmem::clear_lock(b, lock);
    }
  };
  for (int run = 1; run <= 2; ++run) {
    m->run(blocks, k, {.threads = 64});
    CHECK(read(*m, numbers, 2)[0] == run * 3 * blocks * times);
    CHECK(read(*m, numbers, 0)[1] == run * 2 * 3 * blocks * times);
  }
}

TEST_CASE("a lock is reset after a program that has kept it, and refuses numbers that make no sense") {
  auto m = test_machine(2);
  if (!m) return;
  auto owner = shmem::make_lock(*m, 1);
  const shmem::lock lock = owner.handle();
  auto entered = zeroed<int>(*m, 1);
  const sym<int> x = entered.data();
  auto keep = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) shmem::set_lock(b, lock);
  };
  auto use = STARLING_KERNEL(block & b) {
    shmem::set_lock(b, lock);
    if (b.member() == 0) *x.on(b.pe()) += 1;
    shmem::clear_lock(b, lock);
  };
  m->run(1, keep);
  owner.reset(*m);
  m->run(1, use);
  CHECK(read(*m, entered, 0)[0] == 1);
  CHECK(read(*m, entered, 1)[0] == 1);
  check_parts(failure_of<argument_error>([&] { (void)shmem::make_lock(*m, 0); }),
              {"make_lock: 0 blocks", "at least 1"});
  check_parts(failure_of<range_error>([&] { (void)shmem::make_lock(*m, 1, 2); }), {"home PE 2 of a machine with 2"});
}

}  // namespace
}  // namespace starling::test::lock_tests
