// Memory of the block itself: its stack, the closure of the kernel, scratch.
#include "wrong/wrong.hpp"

namespace starling::test::nearby_kernels_tests {
namespace {

// The source on the stack is filled for the next put while the first is under way.
WRONG_PROGRAM(stack_source_changed_before_quiet, found, .kinds = {defect::source_reused},
              .says = {"put_nbi", "quiet()", "nearby_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 8);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int staged[4] = {1, 2, 3, 4};
        b.put_nbi(x, staged, 4, 1 - b.pe());
        if (fixed) b.quiet();
        for (int& v : staged) v += 4;
        b.put_nbi(x + 4, staged, 4, 1 - b.pe());
        b.quiet();
      });
  return read(m, data, 0) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8};
}

// The variable of a loop is the source of each step's put.
WRONG_PROGRAM(loop_variable_as_source, found, .kinds = {defect::source_reused},
              .says = {"put_nbi", "quiet()", "nearby_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int value = 0;
        for (int step = 0; step < 4; ++step) {
          value = 10 * step;
          b.put_nbi(x + step, &value, 1, 1 - b.pe());
          if (fixed) b.quiet();
        }
        b.quiet();
      });
  return read(m, data, 0) == std::vector<int>{0, 10, 20, 30};
}

// The destination on the stack is read while the get is under way.
WRONG_PROGRAM(stack_destination_read_before_quiet, found, .kinds = {defect::source_reused},
              .says = {"get_nbi", "quiet()", "nearby_kernels.cpp:"}) {
  const auto from = filled<int>(m, 4, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = from.data();
  const sym<int> y = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int got[4] = {};
        b.get_nbi(got, x, 4, 1 - b.pe());
        if (fixed) b.quiet();
        *y.on(b.pe()) = got[3];
        b.quiet();
      });
  return read(m, data, 0)[0] == 0x01010101;
}

// A functor that holds what it sends, and changes it.
struct sends_its_own {
  sym<int> x;
  bool fixed;
  mutable int value[2];
  STARLING_HD void operator()(block& b) const {
    if (b.pe() != 0) return;
    value[0] = 1;
    value[1] = 2;
    b.put_nbi(x, value, 2, 1);
    if (fixed) b.quiet();
    value[0] = 7;
    b.quiet();
  }
};

WRONG_PROGRAM(closure_source_changed_before_quiet, found, .kinds = {defect::source_reused},
              .says = {"put_nbi", "quiet()", "nearby_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 2);
  m.run(1, sends_its_own{data.data(), fixed, {}});
  return read(m, data, 1) == std::vector<int>{1, 2};
}

// Sixteen elements out of an array of four.
WRONG_PROGRAM(stack_array_too_short_as_source, found, .kinds = {defect::out_of_bounds},
              .says = {"its source", "nearby_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 16);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int staged[4] = {};
        for (int& v : staged) v = 3;
        b.put(x, staged, fixed ? 4 : 16, 1 - b.pe());
      });
  return read(m, data, 0)[3] == 3;
}

// Sixteen elements into an array of four.
WRONG_PROGRAM(stack_array_too_short_as_destination, found, .kinds = {defect::out_of_bounds},
              .says = {"its destination", "nearby_kernels.cpp:"}) {
  const auto from = filled<int>(m, 16, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = from.data();
  const sym<int> y = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int got[4] = {};
        b.get(got, x, fixed ? 4 : 16, 1 - b.pe());
        *y.on(b.pe()) = got[3];
      });
  return read(m, data, 0)[0] == 0x01010101;
}

// A sum in scratch memory that starts with what was there.
WRONG_PROGRAM(scratch_read_before_written, found, .kinds = {defect::uninitialised},
              .says = {"scratch", "nearby_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* sums = b.scratch<int>(4);
          if (fixed) b.for_each(4, [&](index_t i) { sums[i] = 0; });
          b.for_each(4, [&](index_t i) { sums[i] += 2; });
          *x.on(0) = sums[0] + sums[3];
        },
        {.scratch_bytes = 64});
  return read(m, data, 0)[0] == 4;
}

// A tile with its halo needs n + 2 elements, and has n.
WRONG_PROGRAM(scratch_beyond_the_end, found, .kinds = {defect::out_of_bounds},
              .says = {"scratch", "nearby_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          const index_t n = fixed ? 10 : 8;
          int* tile = b.scratch<int>(n);
          b.for_each(n, [&](index_t i) { tile[i] = 1; });
          *x.on(0) = tile[9] == 1 ? 1 : 2;
        },
        {.scratch_bytes = 256});
  return read(m, data, 0)[0] == 1;
}

