// Teams and their splits: who is a member, and with which number.
#include "starling/shmem/symmetric_team.hpp"

#include <algorithm>

#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::team_tests {
namespace {

// The number of a PE in a list of members; -1 if it is none.
int place_of(const std::vector<int>& members, int pe) {
  const auto found = std::find(members.begin(), members.end(), pe);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

void check_members(const shmem::team& t, const std::vector<int>& members, int n_pes) {
  CHECK(shmem::team_n_pes(t) == static_cast<int>(members.size()));
  for (std::size_t i = 0; i < members.size(); ++i) CHECK(t.pe(static_cast<int>(i)) == members[i]);
  for (int pe = -3; pe < n_pes + 3; ++pe) CHECK(t.number_of(pe) == place_of(members, pe));
}

TEST_CASE("splits of splits have the members that the triplets name") {
  random r(7);
  INFO("STARLING_TEST_SEED=" << r.seed);
  auto m = machine::host(12);
  const auto world = shmem::team_world(m);
  std::vector<int> all;
  for (int pe = 0; pe < 12; ++pe) all.push_back(pe);
  check_members(world.handle(), all, 12);
  for (int times = 0; times < 200; ++times) {
    shmem::symmetric_team of;
    shmem::team parent = world.handle();
    std::vector<int> members = all;
    for (int depth = 0; depth < 3; ++depth) {
      const auto start = static_cast<int>(r.below(static_cast<index_t>(members.size())));
      const int stride = static_cast<int>(r.below(7)) - 3;
      std::vector<int> part;
      for (int at = start; at >= 0 && at < static_cast<int>(members.size()); at += stride) {
        part.push_back(members[static_cast<std::size_t>(at)]);
        if (stride == 0 || r.below(5) == 0) break;
      }
      auto next = shmem::team_split_strided(m, parent, start, stride, static_cast<int>(part.size()));
      check_members(next.handle(), part, 12);
      for (int i = -2; i < 14; ++i) {
        const bool there = i >= 0 && i < static_cast<int>(part.size());
        CHECK(shmem::team_translate_pe(next.handle(), i, parent) ==
              (there ? place_of(members, part[static_cast<std::size_t>(i)]) : -1));
        CHECK(shmem::team_translate_pe(world.handle(), i, next.handle()) ==
              (i >= 0 && i < 12 ? place_of(part, i) : -1));
      }
      of = std::move(next);
      parent = of.handle();
      members = part;
    }
  }
}

TEST_CASE("a split in two dimensions has rows of neighbours, and columns of what stands below one another") {
  auto m = machine::host(12);
  const auto world = shmem::team_world(m);
  const auto backwards = shmem::team_split_strided(m, world.handle(), 10, -1, 10);
  for (const int xrange : {1, 2, 3, 4, 9, 10, 11, 1000}) {
    const shmem::split_axes axes = shmem::team_split_2d(m, backwards.handle(), xrange);
    const shmem::axis_teams x = axes.x.handle();
    const shmem::axis_teams y = axes.y.handle();
    const int across = std::min(xrange, 10);
    CHECK(x.count() == (10 + across - 1) / across);
    CHECK(y.count() == across);
    for (int pe = 0; pe < 12; ++pe) {
      const int number = 10 - pe;  // in the parent
      if (number < 0 || number >= 10) {
        CHECK_FALSE(x.of(pe));
        CHECK_FALSE(y.of(pe));
        continue;
      }
      std::vector<int> row;
      std::vector<int> column;
      for (int other = 0; other < 10; ++other) {
        if (other / across == number / across) row.push_back(10 - other);
        if (other % across == number % across) column.push_back(10 - other);
      }
      check_members(x.of(pe), row, 12);
      check_members(y.of(pe), column, 12);
      CHECK(x.of(pe).number_of(pe) == number % across);  // the coordinates
      CHECK(y.of(pe).number_of(pe) == number / across);
    }
    CHECK_FALSE(x[x.count()]);
    CHECK_FALSE(y[-1]);
  }
}

TEST_CASE("no team has no members") {
  const shmem::team none;
  CHECK_FALSE(none);
  CHECK(shmem::team_n_pes(none) == -1);
  CHECK(none.number_of(0) == -1);
  CHECK(shmem::axis_teams().count() == 0);
  CHECK_FALSE(shmem::axis_teams()[0]);
  auto m = machine::host(2);
  const auto world = shmem::team_world(m);
  CHECK(shmem::team_translate_pe(world.handle(), 1, none) == -1);
  CHECK(shmem::team_translate_pe(none, 0, world.handle()) == -1);
}

}  // namespace
}  // namespace starling::test::team_tests
