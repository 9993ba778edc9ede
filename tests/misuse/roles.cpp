// Role plans that cannot be resolved: an error that names the role, the value, and what to do.
#include "starling/machine/roles.hpp"

#include <cmath>
#include <limits>

#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::roles_tests {
namespace {

TEST_CASE("a plan with a negative number of blocks") {
  check_parts(failure_of<argument_error>([] { role_plan plan(-2); }), {"blocks = -2", "at least 1"});
}

TEST_CASE("a plan without roles") {
  check_parts(failure_of<argument_error>([] { (void)role_plan().resolve(); }), {"no role", "add at least one"});
}

TEST_CASE("a role without blocks") {
  role_plan plan;
  check_parts(failure_of<argument_error>([&] { plan.add("inner", 0); }), {"\"inner\"", "0 blocks", "at least 1"});
  check_parts(failure_of<argument_error>([&] { plan.add("inner", -5); }), {"\"inner\"", "-5 blocks"});
}

TEST_CASE("a role with work that is none") {
  role_plan plan(4);
  for (const double work : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    check_parts(failure_of<argument_error>([&] { plan.add_share("inner", work); }), {"\"inner\"", "work", "finite"});
}

TEST_CASE("a role that shares blocks of a plan that does not know how many there are") {
  role_plan plan;
  check_parts(failure_of<argument_error>([&] { plan.add_share("inner", 1); }), {"\"inner\"", "role_plan(blocks)"});
}

TEST_CASE("two roles of one name") {
  role_plan plan(4);
  plan.add("inner", 1);
  check_parts(failure_of<argument_error>([&] { plan.add("inner", 1); }), {"\"inner\"", "there already", "own name"});
  check_parts(failure_of<argument_error>([&] { plan.add_share("inner", 1); }), {"\"inner\"", "there already"});
}

TEST_CASE("too many roles") {
  role_plan plan;
  for (int i = 0; i < max_roles; ++i) plan.add(message("role ", i), 1);
  check_parts(failure_of<argument_error>([&] { plan.add("last", 1); }),
              {"\"last\"", "one too many", message("at most ", max_roles)});
  CHECK(plan.resolve().count == max_roles);
}

TEST_CASE("fewer blocks than counted roles need") {
  role_plan plan(3);
  plan.add("a", 2);
  plan.add("b", 2);
  check_parts(failure_of<argument_error>([&] { (void)plan.resolve(); }), {"3 blocks", "need 4 by count", "fit"});
}

TEST_CASE("no block left for a role that shares") {
  role_plan plan(3);
  plan.add("a", 2);
  plan.add_share("b", 1);
  plan.add_share("c", 1);
  check_parts(failure_of<argument_error>([&] { (void)plan.resolve(); }), {"3 blocks", "2 by count", "at least 2"});
}

TEST_CASE("blocks that no role takes") {
  role_plan plan(5);
  plan.add("a", 2);
  check_parts(failure_of<argument_error>([&] { (void)plan.resolve(); }), {"5 blocks", "need 2 by count", "fit"});
}

TEST_CASE("more blocks than a number can hold the sum of") {
  constexpr int most = std::numeric_limits<int>::max();
  role_plan plan;
  check_parts(failure_of<argument_error>([&] { plan.add("a", most); }), {"\"a\"", "2147483647 blocks", "at most"});
  check_parts(failure_of<argument_error>([] { role_plan large(most); }), {"blocks = 2147483647", "at most"});
}

TEST_CASE("the name of a role that does not exist") {
  role_plan plan;
  plan.add("a", 1);
  check_parts(failure_of<range_error>([&] { (void)plan.name(1); }), {"role 1 of 1", "add()"});
  check_parts(failure_of<range_error>([&] { (void)plan.name(-1); }), {"role -1 of 1"});
}

TEST_CASE("a program with a plan that cannot be resolved runs nothing") {
  auto m = test_machine(1);
  if (!m) return;
  role_plan plan(5);
  plan.add("a", 2);
  CHECK_THROWS_AS(m->run(plan, [](block&) {}), argument_error);
}

}  // namespace
}  // namespace starling::test::roles_tests
