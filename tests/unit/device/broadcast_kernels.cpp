// broadcast: the value of block 0 of the root, to every thread of every block, from each root in turn.
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::broadcast_tests {
namespace {

// As large as a broadcast carries.
struct words24 {
  std::uint64_t a, b, c;
};

TEST_CASE("broadcast from each root") {
  constexpr int shapes[][2] = {{1, 1}, {1, 3}, {2, 1}, {4, 3}};
  for (const auto& s : shapes) {
    const int blocks = s[1];
    CAPTURE(s[0]);
    CAPTURE(blocks);
    auto m = test_machine(s[0]);
    if (!m) return;
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      for (int round = 0; round < 100; ++round)
        for (int root = 0; root < b.n_pes(); ++root) {
          // Every block passes something; only that of block 0 of the root counts.
          const std::uint64_t mine = mix(round, b.pe(), b.index());
          const std::uint64_t wanted = mix(round, root, 0);
          const words24 seen = b.broadcast(words24{mine, mine + 1, mine + 2}, root);
          good.add(b, seen.a == wanted && seen.b == wanted + 1 && seen.c == wanted + 2);
          good.add(b, b.broadcast(static_cast<std::uint8_t>(mine), root) == static_cast<std::uint8_t>(wanted));
          good.add(
              b, b.broadcast(static_cast<double>(mine % 1000) + 0.5, root) == static_cast<double>(wanted % 1000) + 0.5);
        }
    };
    m->run(blocks, k, {.threads = 64});
    CHECK(t.made() == static_cast<std::uint64_t>(3 * 100 * s[0] * s[0] * blocks * (on_gpus() ? 64 : 1)));
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("a broadcast is a sync_pe: blocks see what the others of their PE wrote before") {
  auto m = test_machine(3);
  if (!m) return;
  auto slots = poisoned<int>(*m, 2);
  const sym<int> x = slots.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 0; round < 300; ++round) {
      if (b.member() == 0) x.on(b.pe())[b.index()] = round + b.pe() + b.index();
      good.add(b, b.broadcast(round, round % b.n_pes()) == round);
      good.add(b, x.on(b.pe())[1 - b.index()] == round + b.pe() + 1 - b.index());
      b.sync_pe();
    }
  };
  m->run(2, k, {.threads = 32});
  CHECK(t.made() == 2u * 300 * 6 * (on_gpus() ? 32 : 1));
  CHECK(t.failed() == 0);
}

}  // namespace
}  // namespace starling::test::broadcast_tests
