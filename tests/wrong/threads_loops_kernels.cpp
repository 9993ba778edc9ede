// Threads of a block that share memory: push and pull, reductions, scans, histograms and lists, each without the
// barrier, the atomic operation or the guard that it needs.
#include "wrong/wrong.hpp"

namespace starling::test::threads_loops_tests {
namespace {

constexpr index_t n = 24;

// The sum of an array, by the threads of one block.
STARLING_HD int sum_of(const block& b, const int* x, index_t count) {
  int mine = 0;
  b.for_each(count, [&](index_t i) { mine += x[i]; });
  return b.reduce(mine, plus{});
}

// Each element is pushed to two neighbours, so that two threads add to one element.
WRONG_PROGRAM(push_to_neighbours_by_plain_additions, found, .kinds = {defect::within_block},
              .says = {"threads_loops_kernels.cpp:"}, .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          for (const index_t to : {(i + 1) % n, (i + n - 1) % n}) {
            if (fixed)
              b.thread().atomic_add(x + to, static_cast<int>(i), b.pe());
            else
              x.on(b.pe())[to] += static_cast<int>(i);
          }
        });
      });
  return read(m, data, 0)[5] == 4 + 6;
}

// A pull in place: elements are overwritten while neighbours are still to be read.
WRONG_PROGRAM(pull_in_place_by_a_loop, found, .kinds = {defect::within_block},
              .says = {"reads them at", "writes them at"}, .pes = 1, .threads = 3) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* from = x.on(b.pe());
        b.for_each(n, [=](index_t i) { from[i] = static_cast<int>(i); });
        b.sync();
        int* to = fixed ? from + n : from;
        b.for_each(n, [=](index_t i) { to[i] = from[(i + 1) % n] + 1; });
      });
  return read(m, data, 0)[fixed ? n + 3 : 3] == 5;
}

// Two buffers in turn, but no barrier between the steps.
WRONG_PROGRAM(two_buffers_without_a_barrier, found, .kinds = {defect::within_block}, .says = {"b.sync()"}, .pes = 1,
              .threads = 5) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* from = x.on(b.pe());
        int* to = from + n;
        for (int step = 0; step < 4; ++step) {
          b.for_each(n, [=](index_t i) { to[i] = from[(i + 1) % n] + 1; });
          if (fixed) b.sync();
          int* other = from;
          from = to;
          to = other;
        }
      });
  return read(m, data, 0)[0] == 4;
}

// The barrier is there, in every other step.
WRONG_PROGRAM(barrier_in_every_other_step, found, .kinds = {defect::within_block}, .says = {}, .pes = 1, .threads = 2) {
  const auto data = zeroed<int>(m, n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe());
        for (int step = 0; step < 4; ++step) {
          b.for_each(n, [=](index_t i) { mine[(i + step) % n] += 1; });
          if (fixed || step % 2 == 1) b.sync();
        }
      });
  return read(m, data, 0)[n - 1] == 4;
}

// A barrier that every other thread comes to.
WRONG_PROGRAM(barrier_of_half_of_the_threads, found, .kinds = {defect::collective}, .says = {"threads missing"},
              .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, 32);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        x.on(b.pe())[b.member()] = 1;
        if (fixed || b.member() % 2 == 0) b.sync();
      });
  return read(m, data, 0)[0] == 1;
}

// A sum whose partial results are read by thread 0 before they are written.
WRONG_PROGRAM(partial_sums_read_too_early, found, .kinds = {defect::within_block, defect::uninitialised}, .says = {},
              .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* partial = b.scratch<int>(32);
          int mine = 0;
          b.for_each(n, [&](index_t i) { mine += static_cast<int>(i); });
          partial[b.member()] = mine;
          if (fixed) b.sync();
          if (b.member() != 0) return;
          for (int t = 0; t < b.members(); ++t) *x.on(b.pe()) += partial[t];
        },
        {.threads = 32, .scratch_bytes = 128});
  return read(m, data, 0)[0] == n * (n - 1) / 2;
}

// Every thread adds its sum to the result, instead of the first one.
WRONG_PROGRAM(every_thread_adds_the_sum_of_all, found, .kinds = {defect::within_block}, .says = {"b.member() == 0"},
              .pes = 1, .threads = 3) {
  const auto data = filled<int>(m, n, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int all = sum_of(b, x.on(b.pe()), n);
        if (!fixed || b.member() == 0) *sum.on(b.pe()) += all;
      });
  return read(m, sums, 0)[0] == n * 0x01010101;
}

// The greatest element by reading and writing one word.
WRONG_PROGRAM(maximum_by_plain_comparison, found, .kinds = {defect::within_block}, .says = {}, .pes = 1,
              .threads = 32) {
  const auto best = zeroed<int>(m, 1);
  const sym<int> x = best.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed) {
          int mine = 0;
          b.for_each(
              n, [&](index_t i) { mine = static_cast<int>(i * 5 % n) > mine ? static_cast<int>(i * 5 % n) : mine; });
          mine = b.reduce(mine, maximum{});
          if (b.member() == 0) *x.on(b.pe()) = mine;
          return;
        }
        b.for_each(n, [&](index_t i) {
          if (static_cast<int>(i * 5 % n) > *x.on(b.pe())) *x.on(b.pe()) = static_cast<int>(i * 5 % n);
        });
      });
  return read(m, best, 0)[0] == n - 1;
}

