// Who a block, a warp and a thread are, and what their threads tell each other.
#include "starling/device/group.hpp"

#include "support/levels.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::group_tests {
namespace {

struct identity {
  int pe, n_pes, index, blocks_per_pe, role, rank, count;
};

TEST_CASE("a block knows its PE, its number, and its place in its role") {
  auto m = test_machine(3);
  if (!m) return;
  role_plan roles;
  const role first = roles.add("first", 2);
  const role second = roles.add("second", 1);
  const role third = roles.add("third", 3);
  CHECK(first == 0);
  CHECK(second == 1);
  CHECK(third == 2);
  auto out = poisoned<identity>(*m, 6);
  const sym<identity> result = out.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() == 0)
      result.on(b.pe())[b.index()] = {b.pe(), b.n_pes(), b.index(), b.blocks_per_pe(), b.role(), b.rank(), b.count()};
  };
  m->run(roles, k);
  const int expected[6][3] = {{0, 0, 2}, {0, 1, 2}, {1, 0, 1}, {2, 0, 3}, {2, 1, 3}, {2, 2, 3}};
  for (int pe = 0; pe < 3; ++pe) {
    const std::vector<identity> seen = read(*m, out, pe);
    for (int i = 0; i < 6; ++i) {
      CAPTURE(pe);
      CAPTURE(i);
      const identity& one = seen[static_cast<std::size_t>(i)];
      CHECK(one.pe == pe);
      CHECK(one.n_pes == 3);
      CHECK(one.index == i);
      CHECK(one.blocks_per_pe == 6);
      CHECK(one.role == expected[i][0]);
      CHECK(one.rank == expected[i][1]);
      CHECK(one.count == expected[i][2]);
    }
  }
}

TEST_CASE("my_share deals items to the blocks of a role") {
  auto m = test_machine(1);
  if (!m) return;
  role_plan roles;
  roles.add("other", 2);
  const role sharing = roles.add("sharing", 3);
  auto counts = zeroed<int>(*m, 100);
  const sym<int> x = counts.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.role() != sharing) return;
    b.for_each(b.my_share(100), [&](index_t i) { b.thread().atomic_fetch_add(x + i, 10 + b.rank(), b.pe()); });
  };
  m->run(roles, k);
  const std::vector<int> seen = read(*m, counts, 0);
  for (index_t i = 0; i < 100; ++i) CHECK(seen[static_cast<std::size_t>(i)] == 10 + (i < 34 ? 0 : i < 67 ? 1 : 2));
}

TEST_CASE("the threads of a block and of its warps are numbered without gaps") {
  auto m = test_machine(1);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto counts = zeroed<int>(*m, 96);
  const sym<int> x = counts.data();
  auto k = STARLING_KERNEL(block & b) {
    const warp w = b.warp();
    good.add(b, w.rank() * w.members() + w.member() == b.member());
    good.add(b, w.count() * w.members() == b.members());
    good.add(b, b.thread().member() == 0 && b.thread().members() == 1);
    good.add(b, w.pe() == b.pe() && w.index() == b.index() && b.thread().index() == b.index());
    b.thread().atomic_fetch_add(x + b.member(), 1, b.pe());
  };
  m->run(1, k, {.threads = 96});
  const int threads = on_gpus() ? 96 : 1;
  CHECK(t.made() == static_cast<std::uint64_t>(4 * threads));
  CHECK(t.failed() == 0);
  const std::vector<int> seen = read(*m, counts, 0);
  for (int i = 0; i < 96; ++i) CHECK(seen[static_cast<std::size_t>(i)] == (i < threads ? 1 : 0));
}

// 24 bytes, the largest value that a broadcast carries as well.
struct three {
  double a, b, c;
};

TEST_CASE("first gives every thread of the group the value of its first") {
  auto m = test_machine(1);
  if (!m) return;
  for (const level l : all_levels) {
    CAPTURE(l);
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        const double mine = g.member() + 0.5;
        const three all = g.first(three{mine, 2 * mine, 3 * mine});
        good.add(g, all.a == 0.5 && all.b == 1.0 && all.c == 1.5);
        good.add(g, g.first(g.member() + 7) == 7);
      });
    };
    m->run(1, k, {.threads = 64});
    CHECK(t.made() > 0);
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("any tells every thread of the group whether one of them passed true") {
  auto m = test_machine(1);
  if (!m) return;
  for (const level l : all_levels) {
    CAPTURE(l);
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        good.add(g, !g.any(false));
        good.add(g, g.any(true));
        good.add(g, g.any(g.member() == g.members() - 1));
      });
    };
    m->run(1, k, {.threads = 64});
    CHECK(t.made() > 0);
    CHECK(t.failed() == 0);
  }
}

}  // namespace
}  // namespace starling::test::group_tests
