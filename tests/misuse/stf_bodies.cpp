// Bodies of tasks that would wait for themselves or for one another, and names that drawings must not trip over.
#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/test_machine.hpp"

namespace starling::test::stf_bodies_tests {
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

// One of the two is refused, the other then gets its data.
TEST_CASE("bodies on two threads that each want the other's data") {
  const auto m = test_machine(1);
  if (!m) return;
  for (int round = 0; round < 50; ++round) {
    std::vector<double> x(4, 1.0), y(4, 1.0);
    context ctx(*m);
    auto a = ctx.logical_data(x);
    auto b = ctx.logical_data(y);
    std::atomic<int> refused{0};
    std::barrier both(2);
    const auto cross = [&](auto& mine, auto& other) {
      ctx.task(mine.rw())->*[&](stream&, slice<double>) {
        both.arrive_and_wait();
        try {
          ctx.task(other.rw())->*[](stream&, slice<double>) {};
        } catch (const argument_error&) {
          ++refused;
        }
      };
    };
    std::thread second([&] { cross(b, a); });
    cross(a, b);
    second.join();
    ctx.finalize();
    CHECK(refused == 1);
  }
}

TEST_CASE("names of any kind in drawings") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m, {.drawing = true});
  ctx.task().set_symbol("<a> \"b\" c\\ #1")->*[](stream&) {};
  ctx.finalize();
  CHECK(ctx.dot().find("[label=\"<a> \\\"b\\\" c\\\\ #1\\ndevice 0\"]") != std::string::npos);
  CHECK(ctx.mermaid().find("[\"#lt;a#gt; #quot;b#quot; c\\ #35;1<br/>device 0\"]") != std::string::npos);
}

TEST_CASE("after the end of a context nothing begins, not even a task without data") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  ctx.finalize();
  CHECK_THROWS_AS(ctx.task()->*[](stream&) {}, argument_error);
}

}  // namespace
}  // namespace starling::test::stf_bodies_tests
