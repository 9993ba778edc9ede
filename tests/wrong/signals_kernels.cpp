// Signals: raised too early, too often or not at all, and waits that wait for something else.
#include "wrong/wrong.hpp"

namespace starling::test::signals_kernels_tests {
namespace {

// PE 1 counts up by adding, PE 2 sets.
WRONG_PROGRAM(add_and_set_of_one_signal, found,
              .kinds = {defect::two_writers, defect::signal_back, defect::lost_signal, defect::deadlock},
              .says = {"signal", "signals_kernels.cpp:"}, .pes = 3) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 1 || (b.pe() == 2 && fixed)) b.signal_add(s, 1, 0);
        if (b.pe() == 2 && !fixed) b.signal_set(s, 1, 0);
        if (b.pe() == 0) {
          b.wait(s, 2);
          *x.on(0) = 1;
        }
      });
  return read(m, data, 0)[0] == 1;
}

// Every other PE adds one; the root counts itself too.
WRONG_PROGRAM(one_arrival_too_many_expected, found, .kinds = {defect::lost_signal},
              .says = {"wait", "signals_kernels.cpp:"}, .pes = 3) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() != 0) {
          b.signal_add(s, 1, 0);
        } else {
          b.wait(s, static_cast<std::uint64_t>(fixed ? b.n_pes() - 1 : b.n_pes()));
          *x.on(0) = 1;
        }
      });
  return read(m, data, 0)[0] == 1;
}

// The receiver waits for exactly 1, and the sender may have gone on to 2.
WRONG_PROGRAM(equality_passed_over, found, .kinds = {defect::lost_signal}, .says = {"wait", "signals_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) {
          b.signal_set(s, 1, 1);
          b.signal_set(s, 2, 1);
        } else {
          b.wait(s, fixed ? compare::ge : compare::eq, 1, 0);
          *x.on(1) = 1;
        }
      });
  return read(m, data, 1)[0] == 1;
}

// The signal first, the data after.
WRONG_PROGRAM(signal_before_its_data, found, .kinds = races, .says = {"by put", "signals_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 4);
  const auto sums = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v[4] = {1, 2, 3, 4};
        if (b.pe() == 0) {
          if (!fixed) b.signal_set(s, 1, 1);
          b.put(x, v, 4, 1);
          b.fence();
          if (fixed) b.signal_set(s, 1, 1);
        } else {
          b.wait(s, 1, 0);
          *y.on(1) = x.on(1)[3];
        }
      });
  return read(m, sums, 1)[0] == 4;
}

// The data is read whether test() said yes or no.
WRONG_PROGRAM(read_after_a_test_that_failed, found, .kinds = races, .says = {"put_signal", "signals_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v = 5;
        if (b.pe() == 0) {
          b.put_signal(x, &v, 1, s, 1, 1);
        } else {
          for (int tries = 0; tries < 3 && !b.test(s, compare::ge, 1); ++tries) {
          }
          if (fixed) b.wait(s, 1, 0);
          *y.on(1) = *x.on(1);
        }
      });
  return read(m, sums, 1)[0] == 5;
}

// Signals 0 to n - 2 are awaited, the data of all n is read.
WRONG_PROGRAM(one_of_the_signals_not_awaited, found, .kinds = races, .says = {"put_signal", "signals_kernels.cpp:"},
              .pes = 3) {
  const auto signals = zeroed<signal>(m, 3);
  const auto data = zeroed<int>(m, 3);
  const auto sums = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v = b.pe() + 1;
        b.put_signal(x + b.pe(), &v, 1, s + b.pe(), 1, 0);
        if (b.pe() != 0) return;
        b.wait_all(s, fixed ? 3 : 2, 1);
        for (int pe = 0; pe < 3; ++pe) *y.on(0) += x.on(0)[pe];
      });
  return read(m, sums, 0)[0] == 6;
}

// Both entries of wait_each name the left neighbour's signal.
WRONG_PROGRAM(one_signal_awaited_twice, found, .kinds = races, .says = {"put_signal", "signals_kernels.cpp:"},
              .pes = 3) {
  const auto signals = zeroed<signal>(m, 2);
  const auto data = zeroed<int>(m, 2);
  const auto sums = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v = b.pe() + 1;
        const int right = (b.pe() + 1) % 3;
        const int left = (b.pe() + 2) % 3;
        b.put_signal(x, &v, 1, s, 1, right);
        b.put_signal(x + 1, &v, 1, s + 1, 1, left);
        const auto what = [&](int i) { return awaited_signal{s + (fixed ? i : 0), i == 0 ? left : right}; };
        b.wait_each(2, what, 1);
        *y.on(b.pe()) = x.on(b.pe())[0] + x.on(b.pe())[1];
      });
  return read(m, sums, 0)[0] == 5;
}

// The receiver sets the signal back to 0 after use, as one would with a flag.
WRONG_PROGRAM(signal_reset_by_the_receiver, found, .kinds = {defect::signal_back, defect::two_writers},
              .says = {"signal", "signals_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 2);
  const auto data = zeroed<int>(m, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t t = 1; t <= 3; ++t) {
          const std::uint64_t value = fixed ? t : 1;
          const int v = static_cast<int>(t);
          if (b.pe() == 0) {
            b.put_signal(x, &v, 1, s, value, 1);
            b.wait(s + 1, t, 1);
          } else {
            b.wait(s, value, 0);
            *y.on(1) += *x.on(1);
            if (!fixed) b.signal_set(s, 0, 1);
            b.signal_set(s + 1, t, 0);
          }
        }
      });
  return read(m, sums, 1)[0] == 6;
}

// A plain store to the signal of the own PE.
WRONG_PROGRAM(signal_raised_by_a_plain_store, found,
              .kinds = {defect::unordered_read, defect::unordered_write, defect::two_writers},
              .says = {"signals_kernels.cpp:"}, .pes = 1) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 2);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        if (b.index() == 0) {
          x.on(0)[0] = 5;
          if (fixed)
            b.signal_set(s, 1, 0);
          else
            s.on(0)->value = 1;
        } else {
          b.wait(s, 1, 0);
          x.on(0)[1] = x.on(0)[0];
        }
      });
  return read(m, data, 0)[1] == 5;
}

// The signal is read by a plain load instead of wait or test.
WRONG_PROGRAM(signal_read_by_a_plain_load, found, .kinds = races, .says = {"signals_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) {
          b.signal_set(s, 1, 1);
        } else {
          const bool came = fixed ? b.test(s, compare::ge, 1) : s.on(1)->value >= 1;
          *x.on(1) = came ? 1 : 2;
          b.wait(s, 1, 0);
        }
      });
  return read(m, data, 1)[0] != 0;
}

// The block that waits for its own PE's signal has been told on another PE.
WRONG_PROGRAM(signal_raised_on_the_own_pe, found, .kinds = {defect::lost_signal},
              .says = {"signal", "signals_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) b.signal_set(s, 1, fixed ? 1 : b.pe());
        if (b.pe() == 1) {
          b.wait(s, 1, 0);
          *x.on(1) = 1;
        }
      });
  return read(m, data, 1)[0] == 1;
}

}  // namespace
}  // namespace starling::test::signals_kernels_tests
