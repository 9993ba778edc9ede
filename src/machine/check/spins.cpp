#include "spins.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "describe.hpp"

namespace starling::check {
namespace {

// The block that has changed last what this one looks at; -1: none.
int awaited_by(const actor& a, const spins& s) {
  const spins::change* c = a.looked.word != nullptr ? s.of(a.looked.word) : nullptr;
  return c != nullptr ? c->block : -1;
}

// Blocks that each look at a word which the next has changed last; empty: there is no such cycle.
std::vector<int> cycle_of(const std::vector<actor>& actors, const std::vector<actor*>& trying, const spins& s) {
  for (const actor* first : trying) {
    std::vector<int> path;
    int at = first->number;
    while (at >= 0 && actors[static_cast<std::size_t>(at)].now != actor::state::finished) {
      const auto seen = std::find(path.begin(), path.end(), at);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(at);
      at = awaited_by(actors[static_cast<std::size_t>(at)], s);
    }
  }
  return {};
}

std::string trial_text(const actor& a, const std::vector<actor>& actors, const spins& s, const memory_map& m) {
  if (a.looked.word == nullptr) {
    const auto history = history_text(m, a);
    return message(block_text(a), " calls the same again and again: ", history.empty() ? "nothing" : history.back());
  }
  std::uint64_t value = 0;
  std::memcpy(&value, a.looked.word, a.looked.bytes);
  std::string text =
      message(block_text(a), " tries again and again at ", a.looked.at.file, ":", a.looked.at.line, " ",
              range_text(m, reinterpret_cast<std::uintptr_t>(a.looked.word), a.looked.bytes), ", which hold ", value);
  const spins::change* c = s.of(a.looked.word);
  if (c == nullptr) return text + ", as before the run";
  const actor& by = actors[static_cast<std::size_t>(c->block)];
  text += message(", set by ", c->block == a.number ? "itself" : block_text(by), " at ", c->at.file, ":", c->at.line);
  return by.now == actor::state::finished ? text + ", which has returned from the kernel" : text;
}

}  // namespace

finding spinning_finding(const std::vector<actor>& actors, const std::vector<actor*>& trying, const spins& s,
                         const memory_map& m) {
  const std::vector<int> cycle = cycle_of(actors, trying, s);
  finding f;
  f.what = cycle.empty() ? defect::endless : defect::deadlock;
  std::ostringstream out;
  if (cycle.empty()) {
    out << "no block can go on: those that do not wait are in a loop that nothing ends\n";
  } else {
    out << "cycle of atomic operations: ";
    for (const int b : cycle)
      out << "PE " << actors[static_cast<std::size_t>(b)].pe << " block " << actors[static_cast<std::size_t>(b)].block
          << " -> ";
    const actor& first = actors[static_cast<std::size_t>(cycle.front())];
    out << "PE " << first.pe << " block " << first.block << "\n";
  }
  constexpr std::size_t most = 8;
  std::size_t shown = 0;
  for (const actor* a : trying) {
    if (!cycle.empty() && std::find(cycle.begin(), cycle.end(), a->number) == cycle.end()) continue;
    if (++shown > most) continue;
    f.blocks.push_back(a->number);
    out << "  " << trial_text(*a, actors, s, m) << "\n";
  }
  if (shown > most) out << "  and " << shown - most << " more\n";
  const bool by_atomics = std::any_of(trying.begin(), trying.end(), [&](const actor* a) {
    return a->looked.word != nullptr && s.of(a->looked.word) != nullptr;
  });
  out << (!cycle.empty() ? "  each holds what the next one wants: take locks in one order everywhere, and none twice"
          : by_atomics   ? "  whoever took a lock has to give it back: look for a way out of the kernel without that"
                         : "  somebody has to change what they look at, or they have to stop looking");
  f.text = out.str();
  return f;
}

}  // namespace starling::check
