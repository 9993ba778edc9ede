// Write-back switched off, and numbers that tell values apart.
#include <numeric>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/test_machine.hpp"

namespace starling::test::write_back_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

void add_one(stream& s, slice<double> x) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += 1; }); });
}

std::vector<stf::backend_kind> back_ends() { return {stf::backend_kind::stream, stf::backend_kind::graph}; }

TEST_CASE("a value that nobody wants back is not copied") {
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : back_ends()) {
      for (const bool handle_goes : {false, true}) {
        context ctx(*m, {.backend = backend});
        std::vector<double> X(100, 1.0), Y(100, 1.0);
        {
          auto x = ctx.logical_data(X).set_write_back(false);
          auto y = ctx.logical_data(Y);
          ctx.task(exec_place::device(n_pes - 1), x.rw(), y.rw())->*[](stream& s, slice<double> dx, slice<double> dy) {
            add_one(s, dx);
            add_one(s, dy);
          };
          if (!handle_goes) ctx.finalize();
        }
        ctx.finalize();
        CHECK(X == std::vector<double>(100, 1.0));
        CHECK(Y == std::vector<double>(100, 2.0));
        CHECK(ctx.statistics().copies == 3);  // there two, back one
      }
    }
  }
}

TEST_CASE("switched off and on again") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  std::vector<double> X(10, 1.0);
  auto x = ctx.logical_data(X).set_write_back(false);
  ctx.task(x.rw())->*add_one;
  x.set_write_back(true);
  ctx.task(x.rw())->*add_one;
  ctx.finalize();
  CHECK(X == std::vector<double>(10, 3.0));
}

// What moves away because a device is full still has its value.
TEST_CASE("a full device and no write-back") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m, {.device_memory = 100'000});
  std::vector<std::vector<double>> X(6, std::vector<double>(5000, 0.0));
  std::vector<stf::logical_data<slice<double>>> x;
  for (auto& each : X) x.push_back(ctx.logical_data(each).set_write_back(false));
  for (int round = 0; round < 3; ++round)
    for (auto& each : x) ctx.task(each.rw())->*add_one;
  CHECK(ctx.statistics().evictions > 0);
  for (auto& each : x) CHECK(ctx.wait(each)(4999) == 3);
  ctx.finalize();
}

TEST_CASE("names, and numbers of values") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<std::uint64_t> numbers;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    std::vector<double> X(100), Y(100);
    std::iota(X.begin(), X.end(), 0.0);
    std::iota(Y.begin(), Y.end(), 1.0);
    auto x = ctx.logical_data(X).set_symbol("x");
    const auto y = ctx.logical_data(Y);
    CHECK(x.symbol() == "x");
    CHECK(y.symbol().empty());
    CHECK(ctx.hash(x) != ctx.hash(y));
    ctx.task(exec_place::device(1), x.rw())->*add_one;
    CHECK(ctx.hash(x) == ctx.hash(y));
    // A device that has it last, and rows that are apart, make no difference.
    ctx.prefetch(x, data_place::device(0));
    CHECK(ctx.hash(x) == ctx.hash(y));
    numbers.push_back(ctx.hash(x));
    std::vector<double> wide(200);
    for (int r = 0; r < 10; ++r)
      for (int c = 0; c < 10; ++c) wide[static_cast<std::size_t>(20 * r + c)] = 10 * r + c + 1;
    const auto rows = ctx.logical_data(
        strided_view<double, 2>(wide.data(), {starling::view_extents<2>(10, 10), cuda::std::array<index_t, 2>{20, 1}}));
    CHECK(ctx.hash(rows) == ctx.hash(y));
    double value = 0;
    const auto scalar = ctx.logical_data(stf::scalar_view<double>(&value));
    CHECK(ctx.hash(scalar) == 0xa8c7f832281a39c5u);
    ctx.finalize();
  }
  CHECK(numbers[0] == numbers[1]);
  CHECK(stf::logical_data<slice<int>>().symbol().empty());
}

}  // namespace
}  // namespace starling::test::write_back_tests
