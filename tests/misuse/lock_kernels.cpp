// Locks cleared by another than who holds them, set twice, by blocks that they are not made for, and never given back.
#include "starling/shmem/lock.hpp"
#include "support/failure.hpp"
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::lock_tests {
namespace {

TEST_CASE("a lock cleared by a block that does not hold it: who does") {
  auto m = test_machine(2);
  if (!m) return;
  auto owner = shmem::make_lock(*m, 2);
  const shmem::lock lock = owner.handle();
  auto turns = zeroed<signal>(*m, 1);
  const sym<signal> turn = turns.data();
  const int line = __LINE__ + 7;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0 && b.index() == 1) {
      shmem::set_lock(b, lock);
      b.signal_set(turn, 1, 1);
    } else if (b.pe() == 1 && b.index() == 0) {
      b.wait(turn, 1, 0);
      shmem::clear_lock(b, lock);
    }
  };
  check_parts(failure_of<argument_error>([&] { m->run(2, k); }),
              {message("lock_kernels.cpp:", line), "(PE 1 block 0", "clears a lock that it does not hold",
               "PE 0 block 1 does", "the block that has set a lock clears it"});
  check_usable(*m);
}

TEST_CASE("a lock cleared twice") {
  auto m = test_machine(2);
  if (!m) return;
  auto owner = shmem::make_lock(*m, 1, 1);
  const shmem::lock lock = owner.handle();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 1) return;
    shmem::set_lock(b, lock);
    shmem::clear_lock(b, lock);
    shmem::clear_lock(b, lock);
  };
  check_parts(failure_of<argument_error>([&] { m->run(1, k); }), {"(PE 0 block 0", "nobody does"});
  check_usable(*m);
}

TEST_CASE("a lock set twice by its holder") {
  auto m = test_machine(2);
  if (!m) return;
  auto owner = shmem::make_lock(*m, 3);
  const shmem::lock lock = owner.handle();
  const int line = __LINE__ + 4;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0 || b.index() != 2) return;
    shmem::set_lock(b, lock);
    shmem::set_lock(b, lock);
  };
  check_parts(failure_of<argument_error>([&] { m->run(3, k); }),
              {message("lock_kernels.cpp:", line), "(PE 1 block 2", "holds already", "clear it first"});
  check_usable(*m);
}

TEST_CASE("a block beyond those that the lock is made for") {
  auto m = test_machine(2);
  if (!m) return;
  auto owner = shmem::make_lock(*m, 2);
  const shmem::lock lock = owner.handle();
  for (const int call : {0, 1, 2}) {
    auto k = STARLING_KERNEL(block & b) {
      if (b.index() != 2 || b.pe() != 1) return;
      if (call == 0) shmem::set_lock(b, lock);
      if (call == 1) (void)shmem::test_lock(b, lock);
      if (call == 2) shmem::clear_lock(b, lock);
    };
    check_parts(failure_of<range_error>([&] { m->run(3, k); }),
                {"block 2 uses a lock that is made for 2 blocks on each PE", "shmem::make_lock"});
  }
  check_usable(*m);
}

TEST_CASE("two locks taken crosswise: a cycle of two; a lock that is kept: a stall that names its PE") {
  auto m = test_machine(2);
  if (!m) return;
  auto one = shmem::make_lock(*m, 1);
  auto other = shmem::make_lock(*m, 1);
  const shmem::lock first = one.handle();
  const shmem::lock second = other.handle();
  auto turns = zeroed<signal>(*m, 1);
  const sym<signal> turn = turns.data();
  auto k = STARLING_KERNEL(block & b) {
    shmem::set_lock(b, b.pe() == 0 ? first : second);
    b.signal_set(turn, 1, 1 - b.pe());
    b.wait(turn, 1, 1 - b.pe());
    shmem::set_lock(b, b.pe() == 0 ? second : first);
  };
  const auto e = stall_of([&] { m->run(1, k, {.deadline = stall_deadline}); });
  REQUIRE(e);
  CHECK(cycle_of(*e) == std::vector<block_id>{{0, 0}, {1, 0}});
  check_parts(e->what(), {"wait_until at ", "== 1 wanted, 0 seen, from PE 1"});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::lock_tests
