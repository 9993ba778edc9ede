// Calls in the body of a task that would wait for the task itself.
#include <vector>

#include "starling/stf/context.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

using stf::context;
using stf::slice;

TEST_CASE("bodies of tasks cannot wait for all tasks") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<double> x(4, 1.0);
  context ctx(*m);
  auto d = ctx.logical_data(x);
  const auto refused = [&](stream&) {
    CHECK_THROWS_AS(ctx.fence(), argument_error);
    CHECK_THROWS_AS(ctx.synchronize(), argument_error);
    CHECK_THROWS_AS(ctx.finalize(), argument_error);
    CHECK_THROWS_AS(ctx.wait(d), argument_error);
  };
  ctx.task(d.rw())->*[&](stream& s, slice<double>) { refused(s); };
  // Nor those of tasks without data.
  ctx.task()->*refused;
  ctx.finalize();
  CHECK(x == std::vector<double>(4, 1.0));
}

TEST_CASE("after the end of a context nothing begins, not even a task without data") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  ctx.finalize();
  CHECK_THROWS_AS(ctx.task()->*[](stream&) {}, argument_error);
}

}  // namespace
}  // namespace starling::test