// Two pieces of scratch memory are taken for one: the second need not lie behind the first.
WRONG_PROGRAM(scratch_of_another_piece, found, .kinds = {defect::out_of_bounds},
              .says = {"scratch", "nearby_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* flags = b.scratch<int>(4);
          int* counts = b.scratch<int>(4);
          b.for_each(4, [&](index_t i) { flags[i] = counts[i] = 5; });
          *x.on(0) = (fixed ? counts[0] : flags[4]) == 5 ? 1 : 2;
        },
        {.scratch_bytes = 64});
  return read(m, data, 0)[0] == 1;
}

// The element to the left of the first, in scratch memory.
WRONG_PROGRAM(scratch_before_the_start, found, .kinds = {defect::out_of_bounds, defect::uninitialised},
              .says = {"scratch", "nearby_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* first = b.scratch<int>(8);
          int* tile = b.scratch<int>(8);
          b.for_each(8, [&](index_t i) { first[i] = 0; });
          b.for_each(8, [&](index_t i) { tile[i] = 1; });
          int sum = 0;
          b.for_each(index_range{fixed ? 1 : 0, 8}, [&](index_t i) { sum += tile[i - 1]; });
          *x.on(0) = sum;
        },
        {.scratch_bytes = 256});
  return read(m, data, 0)[0] == 7;
}

// Half of the staging buffer is written, all of it is sent.
WRONG_PROGRAM(scratch_sent_unwritten, found, .kinds = {defect::uninitialised}, .says = {"nearby_kernels.cpp:"}) {
  const auto inbox = zeroed<int>(m, 8);
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = inbox.data();
  const sym<signal> s = signals.data();
  const sym<int> y = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* staged = b.scratch<int>(8);
          b.for_each(fixed ? 8 : 4, [&](index_t i) { staged[i] = 1; });
          b.put_signal(x, staged, 8, s, 1, 1 - b.pe());
          b.wait(s, 1, 1 - b.pe());
          *y.on(b.pe()) = x.on(b.pe())[7];
        },
        {.scratch_bytes = 32});
  return read(m, data, 0)[0] == 1;
}

// Scratch memory staged again while put_nbi may still read it.
WRONG_PROGRAM(scratch_source_changed_before_quiet, found, .kinds = {defect::source_reused},
              .says = {"put_nbi", "quiet()", "nearby_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 8);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* staged = b.scratch<int>(4);
          for (int half = 0; half < 2; ++half) {
            b.for_each(4, [&](index_t i) { staged[i] = half + 1; });
            b.put_nbi(x + 4 * half, staged, 4, 1 - b.pe());
            if (fixed) b.quiet();
          }
          b.quiet();
        },
        {.scratch_bytes = 16});
  return read(m, data, 0) == std::vector<int>{1, 1, 1, 1, 2, 2, 2, 2};
}

// The address of one block's scratch memory is handed to another block.
WRONG_PROGRAM(scratch_of_another_block, found, .kinds = {defect::foreign_access, defect::out_of_bounds},
              .says = {"scratch", "nearby_kernels.cpp:"}, .pes = 1) {
  const auto addresses = zeroed<int*>(m, 1);
  const auto data = zeroed<int>(m, 2);
  const sym<int*> address = addresses.data();
  const sym<int> x = data.data();
  m.run(2,
        STARLING_KERNEL(block & b) {
          int* mine = b.scratch<int>(1);
          *mine = 5;
          if (b.index() == 0) *address.on(0) = fixed ? x.on(0) : mine;
          if (b.index() == 0) x.on(0)[0] = *mine;
          b.sync_pe();
          const int seen = b.index() == 1 ? **address.on(0) : 0;
          b.sync_pe();
          if (b.index() == 1) x.on(0)[1] = seen;
        },
        {.scratch_bytes = 16});
  return read(m, data, 0) == std::vector<int>{5, 5};
}

// What get_nbi fetches is sent on before it is there.
WRONG_PROGRAM(source_handed_on_before_quiet, found, .kinds = {defect::source_reused},
              .says = {"quiet()", "nearby_kernels.cpp:"}) {
  const auto from = filled<int>(m, 4, 1);
  const auto staged = zeroed<int>(m, 4);
  const auto to = zeroed<int>(m, 4);
  const sym<int> x = from.data();
  const sym<int> y = staged.data();
  const sym<int> z = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.get_nbi(y.on(b.pe()), x, 4, 1 - b.pe());
        if (fixed) b.quiet();
        b.put(z, y.on(b.pe()), 4, 1 - b.pe());
        b.quiet();
      });
  return read(m, to, 0)[2] == 0x01010101;
}

}  // namespace
}  // namespace starling::test::nearby_kernels_tests
