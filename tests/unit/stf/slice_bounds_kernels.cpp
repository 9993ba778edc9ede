// Slices that look at every index: reads inside work, an index outside ends the kernel with a range_error and touches
// nothing; the machine goes on.
#define STARLING_STF_CHECK_BOUNDS
#include "starling/stf/slice.hpp"

#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::slice_bounds_tests {
namespace {

using stf::slice;

TEST_CASE("checked slices read and write inside") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = poisoned<int>(*m, 30);
  const slice<int, 2> v(a.on(0), 5, 6);
  const slice<const int, 2> w = v;
  auto k = STARLING_KERNEL(block & b) {
    b.for_each(5, 6, [&](index_t i, index_t j) { v(i, j) = static_cast<int>(10 * i + j); });
    b.sync();
    b.for_each(5, 6, [&](index_t i, index_t j) { v(i, j) = w(i, j) + 1; });
  };
  m->run(1, k);
  const auto seen = read(*m, a, 0);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<int>(10 * (i / 6) + i % 6 + 1));
}

TEST_CASE("an index outside of a slice ends the kernel and touches nothing") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = poisoned<int>(*m, 90);
  const slice<int, 2> v(a.on(0) + 30, 5, 6);
  const index_t bad[][2] = {{5, 0}, {-1, 0}, {0, 6}, {0, -2}, {index_t{1} << 40, 0}};
  for (const auto& index : bad) {
    const index_t i = index[0];
    const index_t j = index[1];
    CAPTURE(i);
    CAPTURE(j);
    const bool first = i < 0 || i >= 5;
    const std::string wanted =
        message("index ", first ? i : j, " in dimension ", first ? 0 : 1, " of extent ", first ? 5 : 6);
    auto k = STARLING_KERNEL(block & b) {
      if (b.member() == 0) v(i, j) = 7;
    };
    check_parts(failure_of<range_error>([&] { m->run(1, k); }), {wanted});
    stream s = m->new_stream(0);
    check_parts(failure_of<range_error>([&] {
                  s.launch(1, k);
                  s.synchronize();
                }),
                {wanted});
    CHECK(read(*m, a, 0) == std::vector<int>(90, poison_value<int>()));
    check_usable(*m);
  }
}

TEST_CASE("an empty slice has no element") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = poisoned<int>(*m, 1);
  const slice<int> v(a.on(0), 0);
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() == 0) v(b.index()) = 7;
  };
  check_parts(failure_of<range_error>([&] { m->run(1, k); }), {"index 0 in dimension 0 of extent 0"});
  CHECK(read(*m, a, 0) == std::vector<int>(1, poison_value<int>()));
}

TEST_CASE("code of the host is checked too") {
  int memory[4] = {1, 2, 3, 4};
  const slice<int> v(memory, 4);
  CHECK(v(3) == 4);
  check_parts(failure_of<range_error>([&] { v(4) = 0; }), {"index 4", "dimension 0", "extent 4", "start at 0"});
  check_parts(failure_of<range_error>([&] { v[-1] = 0; }), {"index -1"});
}

}  // namespace
}  // namespace starling::test::slice_bounds_tests
