// Puts with signals, signals alone and counted puts, by OpenSHMEM's names: random rounds with credits, every value
// compared where it arrives.
#include "starling/shmem/signals.hpp"

#include "starling/shmem/batch.hpp"
#include "starling/shmem/rma.hpp"
#include "support/random.hpp"
#include "support/shmem_groups.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::signals_tests {
namespace {

constexpr index_t most = 200;
constexpr int rounds = 12;

enum class call : int { put_signal, put_signal_nbi, putmem_signal, putmem_signal_nbi, put_then_set, put_then_add };
constexpr call all_calls[] = {call::put_signal,        call::put_signal_nbi, call::putmem_signal,
                              call::putmem_signal_nbi, call::put_then_set,   call::put_then_add};

STARLING_HD index_t length(std::uint64_t seed, int round) {
  return static_cast<index_t>(mix(seed, static_cast<std::uint64_t>(round)) % most);
}
STARLING_HD int wanted(std::uint64_t seed, int round, int from, index_t i) {
  return static_cast<int>(mix(seed, static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(from), i));
}

// Data from PE to PE, the signal that it has come, and the one that it has been read.
struct shared {
  sym<int> box, out;
  sym<signal> came;
  sym<std::uint64_t> taken;
};
struct arrays {
  explicit arrays(machine& m)
      : box(poisoned<int>(m, most)),
        out(poisoned<int>(m, most)),
        came(zeroed<signal>(m, 1)),
        taken(zeroed<std::uint64_t>(m, 1)) {}
  shared handles() const { return {box.data(), out.data(), came.data(), taken.data()}; }
  symmetric_array<int> box, out;
  symmetric_array<signal> came;
  symmetric_array<std::uint64_t> taken;
};

// Round r's message of `n` elements, and the signal at r (set), or one more (add).
template <class Group>
STARLING_HD void send(const Group& who, call c, const shared& a, index_t n, int round, int pe) {
  const int* from = a.out.on(who.pe());
  const auto bytes = n * static_cast<index_t>(sizeof(int));
  const auto value = static_cast<std::uint64_t>(round);
  switch (c) {
    case call::put_signal:
      return shmem::put_signal(who, a.box, from, n, a.came, value, signal_op::set, pe);
    case call::put_signal_nbi:
      shmem::put_signal_nbi(who, a.box.on(who.pe()), from, n, a.came, 1, signal_op::add, pe);
      return shmem::quiet(who);
    case call::putmem_signal:
      return shmem::putmem_signal(who, a.box, from, bytes, a.came.on(who.pe()), value, signal_op::set, pe);
    case call::putmem_signal_nbi:
      shmem::putmem_signal_nbi(who, a.box.on(who.pe()), from, bytes, a.came, value, signal_op::set, pe);
      return shmem::quiet(who);
    case call::put_then_set:
      shmem::put(who, a.box, from, n, pe);
      shmem::fence(who);
      return shmem::signal_set(who, a.came, value, pe);
    case call::put_then_add:
      shmem::put(who, a.box, from, n, pe);
      shmem::fence(who);
      return shmem::signal_add(who, a.came, 1, pe);
  }
}

void check_ring(machine& m, caller by, call c, std::uint64_t seed) {
  const arrays owner(m);
  const shared a = owner.handles();
  const tally t(m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (int round = 1; round <= rounds; ++round) {
      const index_t n = length(seed, round);
      shmem::signal_wait_until(b, a.taken, compare::ge, static_cast<std::uint64_t>(round - 1), right);
      b.for_each(n, [&](index_t i) { a.out.on(b.pe())[i] = wanted(seed, round, b.pe(), i); });
      b.sync();
      call_by(b, by, [&](const auto& who) { send(who, c, a, n, round, right); });
      const std::uint64_t seen =
          shmem::signal_wait_until(b, a.came, compare::eq, static_cast<std::uint64_t>(round), left);
      index_t wrong = seen != static_cast<std::uint64_t>(round) || shmem::signal_fetch(b, a.came) != seen;
      b.for_each(n, [&](index_t i) { wrong += a.box.on(b.pe())[i] != wanted(seed, round, left, i); });
      good.add(b, 1, wrong);
      shmem::signal_set(b, a.taken.on(b.pe()), static_cast<std::uint64_t>(round), left);
    }
  };
  m.run(1, k, {.threads = 96});
  CHECK(t.made() == static_cast<std::uint64_t>(rounds * m.size() * (on_gpus() ? 96 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("puts with signals around a ring: every call, by every group") {
  random r(20262);
  INFO(r.seed);
  for (const int n_pes : {1, 2, 3}) {
    auto m = test_machine(n_pes);
    if (!m) return;
    for (const call c : all_calls)
      for (const caller by : all_callers) {
        CAPTURE(n_pes);
        CAPTURE(c);
        CAPTURE(by);
        check_ring(*m, by, c, r.next());
      }
  }
}

// Every PE but 0 writes parts of random length next to each other at PE 0, in several puts, and one counter there tells
// of all of them: the reader waits for the bytes of a round.
void check_counted(machine& m, caller by, std::uint64_t seed) {
  const int n_pes = m.size();
  const index_t room = most * n_pes;
  auto boxes = poisoned<int>(m, room);
  auto out = poisoned<int>(m, most);
  auto counters = zeroed<signal>(m, 1);
  auto credits = zeroed<signal>(m, 1);
  const sym<int> box = boxes.data(), mine = out.data();
  const sym<signal> bytes = counters.data(), taken = credits.data();
  const tally t(m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    std::uint64_t all = 0;
    for (int round = 1; round <= rounds; ++round) {
      if (b.pe() > 0) {
        const index_t n = length(seed + static_cast<std::uint64_t>(b.pe()), round);
        b.for_each(n, [&](index_t i) { mine.on(b.pe())[i] = wanted(seed, round, b.pe(), i); });
        b.wait(taken, static_cast<std::uint64_t>(round - 1), 0);
        const index_t cut = n / 3;
        call_by(b, by, [&](const auto& who) {
          const int* from = mine.on(who.pe());
          shmem::put_counted(who, box + who.pe() * most, from, cut, bytes, 0);
          shmem::put_counted(who, box.on(who.pe()) + who.pe() * most + cut, from + cut, n - cut, bytes, 0);
        });
        b.sync();
        continue;
      }
      for (int pe = 1; pe < b.n_pes(); ++pe)
        all += sizeof(int) * static_cast<std::uint64_t>(length(seed + static_cast<std::uint64_t>(pe), round));
      b.wait(bytes, compare::eq, all, any_pe);
      index_t wrong = 0;
      for (int pe = 1; pe < b.n_pes(); ++pe)
        b.for_each(length(seed + static_cast<std::uint64_t>(pe), round),
                   [&](index_t i) { wrong += box.on(0)[pe * most + i] != wanted(seed, round, pe, i); });
      good.add(b, 1, wrong);
      b.sync();
      for (int pe = 1; pe < b.n_pes(); ++pe) b.signal_set(taken, static_cast<std::uint64_t>(round), pe);
    }
  };
  m.run(1, k, {.threads = 96});
  CHECK(t.made() == static_cast<std::uint64_t>(rounds * (on_gpus() ? 96 : 1)));
  CHECK(t.failed() == 0);
  for (int pe = 1; pe < n_pes; ++pe) CHECK(read(m, counters, pe)[0].value == 0);
}

TEST_CASE("counted puts of several producers share one counter") {
  random r(20263);
  INFO(r.seed);
  for (const int n_pes : {2, 4}) {
    auto m = test_machine(n_pes);
    if (!m) return;
    for (const caller by : all_callers) {
      CAPTURE(n_pes);
      CAPTURE(by);
      check_counted(*m, by, r.next());
    }
  }
}

TEST_CASE("a count that makes no sense moves nothing and counts nothing") {
  auto m = test_machine(2);
  if (!m) return;
  auto x = poisoned<int>(*m, 8);
  auto counters = zeroed<signal>(*m, 1);
  const sym<int> to = x.data();
  const sym<signal> bytes = counters.data();
  auto k = STARLING_KERNEL(block & b) { shmem::put_counted(b, to, to.on(b.pe()) + 4, -3, bytes, 1 - b.pe()); };
  m->run(1, k);
  for (int pe = 0; pe < 2; ++pe) {
    CHECK(read(*m, counters, pe)[0].value == 0);
    CHECK(read(*m, x, pe) == std::vector<int>(8, poison_value<int>()));
  }
}

// The rows of a matrix go to the right neighbour, which waits for one signal.
TEST_CASE("a batch: many puts, one signal, by every group") {
  constexpr index_t rows = 7, width = 31, n = 24;
  for (const caller by : all_callers) {
    CAPTURE(by);
    auto m = test_machine(3);
    if (!m) return;
    auto boxes = poisoned<int>(*m, rows * width);
    auto out = poisoned<int>(*m, rows * width);
    auto signals = zeroed<signal>(*m, 2);
    const sym<int> box = boxes.data(), mine = out.data();
    const sym<signal> came = signals.data(), taken = signals.data() + 1;
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      const int right = (b.pe() + 1) % 3;
      const int left = (b.pe() + 2) % 3;
      for (int round = 1; round <= rounds; ++round) {
        const auto r = static_cast<std::uint64_t>(round);
        b.for_each(rows * width, [&](index_t i) { mine.on(b.pe())[i] = wanted(5, round, b.pe(), i); });
        b.wait(taken, r - 1, right);
        b.sync();
        call_by(b, by, [&](const auto& who) {
          shmem::batch to(who, right);
          for (index_t row = 0; row < rows; ++row) to.put(box + row * width, mine.on(who.pe()) + row * width, n);
          if (round % 2 == 0)
            to.signal_add(came, 1);
          else
            to.signal_set(came.on(who.pe()), r);
          if (round % 3 == 0) to.quiet();
        });
        b.wait(came, r, left);
        index_t wrong = 0;
        b.for_each(rows * n, [&](index_t i) {
          const index_t at = i / n * width + i % n;
          wrong += box.on(b.pe())[at] != wanted(5, round, left, at);
        });
        good.add(b, 1, wrong);
        b.signal_set(taken, r, left);
        b.sync();
      }
    };
    m->run(1, k, {.threads = 96});
    CHECK(t.made() == static_cast<std::uint64_t>(rounds * 3 * (on_gpus() ? 96 : 1)));
    CHECK(t.failed() == 0);
    for (int pe = 0; pe < 3; ++pe)
      for (index_t row = 0; row < rows; ++row)
        for (index_t i = n; i < width; ++i)
          CHECK(read(*m, boxes, pe)[static_cast<std::size_t>(row * width + i)] == poison_value<int>());
  }
}

}  // namespace
}  // namespace starling::test::signals_tests
