// Which items of a persistent program wait for which, and which block does what: by examples, and random lists against
// what a plain search says.
#include <doctest/doctest.h>

#include <algorithm>

#include "stf/persistent/program_plan.hpp"
#include "support/random.hpp"

namespace starling::test::program_plan_tests {
namespace {

using stf::noted_item;
using stf::order_items;
using stf::plan_program;
using stf::program_edge;
using stf::program_plan;

std::byte memory[64];

// Reads and writes bytes of `memory`.
noted_item item(std::uint64_t task, int pe, int blocks, const std::vector<int>& read, const std::vector<int>& written) {
  noted_item i;
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
  const std::vector<noted_item> items = {item(1, 0, 1, {0}, {1}), item(2, 0, 1, {1}, {2}), item(3, 0, 1, {}, {9})};
  const auto edges = order_items(items);
  CHECK(has(edges, {0, 1, 0}));  // y is written before it is read
  CHECK(has(edges, {1, 0, 1}));  // and read before it is written again
  CHECK(has(edges, {2, 2, 1}));
  for (const program_edge& e : edges) CHECK((e.earlier == 2) == (e.later == 2));
}

TEST_CASE("items of one task are ordered by it alone") {
  std::vector<noted_item> items = {item(1, 0, 1, {}, {0}), item(1, 1, 1, {}, {0}), item(1, 0, 1, {}, {0})};
  items[2].after = {0};
  const auto edges = order_items(items);
  CHECK(has(edges, {0, 2, 0}));
  for (const program_edge& e : edges) CHECK((e.lag == 1 || e == program_edge{0, 2, 0}));
  CHECK(has(edges, {1, 0, 1}));  // the next round has another task's accesses
}

TEST_CASE("what stands for a whole task orders its rounds as a whole") {
  std::vector<noted_item> items = {item(1, 0, 1, {}, {0}), item(1, 1, 1, {}, {0}), item(1, 2, 1, {}, {0})};
  for (noted_item& i : items) i.accesses.front().whole_task = true;
  const auto edges = order_items(items);
  for (int earlier = 0; earlier < 3; ++earlier)
    for (int later = 0; later < 3; ++later) CHECK(has(edges, {earlier, later, 1}));
  CHECK(edges.size() == 9);
}

TEST_CASE("random lists: the edges give the order of all conflicts, and none is more than one round old") {
  random r(61);
  for (int k = 0; k < 200; ++k) {
    const int n = 1 + static_cast<int>(r.below(9));
    std::vector<noted_item> items;
    for (int i = 0; i < n; ++i) {
      const auto some = [&] {
        std::vector<int> all;
        for (int b = 0; b < 5; ++b)
          if (r.below(4) == 0) all.push_back(b);
        return all;
      };
      items.push_back(item(static_cast<std::uint64_t>(i), static_cast<int>(r.below(3)),
                           1 + static_cast<int>(r.below(5)), some(), some()));
    }
    INFO("seed " << r.seed << ", list " << k);
    const auto edges = order_items(items);
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
      for (const auto& x : items[static_cast<std::size_t>(a)].accesses)
        for (const auto& y : items[static_cast<std::size_t>(b)].accesses)
          if (x.start == y.start && (x.writes || y.writes)) return true;
      return false;
    };
    for (int later = 0; later < rounds * n; ++later)
      for (int earlier = 0; earlier < later; ++earlier)
        if (conflict(earlier % n, later % n))
          CHECK(before[static_cast<std::size_t>(later)][static_cast<std::size_t>(earlier)]);
    // All parts are done, in order, and who waits is told.
    const program_plan plan = plan_program(items, edges, 3, {4}, 1);
    std::vector<int> parts(items.size(), 0);
    for (int pe = 0; pe < 3; ++pe)
      for (const auto& steps : plan.on(pe, 0)) {
        int newest = -1;
        for (const auto& s : steps) {
          CHECK(s.item > newest);
          newest = s.item;
          ++parts[static_cast<std::size_t>(s.item)];
          CHECK(items[static_cast<std::size_t>(s.item)].pe == pe);
          for (const auto& w : s.waits) CHECK((plan.items[static_cast<std::size_t>(w.item)].tells >> pe & 1) != 0);
        }
      }
    for (std::size_t i = 0; i < items.size(); ++i) CHECK(parts[i] == plan.items[i].parts);
  }
}

TEST_CASE("a chain of small items stays on one block and waits for nothing; independent ones are spread") {
  std::vector<noted_item> chain;
  for (int i = 0; i < 6; ++i) chain.push_back(item(static_cast<std::uint64_t>(i), 0, 1, {}, {0}));
  program_plan plan = plan_program(chain, order_items(chain), 1, {8}, 4);
  CHECK(plan.blocks_of(0) == 1);
  for (const auto& s : plan.on(0, 0).front()) CHECK(s.waits.empty());
  std::vector<noted_item> free;
  for (int i = 0; i < 6; ++i) free.push_back(item(static_cast<std::uint64_t>(i), 0, 1, {}, {i}));
  plan = plan_program(free, order_items(free), 1, {8}, 4);
  CHECK(plan.blocks_of(0) == 6);
  for (const auto& steps : plan.on(0, 0)) CHECK(steps.size() == 1);
}

TEST_CASE("small items are shared by blocks where they hand over to another program or device anyway") {
  constexpr int most_alone = 4;
  // One after the other on two devices, then back.
  std::vector<noted_item> items = {item(1, 0, 3, {}, {0}), item(2, 0, 3, {}, {0}), item(3, 1, 3, {}, {0})};
  program_plan plan = plan_program(items, order_items(items), 2, {8}, most_alone);
  CHECK(plan.items[0].parts == 1);
  CHECK(plan.items[1].parts == 1);
  CHECK(plan.items[2].parts == 3);
  // Two programs in turn.
  items = {item(1, 0, 3, {}, {0}), item(2, 0, 3, {}, {0})};
  items[1].unit = 1;
  plan = plan_program(items, order_items(items), 1, {8, 8}, most_alone);
  CHECK(plan.items[0].parts == 3);
  CHECK(plan.items[1].parts == 3);
  // Blocks of a launch take one block longer.
  items = {item(1, 0, 2, {}, {0}), item(2, 0, 2, {}, {0})};
  items[1].divisible = false;
  plan = plan_program(items, order_items(items), 1, {8}, most_alone);
  CHECK(plan.items[0].parts == 2);
  CHECK(plan.items[1].parts == 2);
  // It follows itself; and one that is not small.
  items = {item(1, 0, 4, {}, {0})};
  CHECK(plan_program(items, order_items(items), 1, {8}, most_alone).items[0].parts == 1);
  items = {item(1, 0, 4, {}, {0}), item(2, 0, 5, {}, {0})};
  plan = plan_program(items, order_items(items), 1, {8}, most_alone);
  CHECK(plan.items[0].parts == 4);
  CHECK(plan.items[1].parts == 5);
}

}  // namespace
}  // namespace starling::test::program_plan_tests
