// Worklists and queues of the threads of a block.
#include "wrong/wrong.hpp"

namespace starling::test::threads_worklists_kernels_tests {
namespace {

constexpr int n = 20;
const std::vector<defect> within = {defect::within_block};
const std::vector<std::string> no_barrier = {"no barrier of the block is between", "threads_worklists_kernels.cpp:"};

// Places in the list are taken by a plain counter.
WRONG_PROGRAM(place_by_plain_counter, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto lists = zeroed<int>(m, n + 1);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          const int place = fixed ? b.thread().atomic_fetch_inc(x + n, b.pe()) : x.on(b.pe())[n]++;
          x.on(b.pe())[place] = static_cast<int>(i) + 1;
        });
      });
  return read(m, lists, 0)[n] == n && read(m, lists, 0)[n - 1] > 0;
}

// The length is read while threads still append.
WRONG_PROGRAM(length_read_while_appended, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto lists = zeroed<int>(m, 2);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t) { b.thread().atomic_fetch_inc(x, b.pe()); });
        if (fixed) b.sync();
        if (b.member() == 0) x.on(b.pe())[1] = x.on(b.pe())[0];
      });
  return read(m, lists, 0)[1] == n;
}

// Items are taken from the list while threads still append to it.
WRONG_PROGRAM(items_taken_while_appended, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto lists = zeroed<int>(m, 2 * n + 1);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          const int place = b.thread().atomic_fetch_inc(x + 2 * n, b.pe());
          x.on(b.pe())[place] = static_cast<int>(i) + 1;
        });
        if (fixed) b.sync();
        b.for_each(n, [&](index_t i) { x.on(b.pe())[n + i] = x.on(b.pe())[n - 1 - i]; });
      });
  return read(m, lists, 0)[2 * n - 1] > 0;
}

// One thread sets the length to zero for the next round while others still read it.
WRONG_PROGRAM(length_cleared_while_read, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto lists = zeroed<int>(m, n + 1);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.member() == 0) x.on(b.pe())[n] = n;
        b.sync();
        const int length = x.on(b.pe())[n];
        if (fixed) b.sync();
        if (b.member() == 0) x.on(b.pe())[n] = 0;
        b.for_each(length, [&](index_t i) { x.on(b.pe())[i] = 1; });
      });
  return read(m, lists, 0)[n - 1] == 1;
}

// All threads set the length of the next list, by what each has appended itself.
WRONG_PROGRAM(length_stored_by_all, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto lists = zeroed<int>(m, 1);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int mine = 0;
        b.for_each(n, [&](index_t) { ++mine; });
        if (fixed) mine = b.reduce(mine, plus{});
        if (!fixed || b.member() == 0) *x.on(b.pe()) = mine;
      });
  return read(m, lists, 0)[0] == n;
}

// Each thread leaves the loop when it finds no work itself.
WRONG_PROGRAM(rounds_ended_by_each_thread, found, .kinds = {defect::collective}, .says = {"threads_worklists_kernels"},
              .pes = 1, .threads = 4) {
  const auto lists = zeroed<int>(m, n);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int left = b.member() + 1;
        for (bool more = true; more;) {
          --left;
          if (fixed) {
            more = b.any(left > 0);
          } else {
            more = left > 0;
            b.sync();
          }
        }
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = 1; });
      });
  return read(m, lists, 0)[n - 1] == 1;
}

// A vote that only threads with an item take part in.
WRONG_PROGRAM(votes_of_threads_with_items, found, .kinds = {defect::collective}, .says = {"threads_worklists_kernels"},
              .pes = 1, .threads = 3) {
  const auto lists = zeroed<int>(m, 2);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const bool item = b.member() == 0;
        int votes = 0;
        if (fixed || item) votes = b.votes(item);
        if (item) x.on(b.pe())[0] = votes;
      });
  return read(m, lists, 0)[0] == 1;
}

// One thread takes a part of the list for all, and the others use a number of their own.
WRONG_PROGRAM(part_taken_by_one, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto lists = zeroed<int>(m, n + 1);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int begin = 0;
        if (b.member() == 0) begin = b.thread().atomic_fetch_add(x + n, b.members(), b.pe());
        if (fixed) begin = b.first(begin);
        x.on(b.pe())[begin + (fixed ? b.member() : b.member() / 2)] = b.member() + 1;
      });
  return read(m, lists, 0)[0] == 1;
}

