// Locks made of the block's atomic operations, around a counter in memory of PE 0.
#include "wrong/wrong.hpp"

namespace starling::test::locks_kernels_tests {
namespace {

// A lock that orders: what is done under it is seen by the next who holds it.
STARLING_HD void lock(const block& b, sym<int> word) {
  while (b.atomic_compare_swap(word, 0, b.pe() + 1, 0, cuda::memory_order_acquire) != 0) {
  }
}

STARLING_HD void unlock(const block& b, sym<int> word) { b.atomic_set(word, 0, 0, cuda::memory_order_release); }

STARLING_HD void add_one(const block& b, sym<int> counter) { b.p(counter, b.g(counter, 0) + 1, 0); }

// The lock is released before the put under it has arrived.
WRONG_PROGRAM(released_without_quiet, found, .kinds = races, .says = {"by put", "locks_kernels.cpp:"}) {
  const auto words = zeroed<int>(m, 2);
  const sym<int> x = words.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        lock(b, x);
        add_one(b, x + 1);
        if (fixed)
          unlock(b, x);
        else
          b.atomic_set(x, 0, 0);
      });
  return read(m, words, 0)[1] == 2;
}

// The counter is read before the lock is held.
WRONG_PROGRAM(read_before_the_lock_is_held, found, .kinds = races, .says = {"locks_kernels.cpp:"}) {
  const auto words = zeroed<int>(m, 2);
  const sym<int> x = words.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int value = fixed ? 0 : b.g(x + 1, 0);
        lock(b, x);
        if (fixed) value = b.g(x + 1, 0);
        b.p(x + 1, value + 1, 0);
        unlock(b, x);
      });
  return read(m, words, 0)[1] == 2;
}

// A PE that did not get the lock releases it all the same.
WRONG_PROGRAM(released_by_who_does_not_hold_it, found, .kinds = races, .says = {"locks_kernels.cpp:"}, .pes = 3) {
  const auto words = zeroed<int>(m, 2);
  const sym<int> x = words.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 2) {
          const bool held = b.atomic_compare_swap(x, 0, 3, 0) == 0;
          if (held || !fixed) unlock(b, x);
        } else {
          lock(b, x);
          add_one(b, x + 1);
          unlock(b, x);
        }
      });
  return read(m, words, 0)[1] == 2;
}

// Each PE locks the account that it takes from, then the one that it gives to.
WRONG_PROGRAM(crossed_locks, found, .kinds = {defect::deadlock}, .says = {"holds", "locks_kernels.cpp:"}) {
  const auto words = zeroed<int>(m, 3);
  const sym<int> x = words.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const index_t first = fixed ? 0 : b.pe();
        lock(b, x + first);
        lock(b, x + (1 - first));
        add_one(b, x + 2);
        unlock(b, x + (1 - first));
        unlock(b, x + first);
      });
  return read(m, words, 0)[2] == 2;
}

// A test with a plain load whether the lock is free, before it is taken.
WRONG_PROGRAM(lock_tested_by_a_plain_load, found, .kinds = races, .says = {"locks_kernels.cpp:"}, .pes = 1) {
  const auto words = zeroed<int>(m, 2);
  const sym<int> x = words.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const int seen = fixed ? b.atomic_fetch(x, 0) : *x.on(0);
        if (seen == 0 || fixed) {
          lock(b, x);
          add_one(b, x + 1);
          unlock(b, x);
        } else {
          b.atomic_fetch_add(x + 1, 1, 0);
        }
      });
  return read(m, words, 0)[1] == 2;
}

// The counter has two locks, and some take the one, some the other.
WRONG_PROGRAM(two_locks_for_one_counter, found, .kinds = races, .says = {"locks_kernels.cpp:"}) {
  const auto words = zeroed<int>(m, 3);
  const sym<int> x = words.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const index_t which = fixed ? 0 : b.pe();
        lock(b, x + which);
        add_one(b, x + 2);
        unlock(b, x + which);
      });
  return read(m, words, 0)[2] == 2;
}

}  // namespace
}  // namespace starling::test::locks_kernels_tests
