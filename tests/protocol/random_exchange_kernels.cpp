// A random mix of puts, put_signals, fences and waits between all pairs of PEs, drawn from a seed that sender and
// receiver share, so that each knows what the other does. Every message is checked against what the seed says, and the
// memory that remains against an oracle on the host.
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::random_exchange_tests {
namespace {

constexpr index_t room = 96;  // elements of the box that a PE has for each other PE

// What PE `from` sends PE `to` in a round: elements [begin, begin + n) of its box there, by one of several calls.
struct letter {
  int how;
  level by;
  index_t begin, n, stride;
};

enum means : int {
  put_signal_set,
  put_signal_add,
  put_fence_signal,
  nbi_quiet_signal,
  generated,
  strided,
  singles,
  kinds
};

STARLING_HD letter draw(std::uint64_t seed, int from, int to, int round) {
  std::uint64_t x = mix(seed, static_cast<std::uint64_t>(from * 64 + to), static_cast<std::uint64_t>(round));
  letter l;
  l.how = static_cast<int>(x % kinds);
  x /= kinds;
  l.by = static_cast<level>(x % 3);
  x /= 3;
  l.stride = l.how == strided ? 1 + static_cast<index_t>(x % 3) : 1;
  x /= 3;
  l.begin = static_cast<index_t>(x % 20);
  x /= 20;
  l.n = static_cast<index_t>(x % 24);
  return l;
}

STARLING_HD int content(std::uint64_t seed, int from, int to, int round, index_t i) {
  return static_cast<int>(mix(seed + 1, static_cast<std::uint64_t>(from * 64 + to), static_cast<std::uint64_t>(round),
                              static_cast<std::uint64_t>(i)));
}

struct exchange {
  std::uint64_t seed;
  int rounds;
  sym<int> boxes;     // [pes][room] what came from each PE
  sym<int> outbox;    // [room]
  sym<signal> came;   // [pes] letters from each PE
  sym<signal> taken;  // [pes] letters that each PE has read: its credit
  counter good;

  STARLING_HD void operator()(block& b) const {
    for (int round = 1; round <= rounds; ++round) {
      for (int k = 0; k < b.n_pes(); ++k) send(b, (b.pe() + k) % b.n_pes(), round);
      for (int k = 0; k < b.n_pes(); ++k) receive(b, (b.pe() + b.n_pes() - k) % b.n_pes(), round);
    }
  }

  STARLING_HD void send(block& b, int to, int round) const {
    const letter l = draw(seed, b.pe(), to, round);
    int* out = outbox.on(b.pe());
    b.sync();
    b.for_each(l.n, [&](index_t i) { out[i] = content(seed, b.pe(), to, round, i); });
    b.wait(taken + to, round - 1, to);  // PE `to` has read the letter of the round before
    const sym<int> box = boxes + (b.pe() * room + l.begin);
    const sym<signal> flag = came + b.pe();
    at_level(b, l.by, [&](const auto& g) { post(g, l, box, out, flag, to, round); });
  }

  template <class Group>
  STARLING_HD void post(const Group& g, const letter& l, sym<int> box, const int* out, sym<signal> flag, int to,
                        int round) const {
    switch (l.how) {
      case put_signal_set:
        g.put_signal(box, out, l.n, flag, round, to);
        return;
      case put_signal_add:
        g.put_signal(box, out, l.n, flag, 1, to, signal_op::add);
        return;
      case generated:
        g.put_signal(box, [=](index_t i) { return out[i]; }, l.n, flag, round, to);
        return;
      case put_fence_signal:
        g.put(box, out, l.n, to);
        g.fence();
        break;
      case nbi_quiet_signal:
        g.put_nbi(box, out, l.n, to);
        g.quiet();
        break;
      case strided:
        g.iput(box, l.stride, out, 1, l.n, to);
        g.fence();
        break;
      default:
        for (index_t i = 0; i < l.n; ++i) g.p(box + i, out[i], to);
        g.fence();
        break;
    }
    g.signal_set(flag, round, to);
  }

  STARLING_HD void receive(block& b, int from, int round) const {
    const letter l = draw(seed, from, b.pe(), round);
    b.wait(came + from, compare::ge, round, from);
    const int* box = boxes.on(b.pe()) + from * room + l.begin;
    index_t wrong = 0;
    b.for_each(l.n, [&](index_t i) { wrong += box[i * l.stride] != content(seed, from, b.pe(), round, i); });
    good.add(b, 1, wrong);
    b.signal_set(taken + b.pe(), round, from);
  }
};

// What the boxes of PE `pe` hold in the end.
std::vector<int> oracle(std::uint64_t seed, int pes, int pe, int rounds) {
  std::vector<int> boxes(static_cast<std::size_t>(pes * room), poison_value<int>());
  for (int round = 1; round <= rounds; ++round)
    for (int from = 0; from < pes; ++from) {
      const letter l = draw(seed, from, pe, round);
      for (index_t i = 0; i < l.n; ++i)
        boxes[static_cast<std::size_t>(from * room + l.begin + i * l.stride)] = content(seed, from, pe, round, i);
    }
  return boxes;
}

void run_exchange(int pes, int rounds, std::uint64_t start) {
  const random r(start);
  INFO("seed ", r.seed);
  CAPTURE(pes);
  auto m = test_machine(pes);
  if (!m) return;
  auto boxes = poisoned<int>(*m, pes * room);
  const auto outbox = poisoned<int>(*m, room);
  const auto came = zeroed<signal>(*m, pes);
  const auto taken = zeroed<signal>(*m, pes);
  const tally t(*m);
  m->run(1, exchange{r.seed, rounds, boxes.data(), outbox.data(), came.data(), taken.data(), t.counter()},
         {.threads = 96});
  CHECK(t.made() == static_cast<std::uint64_t>(pes * pes * rounds * (on_gpus() ? 96 : 1)));
  CHECK(t.failed() == 0);
  for (int pe = 0; pe < pes; ++pe) CHECK(read(*m, boxes, pe) == oracle(r.seed, pes, pe, rounds));
}

TEST_CASE("random letters between all pairs of two PEs") {
  for (std::uint64_t seed = 100; seed < 110; ++seed) run_exchange(2, 200, seed);
}

TEST_CASE("random letters between all pairs of four PEs") {
  for (std::uint64_t seed = 200; seed < 206; ++seed) run_exchange(4, 150, seed);
}

TEST_CASE("random letters of a PE to itself") { run_exchange(1, 300, 300); }

}  // namespace
}  // namespace starling::test::random_exchange_tests
