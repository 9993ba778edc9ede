// Collectives of a team for long: thousands of rounds by several blocks, memory used again as soon as it may be, also
// where the numbers of rounds outgrow their lower halves.
#include "starling/shmem.hpp"
#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::team_tests {
namespace {

constexpr int slots = 3;
constexpr index_t longest = 24;
constexpr index_t room = 8 * longest;

using number = std::uint64_t;

// Each round a collective of an array of seeded length; its result is looked at in the kernel.
struct long_run {
  shmem::team t;
  sym<number> memory;  // [blocks][slots + 1][room], the source last
  int rounds;
  std::uint64_t seed;
  counter good;

  STARLING_HD number value(int member, int block, int round, index_t k) const {
    return mix(seed, static_cast<std::uint64_t>(member * 8 + block), static_cast<std::uint64_t>(round),
               static_cast<std::uint64_t>(k));
  }
  STARLING_HD index_t count(int member, int round, index_t n) const {
    return static_cast<index_t>(mix(seed, static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(member)) %
                                static_cast<std::uint64_t>(n + 1));
  }

  STARLING_HD void operator()(block& b) const {
    const int me = shmem::team_my_pe(b, t);
    if (me < 0) return;
    const sym<number> mine = memory + b.index() * (slots + 1) * room;
    const sym<number> source = mine + slots * room;
    number* from = source.on(b.pe());
    for (int round = 0; round < rounds; ++round) {
      const auto x = mix(seed, static_cast<std::uint64_t>(round));
      const auto call = static_cast<int>(x % 8);
      const auto n = static_cast<index_t>(x / 8 % (longest + 1));
      const int root = static_cast<int>(x / 1024 % static_cast<std::uint64_t>(t.size()));
      if (round % slots == 0) shmem::sync(b, t);  // the slots have been looked at by all
      const sym<number> dest = mine + round % slots * room;
      b.for_each(call == 3 ? n * t.size() : n, [&](index_t k) { from[k] = value(me, b.index(), round, k); });
      make(b, call, dest, source, call == 2 ? count(me, round, n) : n, root);
      look(b, call, dest.on(b.pe()), n, root, round);
      b.sync();
    }
  }

  STARLING_HD void make(const block& b, int call, sym<number> dest, sym<number> source, index_t n, int root) const {
    if (call == 0) shmem::broadcast(b, t, dest, source, n, root);
    if (call == 1) shmem::fcollect(b, t, dest, source, n);
    if (call == 2) shmem::collect(b, t, dest, source, n);
    if (call == 3) shmem::alltoall(b, t, dest, source, n);
    if (call == 4) shmem::sum_reduce(b, t, dest, source, n);
    if (call == 5) shmem::xor_reduce(b, t, dest, source, n);
    if (call == 6) shmem::sum_inscan(b, t, dest, source, n);
    if (call == 7) shmem::sum_exscan(b, t, dest, source, n);
  }

  STARLING_HD void look(const block& b, int call, const number* got, index_t n, int root, int round) const {
    const int me = shmem::team_my_pe(b, t);
    const auto check = [&](index_t k, number wanted) {
      if (k % b.members() == b.member()) good.add(b, got[k] == wanted);
    };
    index_t place = 0;
    for (int i = 0; i < t.size(); ++i) {
      const index_t here = call == 2 ? count(i, round, n) : n;
      for (index_t k = 0; k < here && (call == 1 || call == 2); ++k) check(place++, value(i, b.index(), round, k));
      for (index_t k = 0; k < here && call == 3; ++k) check(place++, value(i, b.index(), round, me * n + k));
    }
    for (index_t k = 0; k < n && call == 0; ++k) check(k, value(root, b.index(), round, k));
    const int upto = call == 6 ? me + 1 : call == 7 ? me : t.size();
    for (index_t k = 0; k < n && call >= 4; ++k) {
      number all = 0;
      for (int i = 0; i < upto; ++i)
        all = call == 5 ? all ^ value(i, b.index(), round, k) : all + value(i, b.index(), round, k);
      check(k, all);
    }
  }
};

void run_long(machine& m, shmem::symmetric_team& owner, int blocks, int rounds, std::uint64_t seed) {
  const auto memory = poisoned<number>(m, blocks * (slots + 1) * room);
  const tally t(m);
  m.run(blocks, long_run{owner.handle(), memory.data(), rounds, seed, t.counter()}, {.threads = 64});
  CHECK(t.made() > static_cast<std::uint64_t>(rounds));
  CHECK(t.failed() == 0);
}

TEST_CASE("thousands of collectives") {
  random r(91);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 5}) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    const int rounds = m->checking() ? 40 : repetitions(1500);
    for (const index_t gather_bytes : {0, 1 << 14}) {
      auto world = shmem::team_world(*m, {.blocks = 3, .slot_bytes = 64, .gather_bytes = gather_bytes});
      run_long(*m, world, 3, rounds, r.next());
      auto part = shmem::team_split_strided(*m, world.handle(), pes - 1, -2, (pes + 1) / 2, {.blocks = 2});
      run_long(*m, part, 2, rounds, r.next());
    }
  }
}

TEST_CASE("the numbers of rounds outgrow 31 and 32 bits") {
  random r(92);
  INFO("STARLING_TEST_SEED=" << r.seed);
  auto m = test_machine(3);
  if (!m) return;
  auto team = shmem::team_world(*m, {.slot_bytes = 64});
  for (const std::uint64_t bits : {31, 32, 33})
    for (const std::uint64_t before : {1, 2, 30}) {
      team.restart(*m, (std::uint64_t{1} << bits) - before);
      run_long(*m, team, 1, 60, r.next());
    }
}

TEST_CASE("a team starts again after a program that ended in between") {
  random r(93);
  INFO("STARLING_TEST_SEED=" << r.seed);
  auto m = test_machine(3);
  if (!m || m->checking()) return;
  auto owner = shmem::team_world(*m, {.slot_bytes = 64});
  for (int times = 0; times < 4; ++times) {
    const shmem::team t = owner.handle();
    auto k = STARLING_KERNEL(block & b) {
      for (int i = 0; i < 3 + b.pe(); ++i) shmem::sync(b, t);
    };
    CHECK_THROWS_AS(m->run(1, k, {.deadline = 0.1}), stall_error);
    owner.restart(*m);
    run_long(*m, owner, 1, 60, r.next());
  }
}

}  // namespace
}  // namespace starling::test::team_tests
