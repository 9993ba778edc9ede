// Several programs in one run: what one of them takes for granted of the other.
#include "wrong/wrong.hpp"

namespace starling::test::programs_kernels_tests {
namespace {

role_plan blocks(int n) {
  role_plan plan;
  plan.add("all", n);
  return plan;
}

template <class A, class B>
void run_both(machine& m, const A& a, const B& b) {
  m.run({program{blocks(1), make_kernel(a), {}}, program{blocks(2), make_kernel(b), {}}});
}

// The second program reads what the first is still writing.
WRONG_PROGRAM(second_program_reads_at_once, found, .kinds = races, .says = {"programs_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 4);
  const auto sums = zeroed<int>(m, 2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  const sym<signal> s = signals.data();
  const auto makes = STARLING_KERNEL(block & b) {
    b.for_each(4, [&](index_t i) { x.on(0)[i] = 3; });
    b.signal_set(s, 1, 0);
  };
  const auto uses = STARLING_KERNEL(block & b) {
    if (fixed) b.wait(s, 1, 0);
    y.on(0)[b.index()] = x.on(0)[3];
  };
  run_both(m, makes, uses);
  return read(m, sums, 0) == std::vector<int>{3, 3};
}

// sync_pe joins the blocks of one program only.
WRONG_PROGRAM(sync_pe_of_two_programs, found, .kinds = races, .says = {"programs_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 1);
  const auto sums = zeroed<int>(m, 2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  const sym<signal> s = signals.data();
  const auto makes = STARLING_KERNEL(block & b) {
    *x.on(0) = 3;
    b.sync_pe();
    if (fixed) b.signal_set(s, 1, 0);
  };
  const auto uses = STARLING_KERNEL(block & b) {
    if (fixed) b.wait(s, 1, 0);
    b.sync_pe();
    y.on(0)[b.index()] = *x.on(0);
  };
  run_both(m, makes, uses);
  return read(m, sums, 0) == std::vector<int>{3, 3};
}

// Both programs report progress by setting one signal.
WRONG_PROGRAM(both_programs_set_one_signal, found, .kinds = {defect::two_writers, defect::signal_back},
              .says = {"signal", "programs_kernels.cpp:"}, .pes = 1) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const auto first = STARLING_KERNEL(block & b) {
    if (fixed)
      b.signal_add(s, 1, 0);
    else
      b.signal_set(s, 1, 0);
    b.wait(s, fixed ? 3 : 1, 0);
    *x.on(0) = 1;
  };
  const auto second = STARLING_KERNEL(block & b) {
    if (fixed)
      b.signal_add(s, 1, 0);
    else
      b.signal_set(s, 2, 0);
  };
  run_both(m, first, second);
  return read(m, data, 0)[0] == 1;
}

// Each program waits for the other to begin.
WRONG_PROGRAM(programs_wait_for_each_other, found, .kinds = {defect::deadlock, defect::lost_signal},
              .says = {"programs_kernels.cpp:"}, .pes = 1) {
  const auto signals = zeroed<signal>(m, 2);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const auto first = STARLING_KERNEL(block & b) {
    if (fixed) b.signal_set(s, 1, 0);
    b.wait(s + 1, 1, 0);
    if (!fixed) b.signal_set(s, 1, 0);
    *x.on(0) = 1;
  };
  const auto second = STARLING_KERNEL(block & b) {
    if (b.index() != 0) return;
    b.wait(s, 1, 0);
    b.signal_set(s + 1, 1, 0);
  };
  run_both(m, first, second);
  return read(m, data, 0)[0] == 1;
}

// Both programs deal n items by their own numbers of blocks, so the parts of the two stages do not match.
WRONG_PROGRAM(shares_of_programs_with_other_blocks, found, .kinds = races, .says = {"programs_kernels.cpp:"},
              .pes = 1) {
  const auto data = zeroed<int>(m, 6);
  const auto signals = zeroed<signal>(m, 3);
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  const auto makes = STARLING_KERNEL(block & b) {
    b.for_each(b.my_share(6), [&](index_t i) { x.on(0)[i] = 1; });
    b.signal_set(s + b.index(), 1, 0);
  };
  const auto uses = STARLING_KERNEL(block & b) {
    if (fixed)
      b.wait_all(s, 3, 1, 0);
    else
      b.wait(s + b.index(), 1, 0);
    b.for_each(b.my_share(6), [&](index_t i) { x.on(0)[i] += 1; });
  };
  m.run({program{blocks(3), make_kernel(makes), {}}, program{blocks(2), make_kernel(uses), {}}});
  return read(m, data, 0) == std::vector<int>(6, 2);
}

}  // namespace
}  // namespace starling::test::programs_kernels_tests
