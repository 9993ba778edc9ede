// Threads of blocks on several PEs: halos, pushes, pulls and sums over PEs.
#include "wrong/wrong.hpp"

namespace starling::test::threads_pes_kernels_tests {
namespace {

constexpr int n = 8;
const std::vector<defect> within = {defect::within_block};
const std::vector<defect> within_or_race = {defect::within_block, defect::unordered_read, defect::unordered_write};
const std::vector<defect> mismatch = {defect::collective};
const std::vector<std::string> here = {"threads_pes_kernels.cpp:"};

// What all threads compute is sent without a barrier.
WRONG_PROGRAM(sent_before_computed, found, .kinds = within, .says = here, .threads = 4) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = static_cast<int>(i) + 1; });
        if (fixed) b.sync();
        b.put(x + n, x.on(b.pe()), n, 1 - b.pe());
        b.barrier_all();
      });
  return read(m, data, 1)[2 * n - 1] == n;
}

// The same with a signal.
WRONG_PROGRAM(signalled_before_computed, found, .kinds = within, .says = here, .threads = 3) {
  const auto data = zeroed<int>(m, 2 * n);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> came = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = static_cast<int>(i) + 1; });
        if (fixed) b.sync();
        b.put_signal(x + n, x.on(b.pe()), n, came, 1, 1 - b.pe());
        b.wait(came, 1);
      });
  return read(m, data, 1)[2 * n - 1] == n;
}

// One thread puts what all have computed, without a barrier.
WRONG_PROGRAM(one_thread_sends_too_early, found, .kinds = within, .says = here, .threads = 5) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = static_cast<int>(i) + 1; });
        if (fixed) b.sync();
        if (b.member() == 0) b.thread().put(x + n, x.on(b.pe()), n, 1 - b.pe());
        b.barrier_all();
      });
  return read(m, data, 1)[2 * n - 1] == n;
}

// One thread gets what all then read.
WRONG_PROGRAM(got_by_one_thread, found, .kinds = within_or_race, .says = here, .threads = 4) {
  const auto data = zeroed<int>(m, 3 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = 4; });
        b.barrier_all();
        if (b.member() == 0) b.thread().get(x.on(b.pe()) + n, x, n, 1 - b.pe());
        if (fixed) b.sync();
        b.for_each(n, [&](index_t i) { x.on(b.pe())[2 * n + i] = x.on(b.pe())[n + i]; });
      });
  return read(m, data, 0)[3 * n - 1] == 4;
}

// One thread takes part in a sum over all PEs.
WRONG_PROGRAM(sum_over_pes_by_one_thread, found, .kinds = mismatch, .says = here, .threads = 3) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int sum = 0;
        if (fixed || b.member() == 0) sum = b.all_reduce(1, plus{});
        if (b.member() == 0) *x.on(b.pe()) = sum;
      });
  return read(m, data, 1)[0] == 2;
}

// Each thread passes its own value to the sum of the blocks.
WRONG_PROGRAM(sum_over_pes_of_each_thread, found, .kinds = mismatch, .says = here, .threads = 4) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int mine = 0;
        b.for_each(n, [&](index_t i) { mine += static_cast<int>(i); });
        if (fixed) mine = b.reduce(mine, plus{});
        const int sum = b.all_reduce(mine, plus{});
        if (b.member() == 0) *x.on(b.pe()) = sum;
      });
  return read(m, data, 1)[0] == n * (n - 1);
}

// One thread makes the barrier of all PEs. (The message names no line.)
WRONG_PROGRAM(barrier_by_one_thread, found, .kinds = mismatch, .says = {"threads missing"}, .threads = 2) {
  const auto data = zeroed<int>(m, n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = 1; });
        if (fixed || b.member() == 0) b.barrier_all();
      });
  return read(m, data, 1)[n - 1] == 1;
}

// Each thread sends to a PE of its own by a call of the block.
WRONG_PROGRAM(each_thread_to_another_pe, found, .kinds = mismatch, .says = here, .pes = 3, .threads = 3) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed) {
          for (int pe = b.member(); pe < b.n_pes(); pe += b.members())
            b.thread().put(x + n + b.pe(), x.on(b.pe()), 1, pe);
        } else {
          b.put(x + n + b.pe(), x.on(b.pe()), 1, b.member() % b.n_pes());
        }
        b.barrier_all();
      });
  return read(m, data, 1)[2 * n - 1] == 0;
}

// All threads of a PE count one, which the other PE then reads: one should.
WRONG_PROGRAM(counted_by_all_for_the_other_pe, found, .kinds = within, .says = here, .threads = 3) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (!fixed || b.member() == 0) x.on(b.pe())[0] += 1;
        b.barrier_all();
        if (b.member() == 0) x.on(b.pe())[1] = b.thread().g(x, 1 - b.pe());
      });
  return read(m, data, 1)[1] == 1;
}

// Threads set different values at the same place of another PE.
WRONG_PROGRAM(threads_put_to_one_place, found, .kinds = within_or_race, .says = here, .threads = 4) {
  const auto data = zeroed<int>(m, 64);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.thread().p(x + (fixed ? b.member() : b.member() / 2), b.member() + 1, 1 - b.pe());
        b.barrier_all();
      });
  return read(m, data, 1)[0] == 1;
}

// One PE does not wait for what the other sends.
WRONG_PROGRAM(halo_read_without_wait, found, .kinds = races, .says = here, .threads = 3) {
  const auto data = zeroed<int>(m, 2 * n);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> came = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_signal(x, [](index_t i) { return static_cast<int>(i) + 1; }, n, came, 1, 1 - b.pe());
        if (fixed || b.pe() == 0) b.wait(came, 1);
        b.for_each(n, [&](index_t i) { x.on(b.pe())[n + i] = x.on(b.pe())[i]; });
      });
  return read(m, data, 1)[2 * n - 1] == n;
}

// The source of put_nbi is changed by other threads before quiet.
WRONG_PROGRAM(source_changed_before_quiet, found, .kinds = {defect::source_reused, defect::within_block}, .says = here,
              .threads = 4) {
  const auto data = zeroed<int>(m, 2 * n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_nbi(x + n, x.on(b.pe()), n, 1 - b.pe());
        if (fixed) b.quiet();
        if (fixed) b.sync();
        b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = 9; });
        b.barrier_all();
      });
  return read(m, data, 1)[n] == 0;
}

// Threads count what they found at PE 0 by reading and writing over the wire, without an atomic operation.
WRONG_PROGRAM(bins_of_pe_0_by_get_and_put, found, .kinds = within_or_race, .says = here, .threads = 3) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          if (fixed)
            b.thread().atomic_inc(x + i % 2, 0);
          else
            b.thread().p(x + i % 2, b.thread().g(x + i % 2, 0) + 1, 0);
        });
        b.barrier_all();
      });
  return read(m, data, 0)[0] == n;
}

// The put reaches one element too far: into what the neighbour's threads write themselves.
WRONG_PROGRAM(halo_one_too_long, found, .kinds = within_or_race, .says = here, .threads = 2) {
  const auto data = zeroed<int>(m, 2 * n + 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put(x + n, x.on(b.pe()), fixed ? n : n + 1, 1 - b.pe());
        b.for_each(2, [&](index_t i) { x.on(b.pe())[2 * n + i] = 3; });
        b.barrier_all();
      });
  return read(m, data, 0)[2 * n] == 3;
}

}  // namespace
}  // namespace starling::test::threads_pes_kernels_tests
