// Calls of the block that its threads make with different values, or that one of them makes alone.
#include "wrong/wrong.hpp"

namespace starling::test::threads_arguments_kernels_tests {
namespace {

const std::vector<defect> mismatch = {defect::collective};
const std::vector<std::string> differ = {"arguments differ", "threads_arguments_kernels.cpp:"};

// Each thread adds a value of its own by a call of the block, which adds one of them.
WRONG_PROGRAM(fetch_add_of_each_thread, found, .kinds = mismatch, .says = differ, .pes = 1, .threads = 3) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed)
          b.thread().atomic_fetch_add(x, b.member() + 1, b.pe());
        else
          b.atomic_fetch_add(x, b.member() + 1, b.pe());
        if (b.member() == 0) x.on(b.pe())[1] = b.members();
      });
  const int threads = read(m, data, 0)[1];
  return read(m, data, 0)[0] == threads * (threads + 1) / 2;
}

// A thread that is not the first adds by a call of the block, which the first has to make too.
WRONG_PROGRAM(add_of_the_block_by_one_thread, found, .kinds = mismatch, .says = {"threads missing"}, .pes = 1,
              .threads = 2) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.member() != b.members() - 1) return;
        if (fixed)
          b.thread().atomic_add(x, 1, b.pe());
        else
          b.atomic_add(x, 1, b.pe());
      });
  return read(m, data, 0)[0] == 1;
}

// Each thread passes a value of its own, and one of them arrives.
WRONG_PROGRAM(p_of_each_thread, found, .kinds = mismatch, .says = differ, .threads = 4) {
  const auto data = zeroed<int>(m, 32);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed)
          b.thread().p(x + b.member(), b.member() + 1, 1 - b.pe());
        else
          b.p(x, b.member() + 1, 1 - b.pe());
        b.barrier_all();
      });
  return read(m, data, 1)[0] == 1;
}

// The threads of the root pass different values.
WRONG_PROGRAM(broadcast_of_each_thread, found, .kinds = mismatch, .says = differ, .threads = 5) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int value = b.broadcast(fixed ? 1 : b.member() + 1, 0);
        if (b.member() == 0) *x.on(b.pe()) = value;
      });
  return read(m, data, 1)[0] == 1;
}

}  // namespace
}  // namespace starling::test::threads_arguments_kernels_tests
