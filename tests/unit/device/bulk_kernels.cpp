// Copies through a block's bulk buffer: the same bytes as without, for all sizes and offsets, and nothing beside them.
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::bulk_tests {
namespace {

constexpr std::size_t scratch = bulk_scratch_bytes;

template <class T>
STARLING_HD T made(int pe, std::uint64_t round, index_t i) {
  return element<T>::of(mix(static_cast<std::uint64_t>(pe), round, static_cast<std::uint64_t>(i)));
}

struct piece {
  index_t n;
  index_t dest_offset;
  index_t source_offset;
};

// Puts with a signal to the right and gets from there, round after round with other values; margins stay poisoned.
template <class T>
struct copies {
  sym<T> source, boxes, fetched;
  sym<signal> arrived;
  index_t room;
  piece what;
  int rounds;
  counter good;

  STARLING_HD void operator()(block& b) const {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    bulk_buffer via = b.bulk_scratch();
    T* mine = source.on(b.pe());
    for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(rounds); ++round) {
      b.for_each(room, [&](index_t i) { mine[i] = made<T>(b.pe(), round, i); });
      b.sync();
      if (round % 2 == 0) {
        b.put(via, boxes + what.dest_offset, mine + what.source_offset, what.n, right);
        b.quiet();
        b.signal_set(arrived, round, right);
      } else {
        b.put_signal(via, boxes + what.dest_offset, mine + what.source_offset, what.n, arrived, round, right);
      }
      b.wait(arrived, round, left);
      T* got = fetched.on(b.pe());
      b.get(via, got + what.dest_offset, source + what.source_offset, what.n, left);
      b.sync_all();
      index_t wrong = 0;
      index_t seen = 0;
      b.for_each(room, [&](index_t i) {
        const index_t k = i - what.dest_offset;
        const bool inside = k >= 0 && k < what.n;
        T wanted;
        memset(static_cast<void*>(&wanted), poison, sizeof wanted);
        if (inside) wanted = made<T>(left, round, what.source_offset + k);
        wrong += !(boxes.on(b.pe())[i] == wanted) + !(got[i] == wanted);
        seen += 2;
      });
      good.add(b, seen, wrong);
      b.sync_all();
    }
  }
};

template <class T>
void check_copies(machine& m, const piece& what, int threads = 128) {
  CAPTURE(what.n);
  CAPTURE(what.dest_offset);
  CAPTURE(what.source_offset);
  const index_t room = what.n + std::max(what.dest_offset, what.source_offset) + 5;
  const auto source = poisoned<T>(m, room);
  const auto boxes = poisoned<T>(m, room);
  const auto fetched = poisoned<T>(m, room);
  const auto arrived = zeroed<signal>(m, 1);
  const tally t(m);
  constexpr int rounds = 3;
  m.run(1, copies<T>{source.data(), boxes.data(), fetched.data(), arrived.data(), room, what, rounds, t.counter()},
        {.threads = threads, .scratch_bytes = scratch});
  CHECK(t.made() == static_cast<std::uint64_t>(2 * m.size() * rounds * room));
  CHECK(t.failed() == 0);
}

constexpr index_t stage = bulk_stage_bytes;

TEST_CASE("sizes around a stage and around the number of stages") {
  for (const int pes : {1, 2}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const index_t bytes : {index_t{0}, index_t{1}, stage - 1, stage, stage + 1, stage + 15, stage + 16, 2 * stage,
                                3 * stage - 16, 4 * stage, 4 * stage + 17, 9 * stage + 48})
      check_copies<std::uint8_t>(*m, {bytes, 0, 0});
  }
}

TEST_CASE_TEMPLATE("offsets that do and do not suit the copy engine", T, std::uint8_t, float, bytes3, longs5) {
  auto m = test_machine(2);
  if (!m) return;
  const index_t n = (3 * stage + 100) / static_cast<index_t>(sizeof(T)) + 1;
  for (const index_t dest : {0, 1, 4, 16})
    for (const index_t source : {0, 3, 16}) check_copies<T>(*m, {n, dest, source});
}

TEST_CASE("random sizes and offsets") {
  auto m = test_machine(2);
  if (!m) return;
  random r(74);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int i = 0; i < repetitions(20); ++i) {
    const piece what{r.below(12 * stage), 16 * r.below(4), 16 * r.below(4)};
    check_copies<std::uint8_t>(*m, what, static_cast<int>(32 + 32 * r.below(16)));
  }
}

TEST_CASE("messages through a bulk buffer") {
  auto m = test_machine(2);
  if (!m) return;
  for (const protocol how : {protocol::automatic, protocol::packets, protocol::stores, protocol::bulk})
    for (const index_t n : {bulk_from / 8 - 1, bulk_from / 8, bulk_from / 4 + 3}) {
      const auto owner = m->allocate_channel<double>(n, {.slots = 2, .how = how});
      const channel<double> c = owner.handle();
      const auto source = poisoned<double>(*m, n);
      const sym<double> from = source.data();
      const tally t(*m);
      const counter good = t.counter();
      constexpr int rounds = 7;
      auto k = STARLING_KERNEL(block & b) {
        bulk_buffer via = b.bulk_scratch();
        const int other = 1 - b.pe();
        for (std::uint64_t number = 1; number <= rounds; ++number) {
          b.for_each(n, [&](index_t i) { from.on(b.pe())[i] = made<double>(b.pe(), number, i); });
          b.sync();
          b.await_credit(c, number, other);
          b.send(via, c, from.on(b.pe()), n, number, other);
          const auto got = b.receive(c, n, number, other);
          index_t wrong = 0;
          b.for_each(n, [&](index_t i) { wrong += got(i) != made<double>(other, number, i); });
          good.add(b, 1, wrong);
          b.give_credit(c, number, other);
        }
      };
      m->run(1, k, {.threads = 64, .scratch_bytes = scratch});
      CHECK(t.made() == static_cast<std::uint64_t>(2 * rounds * (on_gpus() ? 64 : 1)));
      CHECK(t.failed() == 0);
    }
}

}  // namespace
}  // namespace starling::test::bulk_tests
