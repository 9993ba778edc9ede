// memcpy, memset and the algorithms of the standard library in kernels: large enough not to be compiled into stores.
#include <algorithm>
#include <cstring>

#include "wrong/wrong.hpp"

namespace starling::test::library_kernels_tests {
namespace {

constexpr index_t n = 200;
constexpr std::size_t bytes = n * sizeof(int);

// The receiver copies the message before it has waited for it.
WRONG_PROGRAM(copy_before_wait, found, .kinds = races, .says = {"put_signal", "library_kernels.cpp:"}) {
  const auto inbox = zeroed<int>(m, n);
  const auto data = zeroed<int>(m, n);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = inbox.data();
  const sym<int> y = data.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_signal(x, [](index_t i) { return static_cast<int>(i); }, n, s, 1, 1 - b.pe());
        if (fixed) b.wait(s, 1, 1 - b.pe());
        std::copy(x.on(b.pe()), x.on(b.pe()) + n, y.on(b.pe()));
        if (!fixed) b.wait(s, 1, 1 - b.pe());
      });
  return read(m, data, 0)[n - 1] == n - 1;
}

// memcpy in place of put.
WRONG_PROGRAM(memcpy_to_another_pe, found, .kinds = {defect::foreign_access},
              .says = {"memory of another PE", "library_kernels.cpp:"}) {
  const auto from = filled<int>(m, n, 1);
  const auto to = zeroed<int>(m, n);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed)
          b.put(y, x.on(b.pe()), n, 1 - b.pe());
        else
          std::memcpy(y.on(1 - b.pe()), x.on(b.pe()), bytes);
        b.barrier_all();
      });
  return read(m, to, 0)[n - 1] == 0x01010101;
}

// memcpy in place of get.
WRONG_PROGRAM(memcpy_from_another_pe, found, .kinds = {defect::foreign_access},
              .says = {"memory of another PE", "library_kernels.cpp:"}) {
  const auto from = filled<int>(m, n, 1);
  const auto to = zeroed<int>(m, n);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed)
          b.get(y.on(b.pe()), x, n, 1 - b.pe());
        else
          std::memcpy(y.on(b.pe()), x.on(1 - b.pe()), bytes);
      });
  return read(m, to, 0)[n - 1] == 0x01010101;
}

// Room for a terminator that the array does not have.
WRONG_PROGRAM(memset_one_too_far, found, .kinds = {defect::out_of_bounds},
              .says = {"behind the end of an allocation of 800", "library_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, n);
  const sym<int> x = data.data();
  m.run(1, STARLING_KERNEL(block&) { std::memset(x.on(0), 1, fixed ? bytes : bytes + 4); });
  return read(m, data, 0)[n - 1] == 0x01010101;
}

// Filled up to and with element n.
WRONG_PROGRAM(fill_one_too_far, found, .kinds = {defect::out_of_bounds},
              .says = {"behind the end of an allocation of 800", "library_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, n);
  const sym<int> x = data.data();
  m.run(1, STARLING_KERNEL(block&) { std::fill_n(x.on(0), fixed ? n : n + 1, 5); });
  return read(m, data, 0)[n - 1] == 5;
}

// Half of the source has been written; what was copied of the other half decides a branch.
WRONG_PROGRAM(memcpy_of_unwritten_memory, found, .kinds = {defect::uninitialised},
              .says = {"which nothing has written", "library_kernels.cpp:"}, .pes = 1) {
  const auto from = m.allocate<int>(n);
  const auto to = zeroed<int>(m, n);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  const sym<int> z = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(fixed ? n : n / 2, [&](index_t i) { x.on(0)[i] = 1; });
        std::memcpy(y.on(0), x.on(0), bytes);
        *z.on(0) = y.on(0)[n - 1] > 0 ? 1 : 2;
      });
  return read(m, data, 0)[0] == 1;
}

// Blocks copy their shares, and read those of others.
WRONG_PROGRAM(copies_of_blocks_without_barrier, found, .kinds = races, .says = {"sync_pe", "library_kernels.cpp:"},
              .pes = 1) {
  const auto from = filled<int>(m, 2 * n, 1);
  const auto to = zeroed<int>(m, 2 * n);
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  const sym<int> z = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const index_range mine = b.my_share(2 * n);
        std::copy(x.on(0) + mine.begin, x.on(0) + mine.end, y.on(0) + mine.begin);
        if (fixed) b.sync_pe();
        const index_range other = share(2 * n, 2, 1 - b.index());
        z.on(0)[b.index()] = std::count(y.on(0) + other.begin, y.on(0) + other.end, 0x01010101) == n ? 1 : 2;
      });
  return read(m, data, 0) == std::vector<int>{1, 1};
}

// The queue moves up by one; the last element is taken from behind the array.
WRONG_PROGRAM(memmove_from_behind_the_end, found, .kinds = {defect::out_of_bounds},
              .says = {"behind the end of an allocation of 800", "library_kernels.cpp:"}, .pes = 1) {
  const auto data = filled<int>(m, n, 1);
  const sym<int> x = data.data();
  m.run(1, STARLING_KERNEL(block&) { std::memmove(x.on(0), x.on(0) + 1, fixed ? bytes - sizeof(int) : bytes); });
  return read(m, data, 0)[0] == 0x01010101;
}

// memcpy over the source of put_nbi.
WRONG_PROGRAM(memcpy_over_a_source_in_flight, found, .kinds = {defect::source_reused},
              .says = {"put_nbi", "quiet()", "library_kernels.cpp:"}) {
  const auto staged = filled<int>(m, n, 1);
  const auto next = filled<int>(m, n, 2);
  const auto to = zeroed<int>(m, n);
  const sym<int> x = staged.data();
  const sym<int> y = next.data();
  const sym<int> z = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_nbi(z, x.on(b.pe()), n, 1 - b.pe());
        if (fixed) b.quiet();
        std::memcpy(x.on(b.pe()), y.on(b.pe()), bytes);
        b.quiet();
      });
  return read(m, to, 0)[n - 1] == 0x01010101;
}

}  // namespace
}  // namespace starling::test::library_kernels_tests
