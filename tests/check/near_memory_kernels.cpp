// Memory at the near side of a transfer that is no array of the machine: stacks, closures, constants and memory of the
// process. Its bounds, and how long a call that does not block still uses it.
#include <memory>

#include "support/checked.hpp"

namespace starling::test::near_memory_kernels_tests {
namespace {

TEST_CASE("the stack array that a put_nbi reads is changed before quiet") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      int values[4] = {1, 2, 3, 4};
      if (b.pe() != 0) return;
      b.put_nbi(x, values, 4, 1);
      if (fixed) b.quiet();
      values[2] = 9;
      b.quiet();
    };
  };
  check_finds(m, 1, kernel(false), defect::source_reused,
              {"4 bytes of the process (byte 8 of the 16 of the call)",
               "near_memory_kernels.cpp:18 (not complete before quiet)", "near_memory_kernels.cpp:20", "call quiet()"});
  m.run(1, kernel(true));
  CHECK(read(m, data, 1) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("the stack array that a get_nbi writes is read, or filled by another call, before quiet") {
  machine m = one_thread_machine(2);
  const auto data = filled<int>(m, 4, 5);
  const auto seen = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = seen.data();
  const auto reads = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      int values[4] = {};
      b.get_nbi(values, x, 4, 1 - b.pe());
      if (fixed) b.quiet();
      *y.on(b.pe()) = values[3];
      b.quiet();
    };
  };
  check_finds(m, 1, reads(false), defect::source_reused, {"writes them by get_nbi", "reads them at"});
  m.run(1, reads(true));
  CHECK(read(m, seen, 0)[0] == 0x05050505);
  const auto calls = STARLING_KERNEL(block & b) {
    int values[4] = {};
    b.get_nbi(values, x, 4, 1 - b.pe());
    b.get(values, x, 2, 1 - b.pe());
    b.quiet();
  };
  check_finds(m, 1, calls, defect::source_reused, {"writes them by get_nbi", "by the call shown below"});
}

TEST_CASE("a kernel returns while a put_nbi may still read its stack") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      int values[4] = {1, 2, 3, 4};
      if (b.pe() == 0) b.put_nbi(x, values, 4, 1);
      if (fixed) b.quiet();
    };
  };
  check_finds(m, 1, kernel(false), defect::source_reused,
              {"returns from the kernel while put_nbi", "16 bytes of its stack", "call quiet()"});
  m.run(1, kernel(true));
}

TEST_CASE("two put_nbi may read one source, and what one block sends is not what another changes") {
  machine m = checked_machine(3);
  const auto data = zeroed<int>(m, 6);
  const sym<int> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        int values[2] = {b.pe(), b.index()};
        b.put_nbi(x + 2 * b.index(), values, 2, (b.pe() + 1) % 3);
        b.put_nbi(x + 4 + b.index(), values, 1, (b.pe() + 2) % 3);
        b.quiet();
        values[0] = 7;
      });
  CHECK(read(m, data, 1) == std::vector<int>{0, 0, 0, 1, 2, 2});
}

TEST_CASE("a transfer goes beyond the end of a stack array or of what the closure holds") {
  machine m = one_thread_machine(2);
  const auto data = filled<int>(m, 64, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  struct four {
    int values[4] = {1, 2, 3, 4};
  };
  const four kept;
  struct guarded {
    int values[4] = {};
    int behind[64] = {};
  };
  const auto get = STARLING_KERNEL(block & b) {
    guarded g;
    b.get(g.values, x, 16, 1 - b.pe());
    *y.on(b.pe()) = g.values[0] + g.behind[0];
  };
  // The bound is that of the variable, so a row of an array is not told from the whole.
  CHECK_NOTHROW(m.run(1, get));
  const auto too_long = STARLING_KERNEL(block & b) {
    int values[4] = {};
    b.put(x, values + 1, 16, 1 - b.pe());
  };
  check_finds(m, 1, too_long, defect::out_of_bounds,
              {"its source, 64 bytes, goes beyond the end of its variable, which has 12 bytes from there on"});
  const auto beyond = STARLING_KERNEL(block & b) { b.put(x, kept.values, 60, 1 - b.pe()); };
  check_finds(m, 1, beyond, defect::out_of_bounds, {"its source, 240 bytes"});
}

TEST_CASE("of the process a kernel may send constants, and no more") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  static constexpr int table[4] = {4, 3, 2, 1};
  static int variable[4] = {4, 3, 2, 1};
  const auto heap = std::make_unique<int[]>(4);
  const int* constant = table;
  int* on_heap = heap.get();
  int* changeable = variable;
  m.run(1, STARLING_KERNEL(block & b) { b.put(x, constant, 4, 1 - b.pe()); });
  CHECK(read(m, data, 0) == std::vector<int>{4, 3, 2, 1});
  check_finds(
      m, 1, STARLING_KERNEL(block & b) { b.put(x, on_heap, 4, 1 - b.pe()); }, defect::out_of_bounds,
      {"calls put at", "its source, 16 bytes of the process, is memory that no device reaches", "capture it by value"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.put(x, changeable, 4, 1 - b.pe()); }, defect::out_of_bounds,
              {"memory that no device reaches"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.get(on_heap, x, 4, 1 - b.pe()); }, defect::out_of_bounds,
              {"its destination, 16 bytes of the process"});
}

}  // namespace
}  // namespace starling::test::near_memory_kernels_tests
