// Loops of several kinds in one program pass check mode with the values of the sequential loop, and bodies that touch
// what their loop has not named are found.
#include "starling/stf/rounds.hpp"
#include "support/checked.hpp"

namespace starling::test::stf_rounds_kernels_tests {
namespace {

using stf::exec_place;
using stf::loop;
using stf::persistent_ctx;
using stf::slice;

using int_slice = slice<std::int64_t>;

struct times_three {
  STARLING_HD void operator()(index_t i, int_slice v) const { v(i) = 3 * v(i) + i; }
};
struct add_mirrored {
  STARLING_HD void operator()(index_t i, slice<const std::int64_t> from, int_slice to) const {
    to(i) += from(from.extent(0) - 1 - i);
  }
};
struct add_all {
  STARLING_HD void operator()(index_t i, slice<const std::int64_t> from, std::int64_t& sum) const { sum += from(i); }
};

TEST_CASE("loops of three kinds on several devices") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const machine m = checked_machine(n_pes, 24);
    CAPTURE(n_pes);
    constexpr std::size_t n = 50;
    std::vector<std::int64_t> x(n, 1), y(n, 2), expected_x = x, expected_y = y;
    std::int64_t sum = 0;
    std::int64_t expected_sum = 0;
    for (int t = 0; t < 3; ++t) {
      for (std::size_t i = 0; i < n; ++i) expected_x[i] = 3 * expected_x[i] + static_cast<std::int64_t>(i);
      for (std::size_t i = 0; i < n; ++i) expected_y[i] += expected_x[n - 1 - i];
      for (const std::int64_t v : expected_y) expected_sum += v;
    }
    try {
      persistent_ctx ctx(m);
      auto a = ctx.logical_data(x);
      auto b = ctx.logical_data(y);
      auto total = ctx.logical_data(stf::scalar_view<std::int64_t>(&sum));
      stf::rounds(ctx, 3, loop(exec_place::device(n_pes - 1), a.shape(), a.rw())->*times_three(),
                  loop(exec_place::all_devices(), a.shape(), a.read(), b.rw())->*add_mirrored(),
                  loop(b.shape(), b.read(), total.reduce(stf::reducer::sum(), stf::no_init()))->*add_all());
      ctx.finalize();
    } catch (const check_error& e) {
      FAIL_CHECK(e.what());
    }
    CHECK(x == expected_x);
    CHECK(y == expected_y);
    CHECK(sum == expected_sum);
    CHECK(m.checked().accesses_seen);
    CHECK(m.checked().schedules >= 24);
  }
}

// Elements that depend on each other.
struct from_the_next {
  STARLING_HD void operator()(index_t i, int_slice v) const { v(i) = v((i + 1) % v.extent(0)); }
};

TEST_CASE("a body among others whose elements depend on each other") {
  machine m = checked_machine(1, 8);
  std::vector<std::int64_t> x(40, 1);
  const auto e = finding_of([&] {
    persistent_ctx ctx(m);
    auto a = ctx.logical_data(x);
    stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*times_three(), loop(a.shape(), a.rw())->*from_the_next());
    ctx.finalize();
  });
  REQUIRE(e);
  const bool found = e->what_kind() == defect::unordered_read || e->what_kind() == defect::unordered_write ||
                     e->what_kind() == defect::loop_elements;
  CHECK_MESSAGE(found, e->what());
}

}  // namespace
}  // namespace starling::test::stf_rounds_kernels_tests
