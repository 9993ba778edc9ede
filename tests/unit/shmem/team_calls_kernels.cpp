// Every collective of teams by OpenSHMEM's name, with plain pointers for symmetric addresses; and the rows and columns
// of a split in two dimensions, each PE in one of each.
#include "starling/shmem.hpp"

#include <algorithm>

#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::team_calls_tests {
namespace {

constexpr int calls = 13;
constexpr index_t most = 40;
constexpr index_t room = 4 * most;

std::vector<std::vector<int>> random_sources(machine& m, random& r, const symmetric_array<int>& sources) {
  std::vector<std::vector<int>> values;
  for (int pe = 0; pe < m.size(); ++pe) {
    std::vector<int> mine(static_cast<std::size_t>(room));
    for (int& x : mine) x = static_cast<int>(r.below(2001)) - 1000;
    write(m, sources, pe, mine);
    values.push_back(mine);
  }
  return values;
}

// One after the other, each to memory of its own.
struct every_call {
  shmem::team team;
  sym<int> results;
  sym<int> sources;
  index_t n;
  int root;

  STARLING_HD void operator()(block& b) const {
    const int* source = sources.on(b.pe());
    int* const first = results.on(b.pe());
    const auto dest = [&](int call) { return first + call * room; };
    shmem::broadcast(b, team, dest(0), source, n, root);
    shmem::fcollect(b, team, dest(1), source, n);
    shmem::collect(b, team, dest(2), source, n / (1 + shmem::team_my_pe(b, team)));
    shmem::alltoall(b, team, dest(3), source, n);
    shmem::alltoalls(b, team, dest(4), source, 2, 1, n / 2);
    shmem::sum_reduce(b, team, dest(5), source, n);
    shmem::prod_reduce(b, team, dest(6), source, n);
    shmem::max_reduce(b, team, dest(7), source, n);
    shmem::min_reduce(b, team, dest(8), source, n);
    shmem::and_reduce(b, team, dest(9), source, n);
    shmem::or_reduce(b, team, dest(10), source, n);
    shmem::xor_reduce(b, team, dest(11), source, n);
    shmem::sum_inscan(b, team, first + 12 * room, source, n);
    shmem::sum_exscan(b, team, first + 12 * room + most, sources, n);
    shmem::sync(b, team);
    shmem::barrier(b, team);
  }
};

// What PE `me` of n_pes has after them; sources by PE.
std::vector<int> expected(const std::vector<std::vector<int>>& sources, std::size_t me, index_t n, int root) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<int> all(static_cast<std::size_t>(calls * room), poison_value<int>());
  const auto dest = [&](int call) { return all.begin() + call * room; };
  auto collected = dest(2);
  for (std::size_t p = 0; p < sources.size(); ++p)
    for (std::size_t i = 0; i < count / (1 + p); ++i) *collected++ = sources[p][i];
  for (std::size_t p = 0; p < sources.size(); ++p)
    for (std::size_t i = 0; i < count; ++i) {
      dest(1)[static_cast<index_t>(p * count + i)] = sources[p][i];
      dest(3)[static_cast<index_t>(p * count + i)] = sources[p][me * count + i];
    }
  for (std::size_t p = 0; p < sources.size(); ++p)
    for (std::size_t i = 0; i < count / 2; ++i)
      dest(4)[static_cast<index_t>(2 * (p * (count / 2) + i))] = sources[p][me * (count / 2) + i];
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<index_t>(i);
    dest(0)[at] = sources[static_cast<std::size_t>(root)][i];
    unsigned sum = 0, product = 1, before = 0;
    int largest = sources[0][i], least = largest, every = largest, any = largest, odd = 0;
    for (std::size_t p = 0; p < sources.size(); ++p) {
      const int x = sources[p][i];
      if (p == me) before = sum;
      sum += static_cast<unsigned>(x);
      if (p == me) dest(12)[at] = static_cast<int>(sum);
      product *= static_cast<unsigned>(x);
      largest = std::max(largest, x);
      least = std::min(least, x);
      every &= x;
      any |= x;
      odd ^= x;
    }
    dest(5)[at] = static_cast<int>(sum);
    dest(6)[at] = static_cast<int>(product);
    dest(7)[at] = largest;
    dest(8)[at] = least;
    dest(9)[at] = every;
    dest(10)[at] = any;
    dest(11)[at] = odd;
    dest(12)[most + at] = static_cast<int>(before);
  }
  return all;
}

