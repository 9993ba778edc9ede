// Channels: every length around the limits, every slot, every way, from memory and from a function, whole and by
// element.
#include "support/channel_traffic.hpp"

#include "support/levels.hpp"

namespace starling::test::channel_tests {
namespace {

constexpr protocol ways[] = {protocol::automatic, protocol::packets, protocol::stores, protocol::bulk};

TEST_CASE("which way a message of some size takes") {
  CHECK(protocol_for(0, false) == protocol::packets);
  CHECK(protocol_for(packets_up_to_other_pe, false) == protocol::packets);
  CHECK(protocol_for(packets_up_to_other_pe + 1, false) == protocol::stores);
  CHECK(protocol_for(packets_up_to_own_pe, true) == protocol::packets);
  CHECK(protocol_for(packets_up_to_own_pe + 1, true) == protocol::stores);
  for (const protocol p : {protocol::packets, protocol::stores, protocol::bulk})
    for (const index_t bytes : {index_t{0}, index_t{1} << 40}) CHECK(protocol_for(bytes, false, p) == p);
  CHECK(std::string(name(protocol::packets)) == "packets");
}

TEST_CASE_TEMPLATE("messages around a ring", T, std::uint8_t, std::int16_t, float, double, bytes3, words3, longs5) {
  random r(71);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 3}) {
    auto m = test_machine(pes);
    if (!m) continue;
    for (const protocol how : ways)
      for (const index_t n : {0, 1, 7, 300}) {
        const channel_run run{.n = n,
                              .options = {.slots = static_cast<int>(1 + r.below(4)), .how = how},
                              .seed = r.next(),
                              .computed = r.below(2) == 1,
                              .each = r.below(2) == 1};
        CAPTURE(pes);
        CAPTURE(std::string(name(how)));
        CAPTURE(n);
        CAPTURE(run.options.slots);
        CAPTURE(run.computed);
        CAPTURE(run.each);
        run_channel<T>(*m, run);
      }
  }
}

TEST_CASE("messages whose lengths lie around the limit") {
  random r(72);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2}) {
    auto m = test_machine(pes);
    if (!m) continue;
    const index_t limit = pes == 1 ? packets_up_to_own_pe : packets_up_to_other_pe;
    for (const bool computed : {false, true})
      for (const bool each : {false, true}) {
        // Half of the messages have the longest length or one less: on both sides of the limit.
        run_channel<std::uint8_t>(
            *m, {.n = limit + 1, .messages = 12, .seed = r.next(), .computed = computed, .each = each}, 256);
        run_channel<double>(
            *m, {.n = limit / 8 + 1, .messages = 12, .seed = r.next(), .computed = computed, .each = each}, 256);
      }
  }
}

TEST_CASE("numbers that pass the end of 32 bits, and half of it") {
  auto m = test_machine(2);
  if (!m) return;
  for (const protocol how : ways)
    for (const std::uint64_t end : {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{5} << 32})
      for (const int slots : {1, 3, 8}) {
        CAPTURE(end);
        CAPTURE(slots);
        run_channel<float>(*m, {.n = 20, .options = {.slots = slots, .how = how}, .first = end - 10, .seed = end});
      }
}

TEST_CASE("a channel that is used again after a restart") {
  auto m = test_machine(2);
  if (!m) return;
  auto c = m->allocate_channel<int>(10, {.slots = 3});
  const auto source = poisoned<int>(*m, 11);
  const tally t(*m);
  std::uint64_t wanted = 0;
  for (const std::uint64_t after : {0, 0, 1000, 5}) {
    c.restart(*m, after);
    const channel_traffic<int> traffic{c.handle(), source.data(),         10,         after + 1, 9, after, false,
                                       false,      channel_mistake::none, t.counter()};
    m->run(1, STARLING_KERNEL(block & b) { traffic(b); }, {.threads = 64});
    wanted += traffic.elements(2);
  }
  CHECK(t.made() == wanted);
  CHECK(t.failed() == 0);
}

// Every PE sends to every PE, itself too: a lane for each sender.
TEST_CASE("all PEs to all over lanes, by blocks, warps and threads") {
  constexpr int pes = 3;
  auto m = test_machine(pes);
  if (!m) return;
  for (const level l : all_levels)
    for (const index_t n : {1, 50}) {
      CAPTURE(l);
      CAPTURE(n);
      auto owner = m->allocate_channel<int>(n, {.slots = 2, .lanes = pes});
      const channel<int> all = owner.handle();
      const tally t(*m);
      const counter good = t.counter();
      constexpr int rounds = 8;
      auto k = STARLING_KERNEL(block & b) {
        at_level(b, l, [&](const auto& g) {
          for (std::uint64_t number = 1; number <= rounds; ++number) {
            for (int pe = 0; pe < g.n_pes(); ++pe) {
              g.await_credit(all.lane(g.pe()), number, pe);
              const int base = 1000 * g.pe() + 100 * pe + static_cast<int>(number);
              g.send(all.lane(g.pe()), [=](index_t i) { return base + static_cast<int>(i); }, n, number, pe);
            }
            for (int pe = 0; pe < g.n_pes(); ++pe) {
              const int base = 1000 * pe + 100 * g.pe() + static_cast<int>(number);
              const auto got = g.receive(all.lane(pe), n, number, pe);
              g.for_each(n, [&](index_t i) { good.add(g, got(i) == base + static_cast<int>(i)); });
              g.give_credit(all.lane(pe), number, pe);
            }
          }
        });
      };
      m->run(1, k, {.threads = 64});
      CHECK(t.made() == static_cast<std::uint64_t>(pes * pes * rounds * n));
      CHECK(t.failed() == 0);
    }
}

}  // namespace
}  // namespace starling::test::channel_tests