// Bins of each thread that overlap those of the next by one.
WRONG_PROGRAM(bins_of_threads_overlap, found, .kinds = {defect::within_block}, .says = {}, .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, 4 * 32 + 4);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* bins = x.on(b.pe()) + 3 * b.member();
        for (int k = 0; k < (fixed ? 3 : 4); ++k) bins[k] += b.member() + 1;
      });
  return read(m, data, 0)[0] == 1;
}

// A list whose length is raised by an atomic operation, and whose elements are read before they are there.
WRONG_PROGRAM(list_read_while_it_grows, found, .kinds = {defect::within_block, defect::uninitialised}, .says = {},
              .pes = 1, .threads = 3) {
  const auto list = zeroed<int>(m, n);
  const auto length = zeroed<int>(m, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> items = list.data();
  const sym<int> count = length.data();
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          if (i % 3 == 0) items.on(b.pe())[b.thread().atomic_fetch_add(count, 1, b.pe())] = static_cast<int>(i);
        });
        if (fixed) b.sync();
        const int filled_up_to = b.thread().atomic_fetch(count, b.pe());
        int mine = 0;
        b.for_each(filled_up_to, [&](index_t i) { mine += items.on(b.pe())[i]; });
        if (fixed) mine = b.reduce(mine, plus{});
        if (b.member() == 0) *sum.on(b.pe()) = mine;
      });
  return read(m, sums, 0)[0] == 0 + 3 + 6 + 9 + 12 + 15 + 18 + 21;
}

// Pointer jumping in place: a parent is replaced while another thread follows it.
WRONG_PROGRAM(pointer_jumping_in_place, found, .kinds = {defect::within_block}, .says = {}, .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* parent = x.on(b.pe());
        b.for_each(n, [=](index_t i) { parent[i] = static_cast<int>(i > 0 ? i - 1 : 0); });
        b.sync();
        for (int step = 0; step < 5; ++step) {
          int* next = fixed ? parent + n : parent;
          b.for_each(n, [=](index_t i) { next[i] = parent[parent[i]]; });
          b.sync();
          if (fixed) b.for_each(n, [=](index_t i) { parent[i] = next[i]; });
          if (fixed) b.sync();
        }
      });
  return read(m, data, 0)[n - 1] == 0;
}

// A thread writes one element behind its part, which is the next thread's first.
WRONG_PROGRAM(part_of_a_thread_is_one_too_long, found, .kinds = {defect::within_block}, .says = {}, .pes = 1,
              .threads = 4) {
  const auto data = zeroed<int>(m, 4 * 32 + 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe()) + 4 * b.member();
        for (int k = 0; k < (fixed ? 4 : 5); ++k) mine[k] = 10 * b.member() + k;
      });
  return read(m, data, 0)[3] == 3;
}

// A flag in memory that threads look at without a barrier: one raises it, others read it.
WRONG_PROGRAM(flag_without_a_barrier, found, .kinds = {defect::within_block}, .says = {}, .pes = 1, .threads = 3) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* flag = x.on(b.pe());
        if (b.member() == b.members() - 1) flag[0] = 1;
        if (fixed) b.sync();
        const bool up = b.any(flag[0] == 1);
        if (b.member() == 0) flag[1] = up ? 1 : 0;
      });
  return read(m, data, 0)[1] == 1;
}

// A barrier of the warp stands where one of the block is needed.
WRONG_PROGRAM(barrier_of_the_warp_for_the_block, found, .kinds = {defect::within_block}, .says = {}, .pes = 1,
              .threads = 4) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* a = x.on(b.pe());
        b.for_each(n, [=](index_t i) { a[i] = static_cast<int>(i); });
        if (fixed)
          b.sync();
        else
          b.warp().sync();
        b.for_each(n, [=](index_t i) { a[n + i] = a[n - 1 - i]; });
      });
  return read(m, data, 0)[n] == n - 1;
}

// Threads leave a loop at different steps, and with it the barrier inside.
WRONG_PROGRAM(threads_leave_a_loop_with_a_barrier, found, .kinds = {defect::collective}, .says = {"threads missing"},
              .pes = 1, .threads = 3) {
  const auto data = zeroed<int>(m, 64);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int steps = fixed ? b.members() : b.member() + 1;
        for (int step = 0; step < steps; ++step) {
          x.on(b.pe())[b.member()] += 1;
          b.sync();
        }
        x.on(b.pe())[b.member()] += 1;
      });
  return read(m, data, 0)[0] == 2;
}

}  // namespace
}  // namespace starling::test::threads_loops_tests