TEST_CASE("every collective, by pointers into one's own memory") {
  random r(4);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int pes = 1; pes <= 4; ++pes) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    shmem::world w(*m);
    const auto team = w.team_world();
    const auto sources = w.malloc<int>(room);
    for (int times = 0; times < 6; ++times) {
      const auto values = random_sources(*m, r, sources);
      const auto results = poisoned<int>(*m, calls * room);
      const index_t n = r.below(2) == 0 ? r.below(9) : r.below(most + 1);
      const int root = static_cast<int>(r.below(pes));
      CAPTURE(n);
      m->run(1, every_call{team.handle(), results.data(), sources.data(), n, root}, {.threads = 64});
      for (int pe = 0; pe < pes; ++pe)
        CHECK(read(*m, results, pe) == expected(values, static_cast<std::size_t>(pe), n, root));
    }
  }
}

TEST_CASE("sums over rows and columns of a rectangle of PEs") {
  random r(5);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 4, 5}) {
    auto m = test_machine(pes);
    if (!m) return;
    shmem::world w(*m);
    const auto all = w.team_world();
    const auto backwards = w.team_split_strided(all.handle(), pes - 1, -1, pes);
    for (int xrange = 1; xrange <= pes; ++xrange) {
      CAPTURE(pes);
      CAPTURE(xrange);
      const auto axes = w.team_split_2d(backwards.handle(), xrange);
      const shmem::axis_teams rows = axes.x.handle();
      const shmem::axis_teams columns = axes.y.handle();
      const auto sources = w.malloc<int>(room);
      const auto values = random_sources(*m, r, sources);
      const auto results = poisoned<int>(*m, 2 * most + 2);
      const sym<int> from = sources.data();
      const sym<int> to = results.data();
      auto k = STARLING_KERNEL(block & b) {
        const shmem::team row = rows.of(b.pe());
        const shmem::team column = columns.of(b.pe());
        for (int times = 0; times < 5; ++times) {
          shmem::sum_reduce(b, row, to + 2, from, most);
          shmem::sum_reduce(b, column, to + 2 + most, from, most);
          shmem::sync(b, row);
          shmem::sync(b, column);
        }
        if (b.member() != 0) return;
        to.on(b.pe())[0] = 100 * shmem::team_my_pe(b, row) + shmem::team_n_pes(row);
        to.on(b.pe())[1] = shmem::team_translate_pe(column, 0, row);
      };
      m->run(1, k, {.threads = 64});
      for (int pe = 0; pe < pes; ++pe) {
        const auto place = [&](int of) { return pes - 1 - of; };
        std::vector<int> wanted(2 * most + 2, 0);
        int size = 0;
        for (int other = 0; other < pes; ++other) {
          const bool in_row = place(other) / xrange == place(pe) / xrange;
          const bool in_column = place(other) % xrange == place(pe) % xrange;
          size += in_row;
          for (index_t i = 0; i < most; ++i) {
            const int x = values[static_cast<std::size_t>(other)][static_cast<std::size_t>(i)];
            if (in_row) wanted[static_cast<std::size_t>(2 + i)] += x;
            if (in_column) wanted[static_cast<std::size_t>(2 + most + i)] += x;
          }
        }
        wanted[0] = 100 * (place(pe) % xrange) + size;
        wanted[1] = place(pe) / xrange == 0 ? place(pe) % xrange : -1;
        CHECK(read(*m, results, pe) == wanted);
      }
    }
  }
}

// The root writes over the source of a broadcast, and all halve their sums in place, as soon as the calls return.
TEST_CASE("sources are free, and results complete, when a collective returns") {
  constexpr index_t n = 4096;
  for (const int pes : {2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    shmem::world w(*m);
    const auto all = w.team_world();
    const shmem::team team = all.handle();
    const auto source = w.malloc<double>(n);
    const auto sent = poisoned<double>(*m, n);
    const auto sums = w.malloc<double>(n);
    for (int pe = 0; pe < pes; ++pe) {
      std::vector<double> mine(n);
      for (index_t i = 0; i < n; ++i) mine[static_cast<std::size_t>(i)] = static_cast<double>(i + 8 * pe);
      write(*m, source, pe, mine);
      write(*m, sums, pe, mine);
    }
    const sym<double> from = source.data(), to = sent.data(), sum = sums.data();
    m->run(
        1, STARLING_KERNEL(block & b) {
          shmem::broadcast(b, team, to, from, n, 0);
          b.for_each(n, [&](index_t i) { from.on(b.pe())[i] = -1; });
          shmem::sum_reduce(b, team, sum, sum, n);
          b.for_each(n, [&](index_t i) { sum.on(b.pe())[i] *= 0.5; });
        });
    std::vector<double> first(n), halves(n);
    for (index_t i = 0; i < n; ++i) {
      first[static_cast<std::size_t>(i)] = static_cast<double>(i);
      halves[static_cast<std::size_t>(i)] = static_cast<double>(pes * i + 4 * pes * (pes - 1)) / 2;
    }
    for (int pe = 0; pe < pes; ++pe) {
      CHECK(read(*m, sent, pe) == first);
      CHECK(read(*m, sums, pe) == halves);
    }
  }
}

}  // namespace
}  // namespace starling::test::team_calls_tests
