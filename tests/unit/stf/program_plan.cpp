// Which operations of a persistent program wait for which, and which block does what: by examples, and random lists
// against what a plain search says.
#include <doctest/doctest.h>

#include <algorithm>

#include "stf/persistent/program_plan.hpp"
#include "support/random.hpp"

namespace starling::test::program_plan_tests {
namespace {

using stf::order_operations;
using stf::plan_program;
using stf::program_edge;
using stf::program_operation;
using stf::program_plan;

std::byte memory[64];

// Reads and writes bytes of `memory`.
program_operation operation(std::uint64_t task, int pe, int blocks, const std::vector<int>& read,
                            const std::vector<int>& written) {
  program_operation i;
  i.name = "task " + std::to_string(task);
  i.task = task;
  i.pe = pe;
  i.blocks = blocks;
  i.divisible = true;
  for (const int r : read) i.accesses.push_back({memory + r, 1, false});
  for (const int w : written) i.accesses.push_back({memory + w, 1, true});
  return i;
}

bool has(const std::vector<program_edge>& edges, program_edge e) {
  return std::find(edges.begin(), edges.end(), e) != edges.end();
}

TEST_CASE("edges follow accesses alone, over the end of a round too") {
  // x -> y -> z, and something else.
  const std::vector<program_operation> operations = {operation(1, 0, 1, {0}, {1}), operation(2, 0, 1, {1}, {2}),
                                                     operation(3, 0, 1, {}, {9})};
  const auto edges = order_operations(operations);
  CHECK(has(edges, {0, 1, 0}));  // y is written before it is read
  CHECK(has(edges, {1, 0, 1}));  // and read before it is written again
  CHECK(has(edges, {2, 2, 1}));
  for (const program_edge& e : edges) CHECK((e.earlier == 2) == (e.later == 2));
}

TEST_CASE("operations of one task are ordered by it alone") {
  std::vector<program_operation> operations = {operation(1, 0, 1, {}, {0}), operation(1, 1, 1, {}, {0}),
                                               operation(1, 0, 1, {}, {0})};
  operations[2].after = {0};
  const auto edges = order_operations(operations);
  CHECK(has(edges, {0, 2, 0}));
  for (const program_edge& e : edges) CHECK((e.lag == 1 || e == program_edge{0, 2, 0}));
  CHECK(has(edges, {1, 0, 1}));  // the next round has another task's accesses
}

TEST_CASE("what stands for a whole task orders its rounds as a whole") {
  std::vector<program_operation> operations = {operation(1, 0, 1, {}, {0}), operation(1, 1, 1, {}, {0}),
                                               operation(1, 2, 1, {}, {0})};
  for (program_operation& i : operations) i.accesses.front().whole_task = true;
  const auto edges = order_operations(operations);
  for (int earlier = 0; earlier < 3; ++earlier)
    for (int later = 0; later < 3; ++later) CHECK(has(edges, {earlier, later, 1}));
  CHECK(edges.size() == 9);
}

TEST_CASE("random lists: the edges give the order of all conflicts, and none is more than one round old") {
  random r(61);
  for (int k = 0; k < 200; ++k) {
    const int n = 1 + static_cast<int>(r.below(9));
    std::vector<program_operation> operations;
    for (int i = 0; i < n; ++i) {
      const auto some = [&] {
        std::vector<int> all;
        for (int b = 0; b < 5; ++b)
          if (r.below(4) == 0) all.push_back(b);
        return all;
      };
      operations.push_back(operation(static_cast<std::uint64_t>(i), static_cast<int>(r.below(3)),
                                     1 + static_cast<int>(r.below(5)), some(), some()));
    }
    INFO("seed " << r.seed << ", list " << k);
    const auto edges = order_operations(operations);
    // Over four rounds, by all paths.
    constexpr int rounds = 4;
    const auto at = [&](int round, int i) { return static_cast<std::size_t>(round * n + i); };
    const auto all = static_cast<std::size_t>(rounds * n);
    std::vector<std::vector<bool>> before(all, std::vector<bool>(all));
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < n; ++i)
        for (const program_edge& e : edges) {
          CHECK((e.lag == 0 ? e.earlier < e.later : e.lag == 1));
          if (e.later != i || round < e.lag) continue;
          const std::size_t from = at(round - e.lag, e.earlier);
          before[at(round, i)][from] = true;
          for (std::size_t b = 0; b < all; ++b)
            if (before[from][b]) before[at(round, i)][b] = true;
        }
    const auto conflict = [&](int a, int b) {
      for (const auto& x : operations[static_cast<std::size_t>(a)].accesses)
        for (const auto& y : operations[static_cast<std::size_t>(b)].accesses)
          if (x.start == y.start && (x.writes || y.writes)) return true;
      return false;
    };
    for (int later = 0; later < rounds * n; ++later)
      for (int earlier = 0; earlier < later; ++earlier)
        if (conflict(earlier % n, later % n))
          CHECK(before[static_cast<std::size_t>(later)][static_cast<std::size_t>(earlier)]);
    // All parts are done, in order, and who waits is told.
    const program_plan plan = plan_program(operations, edges, 3, {4}, 1);
    std::vector<int> parts(operations.size(), 0);
    for (int pe = 0; pe < 3; ++pe)
      for (const auto& steps : plan.on(pe, 0)) {
        int newest = -1;
        for (const auto& s : steps) {
          CHECK(s.operation > newest);
          newest = s.operation;
          ++parts[static_cast<std::size_t>(s.operation)];
          CHECK(operations[static_cast<std::size_t>(s.operation)].pe == pe);
          for (const auto& w : s.waits)
            CHECK((plan.operations[static_cast<std::size_t>(w.operation)].tells >> pe & 1) != 0);
        }
      }
    for (std::size_t i = 0; i < operations.size(); ++i) CHECK(parts[i] == plan.operations[i].parts);
  }
}

TEST_CASE("a chain of small operations stays on one block and waits for nothing; independent ones are spread") {
  std::vector<program_operation> chain;
  for (int i = 0; i < 6; ++i) chain.push_back(operation(static_cast<std::uint64_t>(i), 0, 1, {}, {0}));
  program_plan plan = plan_program(chain, order_operations(chain), 1, {8}, 4);
  CHECK(plan.blocks_of(0) == 1);
  for (const auto& s : plan.on(0, 0).front()) CHECK(s.waits.empty());
  std::vector<program_operation> free;
  for (int i = 0; i < 6; ++i) free.push_back(operation(static_cast<std::uint64_t>(i), 0, 1, {}, {i}));
  plan = plan_program(free, order_operations(free), 1, {8}, 4);
  CHECK(plan.blocks_of(0) == 6);
  for (const auto& steps : plan.on(0, 0)) CHECK(steps.size() == 1);
}

TEST_CASE("small operations are shared by blocks where they hand over to another program or device anyway") {
  constexpr int most_alone = 4;
  // One after the other on two devices, then back.
  std::vector<program_operation> operations = {operation(1, 0, 3, {}, {0}), operation(2, 0, 3, {}, {0}),
                                               operation(3, 1, 3, {}, {0})};
  program_plan plan = plan_program(operations, order_operations(operations), 2, {8}, most_alone);
  CHECK(plan.operations[0].parts == 1);
  CHECK(plan.operations[1].parts == 1);
  CHECK(plan.operations[2].parts == 3);
  // Two programs in turn.
  operations = {operation(1, 0, 3, {}, {0}), operation(2, 0, 3, {}, {0})};
  operations[1].unit = 1;
  plan = plan_program(operations, order_operations(operations), 1, {8, 8}, most_alone);
  CHECK(plan.operations[0].parts == 3);
  CHECK(plan.operations[1].parts == 3);
  // Blocks of a launch take one block longer.
  operations = {operation(1, 0, 2, {}, {0}), operation(2, 0, 2, {}, {0})};
  operations[1].divisible = false;
  plan = plan_program(operations, order_operations(operations), 1, {8}, most_alone);
  CHECK(plan.operations[0].parts == 2);
  CHECK(plan.operations[1].parts == 2);
  // It follows itself; and one that is not small.
  operations = {operation(1, 0, 4, {}, {0})};
  CHECK(plan_program(operations, order_operations(operations), 1, {8}, most_alone).operations[0].parts == 1);
  operations = {operation(1, 0, 4, {}, {0}), operation(2, 0, 5, {}, {0})};
  plan = plan_program(operations, order_operations(operations), 1, {8}, most_alone);
  CHECK(plan.operations[0].parts == 4);
  CHECK(plan.operations[1].parts == 5);
}

}  // namespace
}  // namespace starling::test::program_plan_tests
