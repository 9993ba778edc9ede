// What the program of team_steps.hpp must leave in the memory of each block, by a loop over members and elements; and
// how such programs are drawn and run.
#pragma once

#include <algorithm>

#include "support/team_steps.hpp"
#include "support/test_machine.hpp"

namespace starling::test {

// Arithmetic that wraps is done without a sign; of small types in 64 bits.
template <class T>
T combined(team_call c, T a, T b) {
  if (c == team_call::maximum) return a < b ? b : a;
  if (c == team_call::minimum) return b < a ? b : a;
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<unsigned long long>(a);
    const auto y = static_cast<unsigned long long>(b);
    switch (c) {
      case team_call::product:
        return static_cast<T>(x * y);
      case team_call::conjunction:
        return static_cast<T>(x & y);
      case team_call::disjunction:
        return static_cast<T>(x | y);
      case team_call::difference:
        return static_cast<T>(x ^ y);
      default:
        return static_cast<T>(x + y);
    }
  } else {
    return c == team_call::product ? a * b : a + b;
  }
}

// The members of a team, as PEs of the machine, told apart from what the team itself says.
using members_list = std::vector<int>;

template <class T>
struct team_oracle {
  const team_program<T>& program;
  std::vector<members_list> teams;

  // The memory of a block, which was poison.
  std::vector<T> memory(int pe, int block) const {
    std::vector<T> all(static_cast<std::size_t>(program.capacity), poison_value<T>());
    for (int i = 0; i < program.n_steps; ++i) apply(all, pe, block, i);
    return all;
  }

 private:
  T value(int pe, int block, int step, index_t k) const { return team_value<T>(program.seed, pe, block, step, k); }

  void apply(std::vector<T>& all, int pe, int block, int i) const {
    const team_step& s = program.steps[i];
    const members_list& members = teams[static_cast<std::size_t>(s.team)];
    const auto found = std::find(members.begin(), members.end(), pe);
    if (found == members.end()) return;
    const auto me = static_cast<index_t>(found - members.begin());
    const auto size = static_cast<index_t>(members.size());
    const auto own_count = [&](int of) {
      return s.call == team_call::collect ? team_count(s, program.seed, of, i) : s.n;
    };
    T* dest = all.data() + s.dest;
    T* source = all.data() + s.source;
    const index_t filled = team_source_size(s, static_cast<int>(me), static_cast<int>(size), own_count(pe));
    for (index_t k = 0; k < filled; ++k) source[k] = value(pe, block, i, k);
    switch (s.call) {
      case team_call::sync:
        dest[1] = value(pe, block, i, 0);
        dest[0] = value(members[static_cast<std::size_t>((me + 1) % size)], block, i, 0);
        return;
      case team_call::barrier:
        dest[0] = dest[1] = value(members[static_cast<std::size_t>((me + 1) % size)], block, i, 0);
        return;
      case team_call::broadcast:
        for (index_t k = 0; k < s.n; ++k) dest[k] = value(members[static_cast<std::size_t>(s.root)], block, i, k);
        return;
      case team_call::collect:
      case team_call::fcollect:
        for (const int of : members)
          for (index_t k = 0; k < own_count(of); ++k) *dest++ = value(of, block, i, k);
        return;
      case team_call::alltoall:
      case team_call::alltoalls:
        for (index_t from = 0; from < size; ++from)
          for (index_t k = 0; k < s.n; ++k)
            dest[(from * s.n + k) * s.dest_stride] =
                value(members[static_cast<std::size_t>(from)], block, i, (me * s.n + k) * s.source_stride);
        return;
      default:
        if constexpr (std::is_arithmetic_v<T>) reduce(s, members, me, block, i, dest);
    }
  }

  void reduce(const team_step& s, const members_list& members, index_t me, int block, int i, T* dest) const {
    const auto upto = static_cast<std::size_t>(s.call == team_call::inscan   ? me + 1
                                               : s.call == team_call::exscan ? me
                                                                             : static_cast<index_t>(members.size()));
    for (index_t k = 0; k < s.n; ++k) {
      dest[k] = upto == 0 ? T{} : value(members[0], block, i, k);
      for (std::size_t j = 1; j < upto; ++j) dest[k] = combined(s.call, dest[k], value(members[j], block, i, k));
    }
  }
};

// Draws the steps of a program for T. `longest`: elements of an array.
template <class T>
void draw_steps(team_program<T>& p, random& r, const std::vector<members_list>& teams, int steps, index_t longest) {
  p.n_steps = steps;
  p.seed = r.next();
  index_t used = 0;
  for (int i = 0; i < steps; ++i) {
    team_step& s = p.steps[i];
    do s.call = static_cast<team_call>(r.below(static_cast<index_t>(team_call::count)));
    while ((combines(s.call) && !std::is_arithmetic_v<T>) || (of_bits(s.call) && !std::is_integral_v<T>));
    s.team = static_cast<int>(r.below(static_cast<index_t>(teams.size())));
    const auto size = static_cast<index_t>(teams[static_cast<std::size_t>(s.team)].size());
    s.n = r.below(3) == 0 ? r.below(5) : r.below(longest + 1);
    s.root = static_cast<int>(r.below(size));
    s.dest_stride = s.call == team_call::alltoalls ? 1 + r.below(3) : 1;
    s.source_stride = s.call == team_call::alltoalls ? 1 + r.below(3) : 1;
    const index_t room = std::max(s.n * size, index_t{2});
    s.source = used;
    if (!in_place_allowed(s.call) || r.below(3) != 0) used += room * s.source_stride;
    s.dest = used;
    used += room * s.dest_stride;
  }
  p.capacity = used;
}

// The step in whose memory the first difference lies.
template <class T>
std::string describe_difference(const team_program<T>& p, const T* got, const std::vector<T>& wanted) {
  std::size_t k = 0;
  while (k < wanted.size() && std::memcmp(got + k, &wanted[k], sizeof(T)) == 0) ++k;
  int step = 0;
  while (step + 1 < p.n_steps && p.steps[step + 1].source <= static_cast<index_t>(k)) ++step;
  const team_step& s = p.steps[step];
  return message(": element ", k, " of step ", step, ", call ", static_cast<int>(s.call), " of team ", s.team,
                 ", n = ", s.n, ", dest = ", s.dest, ", source = ", s.source);
}

// Runs it and looks at every byte that it could have written.
template <class T>
void check_program(machine& m, team_program<T> p, const std::vector<members_list>& teams, int blocks) {
  const auto memory = poisoned<T>(m, blocks * p.capacity);
  p.memory = memory.data();
  m.run(blocks, p, {.threads = 64});
  const team_oracle<T> oracle{p, teams};
  for (int pe = 0; pe < m.size(); ++pe) {
    const std::vector<T> got = read(m, memory, pe);
    for (int b = 0; b < blocks; ++b) {
      const std::vector<T> wanted = oracle.memory(pe, b);
      const std::size_t bytes = wanted.size() * sizeof(T);
      const bool same = std::memcmp(got.data() + b * p.capacity, wanted.data(), bytes) == 0;
      CHECK_MESSAGE(same, "PE " << pe << " block " << b << describe_difference(p, got.data() + b * p.capacity, wanted));
    }
  }
}

}  // namespace starling::test
