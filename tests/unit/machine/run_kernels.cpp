// Persistent programs: every block runs once on every PE, roles, closures, several programs at once.
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::run_tests {
namespace {

struct settings {
  double a[8];
  int b;
};

TEST_CASE("run starts every block of every PE once, and returns when all have ended") {
  auto m = test_machine(3);
  if (!m) return;
  for (const int blocks : {1, 7, 32}) {
    CAPTURE(blocks);
    auto counts = zeroed<int>(*m, blocks);
    const sym<int> x = counts.data();
    auto k = STARLING_KERNEL(block & b) { b.atomic_fetch_add(x + b.index(), 1, b.pe()); };
    for (int again = 1; again <= 3; ++again) {
      m->run(blocks, k);
      for (int pe = 0; pe < 3; ++pe) CHECK(read(*m, counts, pe) == std::vector<int>(blocks, again));
    }
  }
}

TEST_CASE("a closure carries its values to the kernel") {
  auto m = test_machine(2);
  if (!m) return;
  settings s{{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5}, 42};
  auto out = poisoned<double>(*m, 9);
  const sym<double> x = out.data();
  auto k = STARLING_KERNEL(block & b) {
    b.for_each(8, [&](index_t i) { x.on(b.pe())[i] = s.a[i]; });
    if (b.member() == 0) x.on(b.pe())[8] = s.b;
  };
  s = {};  // the kernel has a copy
  m->run(1, k);
  CHECK(read(*m, out, 1) == std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 42});
}

TEST_CASE("blocks of different roles do different work on the same data") {
  auto m = test_machine(2);
  if (!m) return;
  role_plan roles(8);
  const role writer = roles.add("writer", 2);
  const role squarer = roles.add_share("squarer", 3.0);
  const role adder = roles.add_share("adder", 3.0);
  constexpr index_t n = 999;
  auto data = poisoned<std::int64_t>(*m, 2 * n);
  const sym<std::int64_t> x = data.data();
  auto k = STARLING_KERNEL(block & b) {
    std::int64_t* mine = x.on(b.pe());
    if (b.role() == writer) b.for_each(b.my_share(n), [&](index_t i) { mine[i] = i + b.pe(); });
    b.sync_pe();
    if (b.role() == squarer) b.for_each(b.my_share(n), [&](index_t i) { mine[n + i] = mine[i] * mine[i]; });
    b.sync_pe();
    if (b.role() == adder) b.for_each(b.my_share(n), [&](index_t i) { mine[i] += mine[n + i]; });
  };
  m->run(roles, k);
  for (int pe = 0; pe < 2; ++pe) {
    const std::vector<std::int64_t> seen = read(*m, data, pe);
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) wrong += seen[static_cast<std::size_t>(i)] != (i + pe) * (i + pe + 1);
    CHECK(wrong == 0);
  }
}

// A and B live on every PE together: A sends to B of the next PE, which answers A. Neither could end without the other.
TEST_CASE("two programs that are resident together signal each other") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr index_t n = 100;
  constexpr int rounds = 200;
  auto boxes = poisoned<std::uint64_t>(*m, 2 * n);
  auto signals = zeroed<signal>(*m, 2);
  const sym<std::uint64_t> request = boxes.data();
  const sym<std::uint64_t> answer = boxes.data() + n;
  const sym<signal> asked = signals.data();
  const sym<signal> answered = signals.data() + 1;
  const tally t(*m);
  const counter good = t.counter();
  auto asks = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    for (int round = 1; round <= rounds; ++round) {
      b.sync_pe();  // joins the two blocks of this program only
      if (b.rank() != 0) continue;
      const int pe = b.pe();
      b.put_signal(request, [=](index_t i) { return mix(pe, round, i); }, n, asked, round, right);
      b.wait(answered, round, right);
      index_t wrong = 0;
      b.for_each(n, [&](index_t i) { wrong += answer.on(pe)[i] != mix(pe, round, i) + 1; });
      good.add(b, 1, wrong);
    }
  };
  auto answers = STARLING_KERNEL(block & b) {
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (int round = 1; round <= rounds; ++round) {
      b.wait(asked, round, left);
      const std::uint64_t* from = request.on(b.pe());
      b.put_signal(answer, [=](index_t i) { return from[i] + 1; }, n, answered, round, left);
      b.sync_all();
    }
  };
  role_plan two;
  two.add("asking", 2);
  role_plan one;
  one.add("answering", 1);
  m->run({program{two, make_kernel(asks), {}}, program{one, make_kernel(answers), {.threads = 64}}});
  CHECK(t.made() == static_cast<std::uint64_t>(3 * rounds * (on_gpus() ? 256 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("programs leave no symmetric memory behind") {
  auto m = test_machine(2);
  if (!m) return;
  auto k = STARLING_KERNEL(block & b) { b.sync_all(); };
  m->run(4, k);
  const memory_info before = m->memory();
  for (int i = 0; i < 10; ++i) m->run(4, k);
  CHECK(m->memory().in_use == before.in_use);
  CHECK(m->memory().largest_free == before.largest_free);
}

TEST_CASE("a program needs no room among the arrays") {
  if (skipped_on_gpus("have as little memory as this test fills")) return;
  machine m = machine::host(2, {.memory_bytes = 64 << 10});
  auto all = poisoned<char>(m, 64 << 10);
  CHECK(m.memory().largest_free == 0);
  auto k = STARLING_KERNEL(block & b) { b.sync_all(); };
  m.run(8, k);
  CHECK(read(m, all, 1) == std::vector<char>(64 << 10, static_cast<char>(poison)));
}

TEST_CASE("machines do not disturb each other") {
  auto m = test_machine(1);
  auto other = test_machine(2);
  if (!m || !other) return;
  auto a = zeroed<int>(*m, 1);
  auto b = zeroed<int>(*other, 1);
  const sym<int> x = a.data();
  const sym<int> y = b.data();
  auto one = STARLING_KERNEL(block & self) { self.atomic_fetch_add(x, 1 + self.n_pes(), self.pe()); };
  auto two = STARLING_KERNEL(block & self) { self.atomic_fetch_add(y, 10 + self.n_pes(), self.pe()); };
  for (int i = 0; i < 5; ++i) {
    m->run(1, one);
    other->run(1, two);
  }
  CHECK(read(*m, a, 0)[0] == 10);
  CHECK(read(*other, b, 1)[0] == 60);
}

}  // namespace
}  // namespace starling::test::run_tests
