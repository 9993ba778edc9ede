#include "spins.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "describe.hpp"

namespace starling::check {
namespace {

// The block that has changed last what this one polls; -1: none.
int awaited_by(const scheduled_block& a, const spins& s) {
  const spins::change* c = a.attempted.word != nullptr ? s.of(a.attempted.word) : nullptr;
  return c != nullptr ? c->block : -1;
}

// Blocks that each poll a word which the next has changed last; empty: there is no such cycle.
std::vector<int> cycle_of(const std::vector<scheduled_block>& scheduled, const std::vector<scheduled_block*>& trying,
                          const spins& s) {
  for (const scheduled_block* first : trying) {
    std::vector<int> path;
    int at = first->number;
    while (at >= 0 && scheduled[static_cast<std::size_t>(at)].now != scheduled_block::state::finished) {
      const auto seen = std::find(path.begin(), path.end(), at);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(at);
      at = awaited_by(scheduled[static_cast<std::size_t>(at)], s);
    }
  }
  return {};
}

std::string trial_text(const scheduled_block& a, const std::vector<scheduled_block>& scheduled, const spins& s,
                       const memory_map& m) {
  if (a.attempted.word == nullptr) {
    const auto history = history_text(m, a);
    return message(block_text(a), " calls the same again and again: ", history.empty() ? "nothing" : history.back());
  }
  std::uint64_t value = 0;
  std::memcpy(&value, a.attempted.word, a.attempted.bytes);
  std::string text = message(block_text(a), " tries again and again at ", a.attempted.at.file, ":", a.attempted.at.line,
                             " ", range_text(m, reinterpret_cast<std::uintptr_t>(a.attempted.word), a.attempted.bytes),
                             ", which hold ", value);
  const spins::change* c = s.of(a.attempted.word);
  if (c == nullptr) return text + ", as before the run";
  const scheduled_block& by = scheduled[static_cast<std::size_t>(c->block)];
  text += message(", set by ", c->block == a.number ? "itself" : block_text(by), " at ", c->at.file, ":", c->at.line);
  return by.now == scheduled_block::state::finished ? text + ", which has returned from the kernel" : text;
}

}  // namespace

finding spinning_finding(const std::vector<scheduled_block>& scheduled, const std::vector<scheduled_block*>& trying,
                         const spins& s, const memory_map& m) {
  const std::vector<int> cycle = cycle_of(scheduled, trying, s);
  finding f;
  f.what = cycle.empty() ? defect::endless : defect::deadlock;
  std::ostringstream out;
  if (cycle.empty()) {
    out << "no block can go on: those that do not wait are in a loop that nothing ends\n";
  } else {
    out << "cycle of atomic operations: ";
    for (const int b : cycle)
      out << "PE " << scheduled[static_cast<std::size_t>(b)].pe << " block "
          << scheduled[static_cast<std::size_t>(b)].block << " -> ";
    const scheduled_block& first = scheduled[static_cast<std::size_t>(cycle.front())];
    out << "PE " << first.pe << " block " << first.block << "\n";
  }
  constexpr std::size_t most = 8;
  std::size_t shown = 0;
  for (const scheduled_block* a : trying) {
    if (!cycle.empty() && std::find(cycle.begin(), cycle.end(), a->number) == cycle.end()) continue;
    if (++shown > most) continue;
    f.blocks.push_back(a->number);
    out << "  " << trial_text(*a, scheduled, s, m) << "\n";
  }
  if (shown > most) out << "  and " << shown - most << " more\n";
  const bool by_atomics = std::any_of(trying.begin(), trying.end(), [&](const scheduled_block* a) {
    return a->attempted.word != nullptr && s.of(a->attempted.word) != nullptr;
  });
  out << (!cycle.empty() ? "  each holds what the next one wants: take locks in one order everywhere, and none twice"
          : by_atomics   ? "  whoever took a lock has to give it back: look for a way out of the kernel without that"
                         : "  somebody has to change what they poll, or they have to stop polling");
  f.text = out.str();
  return f;
}

}  // namespace starling::check