// One thread takes the part, and the others read where it begins without a barrier.
WRONG_PROGRAM(begin_read_too_early, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto lists = zeroed<int>(m, n + 2);
  const sym<int> x = lists.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.member() == 0) x.on(b.pe())[n] = b.thread().atomic_fetch_add(x + n + 1, b.members(), b.pe());
        if (fixed) b.sync();
        x.on(b.pe())[x.on(b.pe())[n] + b.member()] = 1;
      });
  return read(m, lists, 0)[0] == 1;
}

// An item is put into the queue after the counter says that it is there.
// Release and acquire, by operations of one thread each, order the item without a barrier.
WRONG_PROGRAM(counter_before_the_item, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto queues = zeroed<int>(m, 3);
  const sym<int> x = queues.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.member() == 0) {
          if (!fixed) b.thread().atomic_set(x, 1, b.pe(), cuda::memory_order_release);
          x.on(b.pe())[1] = 7;
          if (fixed) b.thread().atomic_set(x, 1, b.pe(), cuda::memory_order_release);
        }
        if (b.member() == b.members() - 1)
          if (b.thread().atomic_fetch(x, b.pe(), cuda::memory_order_acquire) == 1)
            x.on(b.pe())[2] = x.on(b.pe())[1] + 1;
      });
  const int taken = read(m, queues, 0)[2];
  return taken == 0 || taken == 8;  // the other thread may have looked too early
}

// The counter says that the item is there, but by a relaxed operation.
// Release and acquire, by operations of one thread each, order the item without a barrier.
WRONG_PROGRAM(relaxed_counter, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto queues = zeroed<int>(m, 3);
  const sym<int> x = queues.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.member() == 0) {
          x.on(b.pe())[1] = 7;
          b.thread().atomic_set(x, 1, b.pe(), fixed ? cuda::memory_order_release : cuda::memory_order_relaxed);
        }
        if (b.member() == b.members() - 1)
          if (b.thread().atomic_fetch(x, b.pe(), fixed ? cuda::memory_order_acquire : cuda::memory_order_relaxed) == 1)
            x.on(b.pe())[2] = x.on(b.pe())[1] + 1;
      });
  const int taken = read(m, queues, 0)[2];
  return taken == 0 || taken == 8;  // the other thread may have looked too early
}

// Places go round in a ring that is one shorter than the items.
WRONG_PROGRAM(ring_too_short, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 32) {
  const auto queues = zeroed<int>(m, n + 1);
  const sym<int> x = queues.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          const int place = b.thread().atomic_fetch_inc(x + n, b.pe());
          x.on(b.pe())[place % (fixed ? n : n - 1)] = static_cast<int>(i) + 1;
        });
      });
  return read(m, queues, 0)[n - 1] > 0;
}

// The list has a place fewer than items come.
WRONG_PROGRAM(list_too_short, found, .kinds = {defect::out_of_bounds}, .says = {"threads_worklists_kernels"}, .pes = 1,
              .threads = 4) {
  const auto lists = zeroed<int>(m, fixed ? n : n - 1);
  const auto lengths = zeroed<int>(m, 1);
  const sym<int> x = lists.data();
  const sym<int> length = lengths.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(
            n, [&](index_t i) { x.on(b.pe())[b.thread().atomic_fetch_inc(length, b.pe())] = static_cast<int>(i) + 1; });
      });
  return read(m, lists, 0)[n - 1] > 0;
}

// Two blocks append to one list by a plain counter that thread 0 of each raises.
WRONG_PROGRAM(list_of_two_blocks, found, .kinds = races, .says = {"threads_worklists_kernels"}, .pes = 1,
              .threads = 3) {
  const auto lists = zeroed<int>(m, n + 1);
  const sym<int> x = lists.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        int begin = 0;
        if (b.member() == 0)
          begin = fixed ? b.thread().atomic_fetch_add(x + n, n / 2, b.pe()) : (x.on(b.pe())[n] += n / 2) - n / 2;
        begin = b.first(begin);
        b.for_each(n / 2, [&](index_t i) { x.on(b.pe())[begin + i] = 1; });
      });
  return read(m, lists, 0)[n] == n && read(m, lists, 0)[n - 1] == 1;
}

}  // namespace
}  // namespace starling::test::threads_worklists_kernels_tests
