#include "starling/machine/roles.hpp"

#include <algorithm>
#include <cmath>

#include "starling/base/error.hpp"

namespace starling {
namespace {
// Far more than any device holds, and few enough that sums of them are numbers.
constexpr int most_blocks = 1 << 24;
}  // namespace

role_plan::role_plan(int blocks) : blocks_(blocks) {
  expect<argument_error>(blocks >= 0 && blocks <= most_blocks, "role_plan: blocks = ", blocks,
                         "; must be at least 1, at most ", most_blocks, ", or 0 to count the roles");
}

void role_plan::check_new(const std::string& name) const {
  expect<argument_error>(entries_.size() < max_roles, "role_plan: role \"", name, "\" is one too many; at most ",
                         max_roles, " roles");
  const bool known = std::any_of(entries_.begin(), entries_.end(), [&](const entry& e) { return e.name == name; });
  expect<argument_error>(!known, "role_plan: role \"", name, "\" is there already; give every role its own name");
}

role role_plan::add(const std::string& name, int blocks) {
  check_new(name);
  expect<argument_error>(blocks >= 1 && blocks <= most_blocks, "role_plan: role \"", name, "\" with ", blocks,
                         " blocks; must be at least 1 and at most ", most_blocks);
  entries_.push_back({name, blocks, 0});
  return static_cast<role>(entries_.size()) - 1;
}

role role_plan::add_share(const std::string& name, double work) {
  check_new(name);
  expect<argument_error>(std::isfinite(work) && work >= 0, "role_plan: role \"", name, "\" with work ", work,
                         "; must be finite and at least 0");
  expect<argument_error>(blocks_ > 0, "role_plan: role \"", name,
                         "\" shares by work, so the plan must know the number of blocks: role_plan(blocks)");
  entries_.push_back({name, 0, work});
  return static_cast<role>(entries_.size()) - 1;
}

int role_plan::blocks() const {
  if (blocks_ > 0) return blocks_;
  int sum = 0;
  for (const entry& e : entries_) sum += e.blocks;
  return sum;
}

const std::string& role_plan::name(role r) const {
  expect<range_error>(r >= 0 && r < static_cast<int>(entries_.size()), "role_plan: role ", r, " of ", entries_.size(),
                      "; use the number that add() returned");
  return entries_[static_cast<std::size_t>(r)].name;
}

role_table role_plan::resolve() const {
  expect<argument_error>(!entries_.empty(), "role_plan: no role; add at least one");
  int counted = 0;
  int sharing = 0;
  double work = 0;
  for (const entry& e : entries_) {
    counted += e.blocks;
    sharing += e.blocks == 0 ? 1 : 0;
    work += e.work;
  }
  const int rest = blocks() - counted;
  expect<argument_error>(rest >= sharing && (sharing > 0 || rest == 0), "role_plan: ", blocks(),
                         " blocks for roles that ", "need ", counted, " by count and at least ", sharing,
                         " by share; make the number of blocks fit the roles");
  // One block each, then the largest claim to the rest: claim = part of all sharing blocks by work, less what it has.
  std::vector<int> blocks_of(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) blocks_of[i] = entries_[i].blocks == 0 ? 1 : entries_[i].blocks;
  for (int left = rest - sharing; left > 0; --left) {
    std::size_t best = 0;
    double best_claim = -INFINITY;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].blocks != 0) continue;
      const double claim = (work > 0 ? entries_[i].work / work * rest : 0) - blocks_of[i];
      if (claim > best_claim) {
        best_claim = claim;
        best = i;
      }
    }
    ++blocks_of[best];
  }
  role_table table;
  table.count = static_cast<int>(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) table.first[i + 1] = table.first[i] + blocks_of[i];
  return table;
}

}  // namespace starling
