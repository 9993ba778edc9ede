// Channels for long: thousands of messages of seeded lengths on every way, one-way with credits alone, and both ways.
#include "support/channel_traffic.hpp"
#include "support/repetitions.hpp"

namespace starling::test::channel_tests {
namespace {

TEST_CASE("thousands of messages around a ring") {
  random r(75);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const protocol how : {protocol::automatic, protocol::packets, protocol::stores})
      for (const int slots : {1, 2, 7}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(how)));
        CAPTURE(slots);
        run_channel<float>(*m, {.n = 40,
                                .options = {.slots = slots, .how = how},
                                .messages = repetitions(1500),
                                .seed = r.next(),
                                .computed = r.below(2) == 1,
                                .each = r.below(2) == 1});
      }
  }
}

// Nothing comes back but credits, so the sender runs ahead as far as the slots allow.
TEST_CASE("a one-way stream over several lanes at once") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr int lanes = 3;
  for (const protocol how : {protocol::packets, protocol::stores})
    for (const int slots : {1, 4}) {
      constexpr index_t n = 33;
      constexpr int messages = repetitions(2000);
      const auto owner = m->allocate_channel<std::uint64_t>(n, {.slots = slots, .lanes = lanes, .how = how});
      const channel<std::uint64_t> all = owner.handle();
      const tally t(*m);
      const counter good = t.counter();
      auto k = STARLING_KERNEL(block & b) {
        const auto lane = static_cast<std::uint64_t>(b.index());
        const channel<std::uint64_t> c = all.lane(b.index());
        for (std::uint64_t number = 1; number <= messages; ++number) {
          if (b.pe() == 0) {
            b.await_credit(c, number, 1);
            b.send(c, [=](index_t i) { return mix(lane, number, static_cast<std::uint64_t>(i)); }, n, number, 1);
          } else {
            index_t wrong = 0;
            b.receive_each(c, n, number, 0, [&](index_t i, std::uint64_t value) {
              wrong += value != mix(lane, number, static_cast<std::uint64_t>(i));
            });
            good.add(b, 1, wrong);
            b.give_credit(c, number, 0);
          }
        }
      };
      m->run(lanes, k, {.threads = 64});
      CHECK(t.made() == static_cast<std::uint64_t>(lanes * messages * (on_gpus() ? 64 : 1)));
      CHECK(t.failed() == 0);
    }
}

}  // namespace
}  // namespace starling::test::channel_tests
