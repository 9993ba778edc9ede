// Copies that a program sets off, by a plan of a few lines: what a PE writes in each round goes to the next PE, which
// waits for it with a signal.
#include <array>
#include <vector>

#include "starling/machine/machine.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"
#include "support/usable.hpp"

namespace starling::test::triggered_copies_tests {
namespace {

constexpr index_t n = 100;
// As many as there are PEs: who writes round r + 4 has heard of a round that all have written after they had read r.
constexpr index_t rounds_kept = 4;

// Values of each PE lie in rows of their own, so that what comes is not what goes.
class to_the_next final : public triggered_copies {
 public:
  explicit to_the_next(machine& m)
      : machine_(m),
        values_(m.allocate<std::uint64_t>(rounds_kept * m.size() * n)),
        told_(m.allocate<signal>(1)),
        words_(m.allocate_on(host_place, static_cast<std::size_t>(m.size() * of_pe))) {
    for (int pe = 0; pe < m.size(); ++pe) next_.push_back({(pe + 1) % m.size()});
  }

  // What PE `pe` makes in a round.
  sym<std::uint64_t> row(std::uint64_t round, int pe) const {
    return values_.data() + (static_cast<index_t>(round) % rounds_kept * machine_.size() + pe) * n;
  }
  sym<std::uint64_t> made() const { return triggers() + 1; }
  sym<signal> told() const { return told_.data(); }
  sym<std::uint64_t> triggers() const { return {reinterpret_cast<std::uint64_t*>(words_.data()), of_pe}; }

  void begin() override {
    machine_.fill(words_.data(), 0, words_.size());
    for (int pe = 0; pe < machine_.size(); ++pe) machine_.fill(told_.on(pe), 0, sizeof(signal));
  }
  int queues() const override { return 1; }
  bool step(int pe, int, std::uint64_t number, copy_step& s) const override {
    const std::uint64_t round = number + 1;
    const sym<std::uint64_t> data = row(round, pe);
    s.awaited = {reinterpret_cast<signal*>(triggers().on(0)), of_pe};
    s.value = round;
    s.data = {reinterpret_cast<std::byte*>(data.on(0)), data.stride_bytes()};
    s.bytes = n * sizeof(std::uint64_t);
    s.to = next_[static_cast<std::size_t>(pe)];
    s.made = made() + static_cast<index_t>(round) % rounds_kept;
    s.arrived = told_.data();
    return true;
  }

 private:
  // Bytes of a PE's words of the host: the trigger, and which rounds are there.
  static constexpr index_t of_pe = (1 + rounds_kept) * index_t{sizeof(std::uint64_t)};

