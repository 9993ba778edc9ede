// What atomic operations order: nothing by themselves; release and acquire make locks.
#include "support/checked.hpp"

namespace starling::test::atomics_kernels_tests {
namespace {

using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;

struct lock_orders {
  cuda::memory_order take = memory_order_acquire;
  cuda::memory_order give = memory_order_release;
  bool fences = false;
};

// All blocks of all PEs add to numbers of PE 0, one at a time.
auto counted_under_lock(sym<int> lock, sym<int> numbers, lock_orders o) {
  return STARLING_KERNEL(block & b) {
    for (int round = 0; round < 2; ++round) {
      while (b.atomic_compare_swap(lock, 0, 1, 0, o.take) != 0) {
      }
      if (o.fences) b.fence();
      int seen[2] = {};
      b.get(seen, numbers, 2, 0);
      for (int& n : seen) ++n;
      b.put(numbers, seen, 2, 0);
      if (o.fences) b.quiet();
      b.atomic_set(lock, 0, 0, o.give);
    }
  };
}

TEST_CASE("a lock taken with acquire and given back with release keeps blocks apart") {
  machine m = checked_machine(3);
  const auto locks = zeroed<int>(m, 1);
  const auto numbers = zeroed<int>(m, 2);
  m.run(2, counted_under_lock(locks.data(), numbers.data(), {}));
  CHECK(read(m, numbers, 0) == std::vector<int>{12, 12});
}

TEST_CASE("a lock without release or acquire orders nothing, with fence and quiet either") {
  machine m = checked_machine(2);
  const auto locks = zeroed<int>(m, 1);
  const auto numbers = zeroed<int>(m, 2);
  for (const lock_orders o : {lock_orders{memory_order_relaxed, memory_order_release},
                              lock_orders{memory_order_acquire, memory_order_relaxed},
                              lock_orders{memory_order_relaxed, memory_order_relaxed, true}}) {
    const auto e = finding_of([&] { m.run(1, counted_under_lock(locks.data(), numbers.data(), o)); });
    if (e) CHECK((e->what_kind() == defect::unordered_read || e->what_kind() == defect::unordered_write));
    m.fill(locks.on(0), 0, sizeof(int));
  }
}

TEST_CASE("a release hands on puts to other PEs, and what its block has learnt") {
  machine m = checked_machine(3);
  const auto flags = zeroed<int>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const auto seen = zeroed<int>(m, 1);
  const sym<int> f = flags.data();
  const sym<int> x = data.data();
  const sym<int> y = seen.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) {
          b.p(x, 4, 2);  // not completed: the release does that
          (void)b.atomic_fetch_add(f, 1, 1, memory_order_release);
        } else if (b.pe() == 1) {
          while (b.atomic_fetch(f, 1, memory_order_acquire) != 1) {
          }
          b.atomic_set(f, 1, 2, memory_order_release);
        } else {
          while (b.atomic_swap(f, 0, 2, memory_order_acq_rel) == 0) {
          }
          *y.on(2) = *x.on(2);
        }
      });
  CHECK(read(m, seen, 2)[0] == 4);
}

TEST_CASE("a compare_swap that stores nothing releases nothing") {
  machine m = checked_machine(2);
  const auto flags = zeroed<int>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<int> f = flags.data();
  const sym<int> x = data.data();
  const auto kernel = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      b.p(x, 4, 1);
      (void)b.atomic_compare_swap(f, 7, 8, 1, memory_order_acq_rel);  // holds 0
    } else {
      (void)b.atomic_fetch(f, 1, memory_order_acquire);
      (void)*static_cast<volatile int*>(x.on(1));
    }
  };
  const auto e = finding_of([&] { m.run(1, kernel); });
  CHECK(e.has_value());
}

TEST_CASE("two locks taken crosswise: who holds what") {
  machine m = checked_machine(2);
  const auto locks = zeroed<int>(m, 2);
  const sym<int> lock = locks.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      const int first = fixed ? 0 : b.pe();
      const auto take = [&](int which) {
        while (b.atomic_compare_swap(lock + which, 0, 1, 0, memory_order_acquire) != 0) {
        }
      };
      take(first);
      take(1 - first);
      b.atomic_set(lock + (1 - first), 0, 0, memory_order_release);
      b.atomic_set(lock + first, 0, 0, memory_order_release);
    };
  };
  check_finds(m, 1, kernel(false), defect::deadlock,
              {"cycle of atomic operations: PE", "atomics_kernels.cpp:109 4 bytes at", "which hold 1, set by PE",
               "take locks in one order everywhere"});
  CHECK(m.checked().calls < 1'000'000);
  m.run(1, kernel(true));
}

TEST_CASE("a lock that its holder does not give back, and a flag that nobody sets") {
  machine m = checked_machine(2);
  const auto locks = zeroed<int>(m, 1);
  const sym<int> lock = locks.data();
  const auto kept = STARLING_KERNEL(block & b) {
    while (b.atomic_compare_swap(lock, 0, 1 + b.pe(), 0, memory_order_acquire) != 0) {
    }
  };
  check_finds(m, 1, kept, defect::endless,
              {"a loop that nothing ends", "which has returned from the kernel", "give it back"});
  const auto flag = STARLING_KERNEL(block & b) {
    while (b.g(lock, 0) != 5) {
    }
  };
  check_finds(m, 1, flag, defect::endless, {"calls the same again and again: get at"});
}

}  // namespace
}  // namespace starling::test::atomics_kernels_tests
