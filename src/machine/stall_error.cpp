#include "starling/machine/stall_error.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "awaited_words.hpp"

namespace starling {
namespace {

bool is_barrier(operation op) { return !is_wait(op) && op != operation::none; }

bool stuck(const block_report& r) { return r.state == block_state::waiting || r.state == block_state::expired; }

const char* describe(block_state s) {
  switch (s) {
    case block_state::running:
      return "running";
    case block_state::waiting:
      return "waiting";
    case block_state::expired:
      return "deadline passed";
    case block_state::out_of_range:
      return "out of range";
    case block_state::not_resident:
      return "barrier in a plain launch";
    case block_state::finished:
      return "finished";
    case block_state::incomplete:
      return "threads missing";
    case block_state::near_side:
      return "transfer from or to memory that is not its own";
    case block_state::not_symmetric:
      return "pointer that is no symmetric address";
    case block_state::network_failed:
      return "error of a network card";
    case block_state::late:
      return "late";
  }
  return "?";
}

std::string who(int pe, int block) { return message("PE ", pe, " block ", block); }

// What it is in, without who it is.
std::string what(const block_report& r, const std::vector<std::string>& role_names) {
  std::ostringstream out;
  if (r.role >= 0 && r.role < static_cast<int>(role_names.size()))
    out << " (" << role_names[static_cast<std::size_t>(r.role)] << ")";
  out << ": " << describe(r.state);
  if (!stuck(r) && r.state != block_state::late) return out.str();
  out << " in " << name(r.op) << " at " << r.file << ":" << r.line
      << (r.op == operation::wait_until_any          ? ", first of several words +0x"
          : is_wait(r.op) && r.op != operation::wait ? ", word +0x"
                                                     : ", signal +0x")
      << std::hex << r.signal_offset << std::dec << " " << symbol(r.how) << " " << value_text(r.kind, r.wanted)
      << " wanted, " << value_text(r.kind, r.seen) << " seen";
  if (r.peer != any_pe) out << ", from PE " << r.peer;
  return out.str();
}

std::string describe(const block_report& r, const std::vector<std::string>& role_names) {
  return who(r.pe, r.block) + what(r, role_names);
}

// Blocks of one PE that are in the same, in the order of the first of each.
struct block_group {
  int pe = 0;
  std::string what;
  std::vector<int> blocks;
};

std::vector<block_group> grouped(const std::vector<block_report>& reports, const std::vector<std::string>& role_names) {
  std::vector<block_group> groups;
  std::map<std::pair<int, std::string>, std::size_t> known;
  for (const block_report& r : reports) {
    const auto [at, is_new] = known.try_emplace({r.pe, what(r, role_names)}, groups.size());
    if (is_new) groups.push_back({r.pe, at->first.second, {}});
    groups[at->second].blocks.push_back(r.block);
  }
  return groups;
}

// "PE 0 block 3 (role): ...", "PE 0 blocks 0-63, 70 (role): ...".
std::string describe(const block_group& g) {
  std::ostringstream out;
  out << "PE " << g.pe << (g.blocks.size() > 1 ? " blocks " : " block ");
  for (std::size_t i = 0; i < g.blocks.size(); ++i) {
    const std::size_t begin = i;
    while (i + 1 < g.blocks.size() && g.blocks[i + 1] == g.blocks[i] + 1) ++i;
    out << (begin > 0 ? ", " : "") << g.blocks[begin];
    if (i > begin) out << (i > begin + 1 ? "-" : ", ") << g.blocks[i];
  }
  out << g.what;
  return out.str();
}

std::string report_text(const std::vector<block_report>& reports, const std::vector<std::string>& role_names,
                        const std::vector<block_id>& cycle, double deadline, const std::vector<std::string>& injected) {
  std::ostringstream out;
  const auto first = std::find_if(reports.begin(), reports.end(),
                                  [](const block_report& r) { return r.state == block_state::expired; });
  out << "stall: a wait passed its deadline of " << deadline << " s\n";
  for (const std::string& fault : injected) out << "  injected fault: " << fault << "\n";
  if (first != reports.end()) out << "  first: " << describe(*first, role_names) << "\n";
  if (!cycle.empty()) {
    out << "  wait-for cycle: ";
    for (const block_id& b : cycle) out << who(b.pe, b.block) << " -> ";
    out << who(cycle.front().pe, cycle.front().block) << "\n";
  } else if (injected.empty()) {
    out << "  no wait-for cycle found: a signal was never sent, sent elsewhere, or the deadline is too short\n";
  }
  out << "  all blocks:\n";
  constexpr std::size_t most = 64;
  const std::vector<block_group> groups = grouped(reports, role_names);
  for (std::size_t i = 0; i < std::min(groups.size(), most); ++i) out << "    " << describe(groups[i]) << "\n";
  if (groups.size() > most) out << "    ... and " << groups.size() - most << " more lines\n";
  const bool unknown_peer = std::any_of(reports.begin(), reports.end(), [](const block_report& r) {
    return stuck(r) && is_wait(r.op) && r.peer == any_pe;
  });
  const bool runs = std::any_of(reports.begin(), reports.end(),
                                [](const block_report& r) { return r.state == block_state::running; });
  const bool late =
      std::any_of(reports.begin(), reports.end(), [](const block_report& r) { return r.state == block_state::late; });
  if (late)
    out << "  late blocks came to their waits after the program had been ended: until then they computed, or the "
           "kernel of their PE had not begun\n";
  if (runs)
    out << "  running blocks were not in a wait: they compute, or loop without waiting, which nothing ends; bound such "
           "loops, or let them wait or test (until they have returned, a machine of GPUs refuses other work)\n";
  if (unknown_peer)
    out << "  waits without a known sender: pass the PE as last argument of wait() or wait_until() to see it here\n";
  if (!injected.empty()) {
    out << "  next: look at the injected faults above first; machine::inject({}) removes them";
    return out.str();
  }
  out << "  next: look at what should raise the signals above; a slow but correct program needs a longer deadline "
         "(launch_options::deadline or STARLING_DEADLINE)";
  return out.str();
}

}  // namespace

std::vector<block_id> waits_for(const std::vector<block_report>& reports, const block_report& from) {
  std::vector<block_id> edges;
  if (!stuck(from)) return edges;
  const bool machine_wide = is_barrier(from.op) && from.op != operation::sync_pe;
  for (const block_report& to : reports) {
    if (to.state == block_state::finished && !is_barrier(from.op)) continue;
    bool awaited = false;
    if (!is_barrier(from.op))
      awaited = from.peer != any_pe && to.pe == from.peer && !(to.pe == from.pe && to.block == from.block);
    else if (machine_wide && from.block != 0)
      awaited = to.pe == from.pe && to.block == 0;  // block 0 tells its PE that the barrier is over
    else if (machine_wide && from.peer != from.pe)
      awaited = to.pe == from.peer && to.block == 0;  // blocks 0 meet
    else                                              // all blocks of this PE must come to this kind of barrier
      awaited = to.pe == from.pe && to.block != from.block && (to.op != from.op || !stuck(to));
    if (awaited) edges.push_back({to.pe, to.block});
  }
  return edges;
}

std::vector<block_id> find_cycle(const std::vector<block_report>& reports) {
  const auto index_of = [&](const block_id& b) {
    for (std::size_t i = 0; i < reports.size(); ++i)
      if (reports[i].pe == b.pe && reports[i].block == b.block) return i;
    return reports.size();
  };
  enum class mark { unseen, open, closed };
  std::vector<mark> marks(reports.size(), mark::unseen);
  std::vector<std::size_t> path;
  std::vector<block_id> cycle;
  const auto visit = [&](const auto& again, std::size_t at) -> bool {
    marks[at] = mark::open;
    path.push_back(at);
    for (const block_id& next : waits_for(reports, reports[at])) {
      const std::size_t to = index_of(next);
      if (to == reports.size()) continue;
      if (marks[to] == mark::open) {
        for (auto i = std::find(path.begin(), path.end(), to); i != path.end(); ++i)
          cycle.push_back({reports[*i].pe, reports[*i].block});
        return true;
      }
      if (marks[to] == mark::unseen && again(again, to)) return true;
    }
    path.pop_back();
    marks[at] = mark::closed;
    return false;
  };
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (marks[i] == mark::unseen && visit(visit, i)) return cycle;
  return {};
}

stall_error::stall_error(std::vector<block_report> reports, const std::vector<std::string>& role_names,
                         double deadline_seconds, std::vector<std::string> injected)
    : error(report_text(reports, role_names, find_cycle(reports), deadline_seconds, injected)),
      reports_(std::move(reports)),
      cycle_(find_cycle(reports_)),
      injected_(std::move(injected)) {}

}  // namespace starling
