// Defects of signals and barriers that check mode finds.
#include "support/checked.hpp"

namespace starling::test::signals_kernels_tests {
namespace {

TEST_CASE("blocks that wait before they send: a cycle") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                b.wait(s, 1, 1 - b.pe());
                b.signal_set(s, 1, 1 - b.pe());
              },
              defect::deadlock,
              {"wait-for cycle", "PE 0 block 0 -> PE 1 block 0", "signals_kernels.cpp:13", "nothing has raised"});
}

TEST_CASE("a signal that is sent to another slot: the message names the slot") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 2);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0) b.signal_set(s, 7, 1);
                if (b.pe() == 1) b.wait(s + 1, 1, 0);
              },
              defect::lost_signal, {"signal +0x200 of PE 1 was raised to 7", "no block has waited for it", "returned"});
}

TEST_CASE("a signal that is never sent") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 1) b.wait(s, 1, 0);
              },
              defect::lost_signal,
              {"PE 1 block 0 (all) waits in wait", ">= 1, which holds 0, from PE 0", "has returned"});
}

TEST_CASE("a value that is there for a moment only may be missed") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 1) b.wait(s, compare::eq, 1, 0);
                if (b.pe() == 0)
                  for (int i = 1; i <= 2; ++i) b.signal_set(s, static_cast<std::uint64_t>(i), 1);
              },
              defect::lost_signal, {"== 1, which holds 2"});
}

TEST_CASE("a signal that goes back") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0) {
                  b.signal_set(s, 2, 1);
                  b.signal_set(s, 1, 1);
                }
              },
              defect::signal_back, {"went back from 2 to 1", "signals only grow"});
}

TEST_CASE("two blocks set one signal") {
  machine m = checked_machine(3);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() != 2) b.signal_set(s, 1, 2);
              },
              defect::two_writers, {"signal +0x200 of PE 2", "PE 0 block 0", "PE 1 block 0", "a signal of its own"});
}

TEST_CASE("two blocks may add to one signal, and one may set it after the other has told it to") {
  machine m = checked_machine(3);
  const auto signals = zeroed<signal>(m, 2);
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() != 2) b.signal_add(s, 1, 2);
        if (b.pe() == 2) {
          b.wait(s, 2);
          b.signal_set(s + 1, 1, 0);
          b.quiet();
          b.signal_set(s + 1, 1, 1);
        }
        if (b.pe() == 0) {
          b.wait(s + 1, 1, 2);
          b.signal_set(s + 1, 2, 0);
        }
      });
}

TEST_CASE("signals are 0 when they are allocated, again when their place is used anew; those in a struct are not") {
  machine m = checked_machine(2);
  const auto waits = [](sym<signal> s) {
    return STARLING_KERNEL(block & b) { b.wait(s, compare::eq, 0, 0); };
  };
  for (int round = 0; round < 2; ++round) {
    const auto signals = m.allocate<signal>(3);
    m.run(1, waits(signals.data()));
    CHECK(read(m, signals, 1)[2].value == 0);
    m.fill(signals.on(1), 0xff, 3 * sizeof(signal));
  }
  struct inbox {
    signal arrived;
    int data[2];
  };
  const auto inboxes = m.allocate<inbox>(1);
  const sym<inbox> i = inboxes.data();
  const sym<signal> s{&i.on(0)->arrived, i.stride_bytes()};
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 1) b.wait(s, 1, 0);
              },
              defect::uninitialised, {"which has no value", "machine::fill"});
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0) b.signal_add(s, 1, 1);
              },
              defect::uninitialised, {"adds to signal", "which has no value"});
}

TEST_CASE("barriers that differ, in kind, in size, in root, in number") {
  machine m = checked_machine(2);
  check_finds(m, 2,
              STARLING_KERNEL(block & b) {
                if (b.index() == 0)
                  b.sync_pe();
                else
                  b.sync_all();
              },
              defect::collective, {"collective 1 of PE", "is sync_pe", "is sync_all"});
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0)
                  (void)b.all_reduce(1, plus{});
                else
                  (void)b.all_reduce(1.0, plus{});
              },
              defect::collective, {"of 4 bytes", "of 8 bytes"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { (void)b.broadcast(1, b.pe()); }, defect::collective,
              {"broadcast", "from PE 0", "from PE 1"});
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0) b.sync_all();
              },
              defect::lost_signal, {"in sync_all", "PE 1 block 0 (all) has returned"});
}

TEST_CASE("a loop that nothing ends") {
  machine m = checked_machine(1, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                while (!b.test(s, compare::ge, 1)) {
                }
              },
              defect::endless, {"calls the same again and again: test at", "a loop that nothing ends"});
}

}  // namespace
}  // namespace starling::test::signals_kernels_tests
