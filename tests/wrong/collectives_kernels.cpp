// Barriers, reductions and broadcasts that not all blocks make, or make differently, or that order less than is
// thought.
#include "wrong/wrong.hpp"

namespace starling::test::collectives_kernels_tests {
namespace {

// Blocks without a share of the work skip the barrier.
WRONG_PROGRAM(sync_pe_by_blocks_with_work, found, .kinds = {defect::lost_signal, defect::collective},
              .says = {"sync_pe", "collectives_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      3, STARLING_KERNEL(block & b) {
        const index_range mine = b.my_share(2);
        if (!fixed && mine.empty()) return;
        b.for_each(mine, [&](index_t i) { x.on(0)[i] = 1; });
        b.sync_pe();
      });
  return read(m, data, 0) == std::vector<int>{1, 1};
}

// Each PE iterates until its own residual is small, with a reduction in the loop.
WRONG_PROGRAM(loop_left_by_local_residual, found, .kinds = {defect::lost_signal, defect::collective, defect::deadlock},
              .says = {"all_reduce", "collectives_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int residual = 3 + b.pe();
        int largest = residual;
        while ((fixed ? largest : residual) > 0) {
          --residual;
          largest = b.all_reduce(residual, maximum{});
        }
        *x.on(b.pe()) = largest;
      });
  return read(m, data, 1)[0] == 0;
}

// The root passes a double, the others expect a float.
WRONG_PROGRAM(broadcast_of_two_types, found, .kinds = {defect::collective},
              .says = {"broadcast", "collectives_kernels.cpp:"}) {
  const auto data = zeroed<double>(m, 1);
  const sym<double> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed || b.pe() == 0)
          *x.on(b.pe()) = b.broadcast(b.pe() == 0 ? 2.5 : 0.0, 0);
        else
          *x.on(b.pe()) = static_cast<double>(b.broadcast(0.0f, 0));
      });
  return read(m, data, 1)[0] == 2.5;
}

// One PE sums, the other takes the maximum.
WRONG_PROGRAM(all_reduce_of_two_operators, found, .kinds = {defect::collective},
              .says = {"all_reduce", "collectives_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed || b.pe() == 0)
          *x.on(b.pe()) = b.all_reduce(b.pe() + 1, plus{});
        else
          *x.on(b.pe()) = b.all_reduce(b.pe() + 1, maximum{});
      });
  return read(m, data, 1)[0] == 3;
}

// The consumer role waits for a signal before the barrier, the producer raises it after.
WRONG_PROGRAM(wait_before_barrier_signal_after, found, .kinds = {defect::deadlock, defect::lost_signal},
              .says = {"sync_all", "collectives_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  role_plan roles;
  const role produces = roles.add("produces", 1);
  roles.add("consumes", 1);
  m.run(
      roles, STARLING_KERNEL(block & b) {
        if (b.role() == produces) {
          *x.on(b.pe()) = 5;
          if (fixed) b.signal_set(s, 1, b.pe());
          b.sync_all();
          if (!fixed) b.signal_set(s, 1, b.pe());
        } else {
          b.wait(s, 1, b.pe());
          *x.on(b.pe()) += 1;
          b.sync_all();
        }
      });
  return read(m, data, 1)[0] == 6;
}

// sync_all does not complete puts.
WRONG_PROGRAM(puts_before_sync_all, found, .kinds = races, .says = {"by put", "collectives_kernels.cpp:"}, .pes = 3) {
  const auto data = zeroed<int>(m, 3);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (int pe = 0; pe < b.n_pes(); ++pe) b.p(x + b.pe(), b.pe() + 1, pe);
        if (fixed)
          b.barrier_all();
        else
          b.sync_all();
        *y.on(b.pe()) = x.on(b.pe())[0] + x.on(b.pe())[1] + x.on(b.pe())[2];
      });
  return read(m, sums, 2)[0] == 6;
}

// The barrier of a PE is taken for one of the machine.
WRONG_PROGRAM(sync_pe_between_pes, found, .kinds = races, .says = {"by put", "collectives_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 4);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const auto value = [](index_t i) { return static_cast<int>(i); };
        if (b.index() == 0) b.put(x, value, 4, 1 - b.pe());
        b.quiet();
        if (fixed)
          b.sync_all();
        else
          b.sync_pe();
        if (b.index() == 1) *y.on(b.pe()) = x.on(b.pe())[3];
      });
  return read(m, sums, 0)[0] == 3;
}

// Blocks of a plain launch cannot meet.
WRONG_PROGRAM(sync_pe_in_a_launch, found, .kinds = {defect::collective},
              .says = {"sync_pe", "collectives_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  stream s = m.new_stream(0);
  s.launch(2,
           STARLING_KERNEL(block & b) {
             x.on(0)[b.index()] = 1;
             b.sync_pe();
             if (b.index() == 0) x.on(0)[0] += x.on(0)[1];
           },
           {.resident = fixed});
  s.synchronize();
  return read(m, data, 0)[0] == 2;
}

// The result is read by every block, written by the last to come, who is taken for the last to read.
WRONG_PROGRAM(broadcast_by_memory_without_second_barrier, found, .kinds = races,
              .says = {"collectives_kernels.cpp:", "sync_pe"}, .pes = 1) {
  const auto data = zeroed<int>(m, 3);
  const sym<int> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        int sum = 0;
        for (int step = 1; step <= 3; ++step) {
          if (b.index() == 0) x.on(0)[2] = step;
          b.sync_pe();
          sum += x.on(0)[2];
          if (fixed) b.sync_pe();
        }
        x.on(0)[b.index()] = sum;
      });
  return read(m, data, 0) == std::vector<int>{6, 6, 3};
}

}  // namespace
}  // namespace starling::test::collectives_kernels_tests
