// memcpy, memmove and memset in kernels, and what the standard library makes of them: seen as loads and stores are.
#include <algorithm>
#include <cstring>

#include "support/checked.hpp"

namespace starling::test::memory_calls_kernels_tests {
namespace {

constexpr index_t many = 512;

TEST_CASE("std::copy to another PE is no put") {
  machine m = checked_machine(2);
  const auto data = filled<int>(m, many, 1);
  const sym<int> x = data.data();
  check_finds(m, 1, STARLING_KERNEL(block & b) { std::copy(x.on(b.pe()), x.on(b.pe()) + many, x.on(1 - b.pe())); },
              defect::foreign_access, {"writes 2048 bytes at", "with a plain store; use put"});
}

TEST_CASE("memcpy and std::fill beyond the end of an array") {
  machine m = checked_machine(1);
  const auto from = filled<int>(m, many, 1);
  const auto to = zeroed<int>(m, many - 1);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  const auto copies = [=](std::size_t n) {
    return STARLING_KERNEL(block & b) { std::memcpy(y.on(b.pe()), x.on(b.pe()), n * sizeof(int)); };
  };
  check_finds(m, 1, copies(many), defect::out_of_bounds, {"writes 2048 bytes at", "outside of every allocation"});
  m.run(1, copies(many - 1));
  const auto fills = [=](index_t n) {
    return STARLING_KERNEL(block & b) {
      auto* bytes = reinterpret_cast<unsigned char*>(y.on(b.pe()));
      std::fill(bytes, bytes + n, static_cast<unsigned char>(3));
    };
  };
  check_finds(m, 1, fills(many * 4), defect::out_of_bounds, {"writes 2048 bytes at"});
  m.run(1, fills((many - 1) * 4));
  CHECK(read(m, to, 0)[many - 2] == 0x03030303);
}

TEST_CASE("memmove reads what a put writes, without its signal") {
  machine m = checked_machine(2);
  const auto signals = m.allocate<signal>(1);
  const auto data = zeroed<int>(m, many);
  const auto copy = zeroed<int>(m, many);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = copy.data();
  const auto kernel = [=](bool waits) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        b.put_signal(x, [](index_t i) { return static_cast<int>(i); }, many, s, 1, 1);
      } else {
        if (waits) b.wait(s, 1, 0);
        std::memmove(y.on(1), x.on(1), many * sizeof(int));
      }
    };
  };
  const auto e = finding_of([&] { m.run(1, kernel(false)); });
  if (e) check_parts(e->what(), {"memory_calls_kernels.cpp:56"});
  m.fill(signals.on(1), 0, sizeof(signal));
  m.run(1, kernel(true));
  CHECK(read(m, copy, 1)[many - 1] == many - 1);
}

TEST_CASE("memcpy of what nobody has written") {
  machine m = checked_machine(1);
  const auto from = m.allocate<int>(many);
  const auto to = m.allocate<int>(many);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  check_finds(m, 1, STARLING_KERNEL(block & b) { std::memcpy(y.on(b.pe()), x.on(b.pe()), many * sizeof(int)); },
              defect::uninitialised, {"reads 2048 bytes at", "which nothing has written"});
}

}  // namespace
}  // namespace starling::test::memory_calls_kernels_tests
