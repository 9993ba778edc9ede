// Packets: 8 bytes of data and the number of their message in one store; a receiver that sees the number has the data.
#include "starling/device/packet.hpp"

#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::packet_tests {
namespace {

TEST_CASE("how many packets carry n elements") {
  CHECK(elements_per_packet<float> == 2);
  CHECK(elements_per_packet<double> == 1);
  CHECK(packets_for<float>(0) == 0);
  CHECK(packets_for<float>(1) == 1);
  CHECK(packets_for<float>(2) == 1);
  CHECK(packets_for<float>(7) == 4);
  CHECK(packets_for<double>(7) == 7);
}

TEST_CASE("the content of a packet survives as its data") {
  const packet_content<float> two{{1.5f, -2.25f}};
  const auto again = packet_content<float>::of_data(two.as_data());
  CHECK(again.element[0] == 1.5f);
  CHECK(again.element[1] == -2.25f);
  const packet_content<double> one{{-0.0}};
  CHECK(one.as_data() == std::uint64_t{1} << 63);
}

template <class T>
STARLING_HD T wanted(int from, std::uint64_t round, index_t i) {
  return static_cast<T>(mix(static_cast<std::uint64_t>(from), round, static_cast<std::uint64_t>(i)) % 100000);
}

// Rounds of a ring in two boxes, by parity of the round. That the left neighbour's packet of a round has come does not
// tell that the right one has taken ours, so each round takes a credit from the right.
template <class T>
void run_ring(machine& m, sym<packet> boxes, sym<signal> taken, counter good, index_t packets, int rounds, level l) {
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(rounds); ++round) {
      const sym<packet> box = boxes + static_cast<index_t>(round % 2) * packets;
      if (round > 2) b.wait(taken, round - 2, right);
      const auto content = [=, pe = b.pe()](index_t p) {
        packet_content<T> c;
        for (index_t e = 0; e < elements_per_packet<T>; ++e)
          c.element[e] = wanted<T>(pe, round, p * elements_per_packet<T> + e);
        return c;
      };
      at_level(b, l, [&](const auto& g) {
        if (round % 8 < 4) return g.template put_packets<T>(box, content, packets, round, right);
        for (index_t first = 0; first < packets; first += g.members()) {
          const index_t p = first + g.member();
          g.template put_packet_each<T>(p < packets, box + p, [&] { return content(p); }, round, right);
        }
      });
      index_t wrong = 0;
      const auto look = [&](index_t p, const packet_content<T>& c) {
        for (index_t e = 0; e < elements_per_packet<T>; ++e)
          wrong += c.element[e] != wanted<T>(left, round, p * elements_per_packet<T> + e);
      };
      constexpr int at_once = 3;
      if (round % 6 < 2) {
        b.for_each(packets, [&](index_t p) { look(p, b.template take_packet<T>(box + p, round, left)); });
      } else if (round % 6 < 4) {
        for (index_t first = 0; first < packets; first += at_once * b.members()) {
          const auto number = [&](auto i) { return first + i * b.members() + b.member(); };
          b.template take_packets_together<T, at_once>(
              [&](auto i) { return number(i) < packets; }, [&](auto i) { return box + number(i); }, round,
              [&](auto) { return left; }, [&](auto i, const packet_content<T>& c) { look(number(i), c); });
        }
      } else {
        b.for_each(ceil_div(packets, at_once), [&](index_t group) {
          const index_t first = group * at_once;
          b.thread().template take_packets<T, at_once>(
              [&](auto i) { return first + i < packets; }, [&](auto i) { return box + (first + i); }, round,
              [&](auto) { return left; }, [&](auto i, const packet_content<T>& c) { look(first + i, c); });
        });
      }
      good.add(b, 1, wrong);
      b.signal_set(taken, round, left);
    }
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("packets around a ring", T, std::int32_t, float, std::int64_t, double) {
  auto m = test_machine(3);
  if (!m) return;
  for (const level l : all_levels)
    for (const index_t packets : {1, 37, 200}) {
      CAPTURE(l);
      CAPTURE(packets);
      constexpr int rounds = 50;
      auto boxes = zeroed<packet>(*m, 2 * packets);
      auto taken = zeroed<signal>(*m, 1);
      const tally t(*m);
      run_ring<T>(*m, boxes.data(), taken.data(), t.counter(), packets, rounds, l);
      CHECK(t.made() == static_cast<std::uint64_t>(3 * rounds * (on_gpus() ? 64 : 1)));
      CHECK(t.failed() == 0);
    }
}

}  // namespace
}  // namespace starling::test::packet_tests
