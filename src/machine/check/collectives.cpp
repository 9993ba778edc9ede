#include "collectives.hpp"

#include <string_view>

#include "starling/base/error.hpp"

namespace starling::check {

void collectives::reset(int programs, int n_pes) {
  n_pes_ = n_pes;
  on_pe_.resize(static_cast<std::size_t>(programs * n_pes));
  machine_.resize(static_cast<std::size_t>(programs));
  for (auto& s : on_pe_) s.clear();
  for (auto& s : machine_) s.clear();
  teams_.clear();
}

int collectives::add_program() {
  machine_.emplace_back();
  on_pe_.resize(machine_.size() * static_cast<std::size_t>(n_pes_));
  return static_cast<int>(machine_.size()) - 1;
}

std::string collectives::enter(scheduled_block& a, const collective_call& c) {
  if (c.meeting != nullptr) {
    of_meeting& team = teams_[c.meeting];
    return compare(team.sequence, team.place[a.pe]++, a, c);
  }
  auto& here = on_pe_[static_cast<std::size_t>(a.program * n_pes_ + a.pe)];
  std::string problem = compare(here, a.collectives++, a, c);
  if (!problem.empty() || c.op == operation::sync_pe) return problem;
  return compare(machine_[static_cast<std::size_t>(a.program)], a.meetings++, a, c);
}

namespace {

std::string described(const collective_call& c) {
  std::string text = message(name(c.op), " at ", c.at.file, ":", c.at.line);
  if (c.bytes > 0) text += message(" of ", c.bytes, " bytes");
  if (c.by[0] != '\0') text += message(" by ", c.by);
  if (c.root != any_pe) text += message(" from PE ", c.root);
  return text;
}

}  // namespace

std::string collectives::compare(std::vector<made>& sequence, std::uint32_t place, const scheduled_block& a,
                                 const collective_call& c) {
  if (place == sequence.size()) {
    sequence.push_back({c, a.pe, a.block});
    return "";
  }
  const made& first = sequence[place];
  // Of a function of the user nothing is known: the same one may be written twice.
  const bool differ = first.what.by[0] != '\0' && c.by[0] != '\0' && std::string_view(first.what.by) != c.by;
  if (first.what.op == c.op && first.what.bytes == c.bytes && first.what.root == c.root && !differ) return "";
  const bool team = c.meeting != nullptr;
  return message("collective ", place + 1, team ? " of a team by PE " : " of PE ", first.pe, " block ", first.block,
                 " is ", described(first.what), "; that of PE ", a.pe, " block ", a.block, " is ", described(c),
                 "; all ", team ? "PEs of a team" : "blocks of a program",
                 " must make the same ones in the same order, with the same arguments");
}

}  // namespace starling::check