  machine machine_;
  symmetric_array<std::uint64_t> values_;
  symmetric_array<signal> told_;
  local_memory words_;
  std::vector<std::array<int, 1>> next_;
};

// Each PE adds its number + 1 to what came from the one before. `stop`: the round in which PE 0 ends the program; 0:
// none.
void go_round(machine& m, const std::shared_ptr<to_the_next>& copies, std::uint64_t rounds, std::uint64_t stop) {
  const sym<std::uint64_t> values = copies->row(0, 0);
  const sym<std::uint64_t> made = copies->made();
  const sym<signal> told = copies->told();
  const sym<std::uint64_t> triggers = copies->triggers();
  role_plan one;
  one.add("all", 1);
  const kernel k = make_kernel(STARLING_KERNEL(block & b) {
    const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (std::uint64_t r = 1; r <= rounds; ++r) {
      if (r == stop && b.pe() == 0) b.signal_set(told, 1, 1000);
      if (r > 1) b.wait(told, r - 1, before);
      const auto now = static_cast<index_t>(r) % rounds_kept;
      const auto last = static_cast<index_t>(r - 1) % rounds_kept;
      const std::uint64_t* came = values.on(b.pe()) + (last * b.n_pes() + before) * n;
      std::uint64_t* mine = values.on(b.pe()) + (now * b.n_pes() + b.pe()) * n;
      b.for_each(n, [&](index_t i) {
        mine[i] = (r == 1 ? static_cast<std::uint64_t>(i) : came[i]) + static_cast<std::uint64_t>(b.pe()) + 1;
      });
      if (b.member() == 0) made.on(b.pe())[now] = r;
      b.sync();
      b.atomic_set(triggers, r, b.pe(), cuda::memory_order_release);
    }
    b.wait(told, rounds, before);
    b.sync();
    raise_no_more(b, triggers, rounds);
  });
  m.run({{one, k, {.deadline = 20}, copies}});
}

TEST_CASE("copies that a program sets off arrive before the word that tells of them") {
  for (const int pes : {2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    const auto copies = std::make_shared<to_the_next>(*m);
    for (const std::uint64_t rounds : {std::uint64_t{1}, std::uint64_t{37}}) {
      go_round(*m, copies, rounds, 0);
      for (int pe = 0; pe < pes; ++pe) {
        std::uint64_t added = 0;
        for (std::uint64_t r = 0; r < rounds; ++r)
          added += (static_cast<std::uint64_t>(pe) + 38 * static_cast<std::uint64_t>(pes) - r) %
                       static_cast<std::uint64_t>(pes) +
                   1;
        std::vector<std::uint64_t> got(n, 0);
        m->copy(got.data(), copies->row(rounds, pe).on((pe + 1) % pes), n * sizeof(std::uint64_t));
        for (index_t i = 0; i < n; ++i)
          CHECK(got[static_cast<std::size_t>(i)] == static_cast<std::uint64_t>(i) + added);
      }
    }
  }
}

TEST_CASE("what waits for a program that was ended ends with it") {
  auto m = test_machine(2);
  if (!m || m->checking()) return;
  const auto copies = std::make_shared<to_the_next>(*m);
  CHECK_THROWS_AS(go_round(*m, copies, 20, 7), range_error);
  go_round(*m, copies, 20, 0);
  check_usable(*m);
}

// Two queues of copies from PE 0 to the others that a launch sets off, piece by piece.
struct pieces {
  static constexpr index_t count = 5;

  symmetric_array<std::uint64_t> values, words;  // words: what is awaited, what is made, what is told
  std::vector<int> to;

  explicit pieces(machine& m)
      : values(m.allocate<std::uint64_t>(count * n)), words(m.allocate<std::uint64_t>(3 * count)) {
    for (int pe = 1; pe < m.size(); ++pe) to.push_back(pe);
    for (int pe = 0; pe < m.size(); ++pe) {
      m.fill(words.on(pe), 0, 3 * count * sizeof(std::uint64_t));
      m.fill(values.on(pe), 0, count * n * sizeof(std::uint64_t));
    }
  }

  std::shared_ptr<const launch_copies> copies() const {
    auto all = std::make_shared<launch_copies>();
    all->queues.resize(2);
    all->words = reinterpret_cast<signal*>(words.on(0));
    all->n_words = count;
    const auto signals = [&](index_t first) {
      return sym<signal>(reinterpret_cast<signal*>((words.data() + first).on(0)), words.data().stride_bytes());
    };
    for (index_t i = 0; i < count; ++i) {
      copy_step s;
      s.awaited = signals(i);
      s.value = 1;
      const sym<std::uint64_t> data = values.data() + i * n;
      s.data = {reinterpret_cast<std::byte*>(data.on(0)), data.stride_bytes()};
      s.bytes = n * sizeof(std::uint64_t);
      s.to = to;
      s.made = words.data() + (count + i);
      s.arrived = signals(2 * count + i);
      all->queues[static_cast<std::size_t>(i % 2)].push_back(s);
    }
    return all;
  }

  // Adds one to all values. `stop`: the piece at which the kernel fails.
  kernel adding(index_t stop = count) const {
    const sym<std::uint64_t> v = values.data(), w = words.data();
    return make_kernel(STARLING_KERNEL(block & b) {
      for (index_t i = count - 1; i >= 0; --i) {  // not in the order of the queues
        if (i == stop) b.signal_set(sym<signal>(), 1, 1000);
        b.for_each(n, [&](index_t k) { v.on(0)[i * n + k] += static_cast<std::uint64_t>(k + i + 1); });
        b.sync();
        if (b.member() == 0) ++w.on(0)[count + i];
        b.sync();
        b.atomic_set(w + i, 7, 0, cuda::memory_order_release);
      }
    });
  }

  void check(machine& m, std::uint64_t times) const {
    std::vector<std::uint64_t> got(static_cast<std::size_t>(count * n)), told(count);
    for (int pe = 0; pe < m.size(); ++pe) {
      m.copy(got.data(), values.on(pe), got.size() * sizeof(std::uint64_t));
      for (index_t i = 0; i < count * n; ++i)
        CHECK(got[static_cast<std::size_t>(i)] == times * static_cast<std::uint64_t>(i % n + i / n + 1));
      if (pe == 0) continue;
      m.copy(told.data(), words.on(pe) + 2 * count, told.size() * sizeof(std::uint64_t));
      CHECK(told == std::vector<std::uint64_t>(count, times));
    }
  }
};

TEST_CASE("copies that a launch sets off, in a stream and in a graph that is launched again") {
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    const pieces p(*m);
    stream s = m->new_stream(0);
    for (int i = 0; i < 3; ++i) s.launch_kernel(1, p.adding(), {}, p.copies());
    s.synchronize();
    p.check(*m, 3);
    const graph g = m->record(s, [&] {
      s.launch_kernel(1, p.adding(), {}, p.copies());
      s.launch_kernel(1, p.adding(), {}, p.copies());
    });
    for (int i = 0; i < 3; ++i) g.launch(s);
    s.synchronize();
    p.check(*m, 9);
  }
}

TEST_CASE("copies of a launch that fails wait for nothing, and the next ones are made") {
  auto m = test_machine(3);
  if (!m || m->checking()) return;
  for (const bool recorded : {false, true}) {
    CAPTURE(recorded);
    const pieces broken(*m), whole(*m);
    stream s = m->new_stream(0);
    const auto fail = [&] { s.launch_kernel(1, broken.adding(2), {}, broken.copies()); };
    if (recorded) {
      const graph g = m->record(s, fail);
      g.launch(s);
    } else {
      fail();
    }
    CHECK_THROWS_AS(s.synchronize(), range_error);
    // What was not made nobody has been told of.
    for (int pe = 1; pe < 3; ++pe) {
      std::uint64_t told[pieces::count];
      m->copy(told, broken.words.on(pe) + 2 * pieces::count, sizeof told);
      for (index_t i = 0; i <= 2; ++i) CHECK(told[i] == 0);
    }
    s.launch_kernel(1, whole.adding(), {}, whole.copies());
    s.synchronize();
    whole.check(*m, 1);
    check_parts(failure_of<argument_error>([&] { s.launch_kernel(1, whole.adding(), {}, nullptr); }), {"no copies"});
    check_parts(failure_of<argument_error>([&] { s.launch_kernel(0, whole.adding(), {}, whole.copies()); }),
                {"blocks = 0"});
  }
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::triggered_copies_tests
