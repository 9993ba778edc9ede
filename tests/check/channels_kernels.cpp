// Channels under many schedules: right with credits, and what check mode says without.
#include "support/channel_traffic.hpp"
#include "support/checked.hpp"

namespace starling::test::channels_kernels_tests {
namespace {

constexpr protocol ways[] = {protocol::automatic, protocol::packets, protocol::stores, protocol::bulk};

TEST_CASE("channels with credits pass, every way") {
  random r(73);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const protocol how : ways)
      for (const int slots : {1, 2, 3})
        for (const bool each : {false, true}) {
          CAPTURE(pes);
          CAPTURE(std::string(name(how)));
          CAPTURE(slots);
          machine m = checked_machine(pes, 40);
          run_channel<float>(m, {.n = 7,
                                 .options = {.slots = slots, .how = how},
                                 .messages = 6,
                                 .seed = r.next(),
                                 .computed = r.below(2) == 1,
                                 .each = each});
        }
}

TEST_CASE("messages on both sides of the limit pass") {
  machine m = checked_machine(2, 8);
  run_channel<longs5>(m, {.n = packets_up_to_other_pe / 40 + 1, .messages = 4, .seed = 3});
}

TEST_CASE("a sender that awaits no credit is found") {
  for (const protocol how : ways)
    for (const bool each : {false, true}) {
      CAPTURE(std::string(name(how)));
      machine m = checked_machine(2);
      const auto e = finding_of([&] {
        run_channel<float>(m, {.n = 5,
                               .options = {.slots = 1, .how = how},
                               .messages = 6,
                               .each = each,
                               .mistake = channel_mistake::no_credit_awaited});
      });
      if (e) check_parts(e->what(), {"unordered write", "put_signal at", "a credit"});
    }
}

TEST_CASE("a credit that is given before the message is read is found") {
  for (const protocol how : ways)
    for (const bool each : {false, true}) {
      CAPTURE(std::string(name(how)));
      machine m = checked_machine(2);
      const auto e = finding_of([&] {
        run_channel<float>(m, {.n = 5,
                               .options = {.slots = 1, .how = how},
                               .messages = 6,
                               .each = each,
                               .mistake = channel_mistake::credit_before_reading});
      });
      if (e) check_parts(e->what(), {"unordered write", "put_signal at", "a credit"});
    }
}

}  // namespace
}  // namespace starling::test::channels_kernels_tests
