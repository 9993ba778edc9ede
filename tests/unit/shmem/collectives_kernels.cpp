// Collectives of teams: random ones, one after another, on teams of every form, by several blocks at once.
#include "support/team_oracle.hpp"

namespace starling::test::collectives_tests {
namespace {

// The world, a part of it with a stride, forwards or backwards, and a part of that or a row or column of it.
struct teams_of_test {
  std::vector<shmem::symmetric_team> owners;
  std::vector<members_list> members;

  void add(machine& m, random& r, const shmem::team_options& options) {
    const members_list& parent = members.back();
    const auto size = static_cast<index_t>(parent.size());
    const index_t start = r.below(size);
    index_t stride = 1 + r.below(2);
    if (r.below(2) == 0) stride = -stride;
    const index_t most = stride > 0 ? (size - 1 - start) / stride + 1 : start / -stride + 1;
    const index_t n = 1 + r.below(most);
    members_list part;
    for (index_t i = 0; i < n; ++i) part.push_back(parent[static_cast<std::size_t>(start + i * stride)]);
    owners.push_back(shmem::team_split_strided(m, owners.back().handle(), static_cast<int>(start),
                                               static_cast<int>(stride), static_cast<int>(n), options));
    members.push_back(part);
  }

  teams_of_test(machine& m, random& r, const shmem::team_options& options) {
    members_list all;
    for (int pe = 0; pe < m.size(); ++pe) all.push_back(pe);
    members.push_back(all);
    owners.push_back(shmem::team_world(m, options));
    while (static_cast<int>(owners.size()) < test_teams) add(m, r, options);
  }
};

template <class T>
void run_random(machine& m, random& r, index_t longest) {
  const int blocks = 1 + static_cast<int>(r.below(3));
  const shmem::team_options options{
      .blocks = blocks + static_cast<int>(r.below(2)), .slot_bytes = 64, .gather_bytes = 100 * r.below(3)};
  teams_of_test teams(m, r, options);
  team_program<T> p;
  for (int i = 0; i < test_teams; ++i) p.teams[i] = teams.owners[static_cast<std::size_t>(i)].handle();
  // Twice: the teams go on where they were.
  for (int times = 0; times < 2; ++times) {
    draw_steps(p, r, teams.members, most_team_steps, longest);
    p.by = all_levels[r.below(3)];
    p.synced = r.below(4) == 0;
    check_program(m, p, teams.members, blocks);
  }
}

template <class T>
void run_many(index_t longest) {
  random r(2506);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int pes = 1; pes <= 5; ++pes) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    for (int i = 0; i < 6; ++i) run_random<T>(*m, r, longest);
  }
}

TEST_CASE("random collectives of doubles") { run_many<double>(60); }
TEST_CASE("random collectives of 16-bit integers") { run_many<std::uint16_t>(90); }
TEST_CASE("random collectives of three words") { run_many<words3>(40); }

}  // namespace
}  // namespace starling::test::collectives_tests
