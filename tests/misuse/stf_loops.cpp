// Parallel loops that end badly: exceptions in bodies, plans and accumulators that make no sense.
#include "starling/stf/detail/for_kernel.hpp"
#include "starling/stf/slice.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_loops_tests {
namespace {

using namespace stf;

TEST_CASE("an exception in a body ends the loop and reaches the host") {
  machine m = machine::host(1);
  auto a = zeroed<int>(m, 1);
  stream s = m.new_stream(0);
  struct odd {};
  const auto body = [](index_t i, slice<int> v) {
    if (i == 77) throw odd();
    v(0) += 1;
  };
  enqueue_for(s, {1, 32}, box(100), body, slice<int>(a.on(0), 1));
  CHECK_THROWS_AS(s.synchronize(), odd);
  CHECK(read(m, a, 0)[0] == 77);
  check_usable(m);
}

TEST_CASE("an exception in one block of a reduction") {
  machine m = machine::host(1);
  auto result = poisoned<int>(m, 1);
  const launch_plan plan{.blocks = 3, .threads = 32};
  auto partials = zeroed<std::byte>(m, static_cast<index_t>(partial_bytes(plan)));
  stream s = m.new_stream(0);
  const auto body = [](index_t i, int& sum) {
    if (i == 50) throw argument_error("50");
    ++sum;
  };
  enqueue_for(s, plan, box(100), body, accumulator<int>{result.on(0), partials.on(0)});
  check_parts(failure_of<argument_error>([&] { s.synchronize(); }), {"50"});
  CHECK(read(m, result, 0)[0] == poison_value<int>());
  check_usable(m);
}

TEST_CASE("plans that make no sense") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  const auto body = [](index_t) {};
  for (const launch_plan p :
       {launch_plan{0, 32}, launch_plan{-1, 32}, launch_plan{1, 0}, launch_plan{1, 33}, launch_plan{1, 1024}})
    check_parts(failure_of<argument_error>([&] { enqueue_for(s, p, box(5), body); }),
                {message(p.blocks, " blocks of ", p.threads, " threads"), "up to 256"});
  check_parts(failure_of<argument_error>([&] { (void)for_plan(m, 0, -1); }), {"-1 elements"});
  CHECK_THROWS_AS((void)for_plan(m, 1, 5), range_error);
}

TEST_CASE("accumulators without memory") {
  machine m = machine::host(1);
  auto result = poisoned<int>(m, 1);
  stream s = m.new_stream(0);
  const auto body = [](index_t, int& sum) { ++sum; };
  for (const accumulator<int> a : {accumulator<int>{}, accumulator<int>{result.on(0)}})
    check_parts(failure_of<argument_error>([&] { enqueue_for(s, {2, 32}, box(5), body, a); }),
                {"accumulator", "partial_bytes"});
}

}  // namespace
}  // namespace starling::test::stf_loops_tests
