// Roles by count and by share of work. What is refused is in misuse/roles.cpp.
#include "starling/machine/roles.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace starling::test::roles_tests {
namespace {

std::vector<int> blocks_of(const role_plan& plan) {
  const role_table t = plan.resolve();
  std::vector<int> n;
  for (int r = 0; r < t.count; ++r) n.push_back(t.first[r + 1] - t.first[r]);
  return n;
}

TEST_CASE("counted roles get their blocks, in order") {
  role_plan plan;
  CHECK(plan.add("north", 2) == 0);
  CHECK(plan.add("south", 1) == 1);
  CHECK(plan.add("inner", 4) == 2);
  CHECK(plan.blocks() == 7);
  CHECK(blocks_of(plan) == std::vector<int>{2, 1, 4});
  CHECK(plan.name(1) == "south");
  const role_table t = plan.resolve();
  const int roles[] = {0, 0, 1, 2, 2, 2, 2};
  for (int b = 0; b < 7; ++b) CHECK(t.role_of(b) == roles[b]);
}

TEST_CASE("sharing roles divide what counted roles leave") {
  role_plan plan(10);
  plan.add("comm", 2);
  plan.add_share("inner", 3.0);
  plan.add_share("boundary", 1.0);
  CHECK(plan.blocks() == 10);
  CHECK(blocks_of(plan) == std::vector<int>{2, 6, 2});
}

TEST_CASE("a sharing role has at least one block, whatever its work") {
  role_plan plan(5);
  plan.add_share("large", 1e9);
  plan.add_share("small", 1.0);
  plan.add_share("none", 0.0);
  CHECK(blocks_of(plan) == std::vector<int>{3, 1, 1});
}

TEST_CASE("without any work all sharing roles get about the same") {
  role_plan plan(7);
  plan.add_share("a", 0.0);
  plan.add_share("b", 0.0);
  plan.add_share("c", 0.0);
  int sum = 0;
  for (const int n : blocks_of(plan)) {
    CHECK(n >= 2);
    CHECK(n <= 3);
    sum += n;
  }
  CHECK(sum == 7);
}

TEST_CASE("shares use every block and stay within one of the exact part, where that is at least one") {
  for (int blocks = 3; blocks <= 40; ++blocks)
    for (const double work : {1.0, 2.0, 3.7, 9.0}) {
      CAPTURE(blocks);
      CAPTURE(work);
      role_plan plan(blocks);
      plan.add_share("a", 1.0);
      plan.add_share("b", work);
      plan.add_share("c", 1.0);
      const std::vector<int> n = blocks_of(plan);
      CHECK(n[0] + n[1] + n[2] == blocks);
      const double parts[] = {blocks / (work + 2), blocks * work / (work + 2), blocks / (work + 2)};
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(n[i] >= 1);
        if (parts[0] >= 1) CHECK(std::abs(n[i] - parts[i]) <= 1.0);
      }
    }
}

TEST_CASE("a plan may name its number of blocks and count them all") {
  role_plan plan(3);
  plan.add("a", 1);
  plan.add("b", 2);
  CHECK(blocks_of(plan) == std::vector<int>{1, 2});
}

TEST_CASE("as many roles as there may be") {
  role_plan plan;
  for (int i = 0; i < max_roles; ++i) plan.add("role " + std::to_string(i), 1);
  const role_table t = plan.resolve();
  CHECK(t.count == max_roles);
  for (int b = 0; b < max_roles; ++b) CHECK(t.role_of(b) == b);
}

}  // namespace
}  // namespace starling::test::roles_tests
