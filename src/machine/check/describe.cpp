#include "describe.hpp"

#include <algorithm>
#include <sstream>

#include "../awaited_words.hpp"
#include "source_line.hpp"
#include "starling/machine/stall_error.hpp"

namespace starling::check {
namespace {

std::string place(where at) { return message(at.file, ":", at.line); }

std::string hex(std::size_t offset) {
  std::ostringstream out;
  out << "+0x" << std::hex << offset;
  return out.str();
}

// The block as the wait-for graph of stall reports sees it.
block_report report_of(const scheduled_block& a) {
  block_report r;
  r.pe = a.pe;
  r.block = a.block;
  r.role = a.role;
  if (a.now == scheduled_block::state::finished) {
    r.state = block_state::finished;
    return r;
  }
  if (a.in_quiet || a.awaited_event != nullptr) return r;
  r.state = block_state::waiting;
  r.op = a.awaited.op;
  set_words(r, a.awaited);
  return r;
}

bool in_barrier(const scheduled_block& a) {
  return a.now == scheduled_block::state::waiting && !a.in_quiet && a.awaited_event == nullptr &&
         !is_wait(a.awaited.op);
}

// Whom a block in a barrier or reduction misses.
std::string barrier_text(const scheduled_block& a) {
  const wait_request& w = a.awaited;
  const std::string text = message(block_text(a), " is in ", name(w.op), " at ", place(w.at), " and waits for ");
  if (w.from != a.pe) return text + message("PE ", w.from);
  if (a.block != 0 && w.op != operation::sync_pe) return text + "block 0 of its PE";
  const std::uint64_t missing = w.wanted - seen_by(w, 0);
  return text + message(missing, missing == 1 ? " more block" : " more blocks", " of its PE");
}

std::string wait_text(const scheduled_block& a, const memory_map& m) {
  if (in_barrier(a)) return barrier_text(a);
  if (a.in_quiet) return block_text(a) + " is in quiet";
  if (a.awaited_event != nullptr) return block_text(a) + " waits for an event or for the end of a launch";
  const wait_request& w = a.awaited;
  const index_t i = first_of(w);
  std::string text =
      message(block_text(a), " waits in ", name(w.op), " at ", place(w.at), " for ",
              w.n > 1 ? "any of several, first " : "", place_text(m, address_of(w, i)), " ", symbol(w.how), " ",
              value_text(w.kind, wanted_by(w, i)), ", which holds ", value_text(w.kind, seen_by(w, i)));
  if (w.from != any_pe) text += message(", from PE ", w.from);
  return text;
}

// Signals of the same PE that came and that nobody has waited for.
std::string strays(const scheduled_block& a, sync_variables& signals, const memory_map& m) {
  const int pe = m.pe_of(reinterpret_cast<std::uintptr_t>(a.awaited.local));
  for (std::size_t i = 1; i <= signals.count(); ++i) {
    const sync_variable& w = signals[static_cast<std::uint32_t>(i)];
    if (!w.raised || w.by_data || w.awaited || m.pe_of(w.address) != pe) continue;
    const auto* s = reinterpret_cast<const signal*>(w.address);
    return message("    ", place_text(m, s), " was raised to ", s->value, " at ", place(w.raised_at),
                   " and no block has waited for it: is that the one?\n");
  }
  return "";
}

std::string raised_text(const scheduled_block& a, sync_variables& signals) {
  const sync_variable& w = signals[signals.at(address_of(a.awaited, first_of(a.awaited)), bytes_of(a.awaited.kind))];
  if (!w.raised) return "    nothing has raised it in this run\n";
  return message("    it was last raised at ", place(w.raised_at), "\n");
}

}  // namespace

namespace {

std::string block_text(const scheduled_block& a, int block, const access_scope* work) {
  return message("PE ", a.pe, " block ", block, " (", work != nullptr ? work->who() : a.role_name, ")");
}

}  // namespace

std::string block_text(const scheduled_block& a) { return block_text(a, a.block, a.scope); }

std::string block_text(const scheduled_block& a, std::uint32_t stamp) {
  const scheduled_block::past_work then = a.at(stamp);
  return block_text(a, then.block, then.scope);
}

namespace {

// Where bytes lie from `at` in an allocation of so many.
std::string allocation_text(std::size_t at, std::size_t bytes, std::size_t allocation) {
  if (at >= allocation)
    return message(" (", at - allocation, " bytes behind the end of an allocation of ", allocation, ")");
  if (bytes > allocation - at)
    return message(" (from byte ", at, " to ", bytes - (allocation - at), " bytes behind the end of an allocation of ",
                   allocation, ")");
  return message(" (byte ", at, " of an allocation of ", allocation, ")");
}

// Bytes of local memory, and which of their allocation.
std::string local_text(const memory_map& m, std::uintptr_t address, std::size_t bytes) {
  const int pe = m.pe_of(address);
  const std::string text = message(bytes, bytes == 1 ? " byte at " : " bytes at ", hex(m.offset_of(address)), " of ",
                                   pe >= 0            ? message("local memory of PE ", pe)
                                   : pe == host_place ? std::string("local memory of the host")
                                                      : std::string("local memory that is not allocated"));
  if (const named_range* r = name_at(*m.names, address))
    return text + message(" (", place_beside(address, r->begin, r->bytes, *r->name), ")");
  std::string place;
  for (const local_heap::allocation& a : m.local->live()) {
    const auto begin = reinterpret_cast<std::uintptr_t>(a.start);
    if (begin > address) break;
    const named_range* r = name_at(*m.names, begin);
    place = r != nullptr ? message(" (", place_beside(address, r->begin, r->bytes, *r->name), ")")
                         : allocation_text(address - begin, bytes, a.bytes);
  }
  return text + place;
}

std::string scratch_text(const memory_map& m, std::uintptr_t address, std::size_t bytes) {
  const std::string text = message(bytes, bytes == 1 ? " byte" : " bytes");
  const scratch_area::piece* p = m.scratch->find(address);
  if (p == nullptr) return text + " of scratch memory, before the first piece that the block has asked for";
  const std::size_t at = address - reinterpret_cast<std::uintptr_t>(p->start);
  if (at < p->bytes) return text + message(" at byte ", at, " of ", p->bytes, " of scratch memory");
  return text + message(", ", at - p->bytes, " bytes behind the end of ", p->bytes, " of scratch memory");
}

}  // namespace

std::string place_text(const memory_map& m, const void* signal) {
  const auto at = reinterpret_cast<std::uintptr_t>(signal);
  if (m.is_local(at)) return message("signal ", hex(m.offset_of(at)), " of local memory");
  if (!m.is_users(at)) return message("a word of the machine's barriers on PE ", m.pe_of(at));
  return message("signal ", hex(m.offset_of(at)), " of PE ", m.pe_of(at));
}

std::string range_text(const memory_map& m, std::uintptr_t address, std::size_t bytes) {
  if (m.is_local(address)) return local_text(m, address, bytes);
  if (m.scratch->covers(address)) return scratch_text(m, address, bytes);
  const std::size_t offset = m.offset_of(address);
  std::string text = message(bytes, bytes == 1 ? " byte at " : " bytes at ", hex(offset), " of PE ", m.pe_of(address));
  if (offset >= m.user_bytes) return text + " (the machine's own words)";
  const memory_map::allocation* before = nullptr;
  for (const auto& a : m.allocations)
    if (a.offset <= offset) before = &a;
  if (before == nullptr) return text;
  return text + allocation_text(offset - before->offset, bytes, before->bytes);
}

std::string host_reads_text(const memory_map& m, std::uintptr_t address, std::size_t bytes, where at) {
  return message("the host reads ", range_text(m, address, bytes), at.line != 0 ? " at " + place(at) : std::string(),
                 ", which nothing has written; write it first, fill it (machine::fill), or copy less");
}

std::string call_text(const memory_map& m, const call& c) {
  std::string text = c.what;
  if (c.at.line != 0) text += " at " + place(c.at);
  if (c.peer != any_pe) text += message(", PE ", c.peer);
  if (c.bytes != 0) text += message(", ", c.bytes, " bytes");
  if (c.address != nullptr) text += message(", ", place_text(m, c.address), ", ", value_text(c.kind, c.value));
  return text;
}

std::vector<std::string> history_text(const memory_map& m, const scheduled_block& a) {
  std::vector<std::string> lines;
  const std::uint64_t n = std::min<std::uint64_t>(a.n_calls, a.calls.size());
  for (std::uint64_t i = a.n_calls - n; i < a.n_calls; ++i) lines.push_back(call_text(m, a.calls[i % a.calls.size()]));
  if (a.returned) lines.emplace_back("returned");
  return lines;
}

finding stuck_finding(const std::vector<scheduled_block>& scheduled, sync_variables& signals, const memory_map& m) {
  std::vector<block_report> reports;
  for (const scheduled_block& a : scheduled) reports.push_back(report_of(a));
  const std::vector<block_id> cycle = find_cycle(reports);
  const auto in_cycle = [&](const scheduled_block& a) {
    return std::find(cycle.begin(), cycle.end(), block_id{a.pe, a.block}) != cycle.end();
  };
  finding f;
  f.what = cycle.empty() ? defect::lost_signal : defect::deadlock;
  std::ostringstream out;
  if (cycle.empty()) {
    out << "no block can go on, and nothing is on its way\n";
  } else {
    out << "wait-for cycle: ";
    for (const block_id& b : cycle) out << "PE " << b.pe << " block " << b.block << " -> ";
    out << "PE " << cycle.front().pe << " block " << cycle.front().block << "\n";
  }
  constexpr std::size_t most = 8;
  std::size_t shown = 0;
  for (const scheduled_block& a : scheduled) {
    if (a.now == scheduled_block::state::finished || (!cycle.empty() && !in_cycle(a))) continue;
    if (++shown > most) continue;
    f.blocks.push_back(a.number);
    out << "  " << wait_text(a, m) << "\n";
    if (!a.in_quiet && a.awaited_event == nullptr && is_wait(a.awaited.op))
      out << raised_text(a, signals) << strays(a, signals, m);
  }
  if (shown > most) out << "  and " << shown - most << " more\n";
  if (std::any_of(scheduled.begin(), scheduled.end(),
                  [&](const scheduled_block& a) { return in_barrier(a) && (cycle.empty() || in_cycle(a)); }))
    out << "  a barrier or reduction ends when every block has come to it: call it on all PEs, in all roles, outside "
           "of "
           "conditions\n";
  else if (!cycle.empty())
    out << "  each waits for the next: one of them has to signal before it waits\n";
  std::size_t returned = 0;
  for (const scheduled_block& a : scheduled) {
    if (a.now != scheduled_block::state::finished || !a.returned || ++returned > most) continue;
    out << "  " << block_text(a) << " has returned from the kernel\n";
    if (f.blocks.size() < most) f.blocks.push_back(a.number);
  }
  f.text = out.str();
  f.text.pop_back();
  return f;
}

namespace {

// What an operation that is not complete still uses has been touched.
std::string disturbed_text(const bad_access& b, const scheduled_block& a,
                           const std::vector<scheduled_block>& scheduled) {
  const scheduled_block& by = scheduled[static_cast<std::size_t>(b.use.block)];
  const operation_fact& o = by.operations[b.use.operation];
  const std::uintptr_t first = std::max(b.address, b.use.begin);
  const std::size_t common = std::min(b.address + b.bytes, b.use.end) - first;
  const std::string then = b.code != nullptr ? " at " + source_line(b.code) : " by the call shown below";
  return message("nothing orders two accesses to ", common, common == 1 ? " byte" : " bytes", " of the process (byte ",
                 first - b.use.begin, " of the ", b.use.end - b.use.begin, " of the call)",
                 "\n  first: ", block_text(by), b.use.written ? " writes them by " : " reads them by ", o.what, " at ",
                 place(o.at), " (not complete before quiet)\n  then: ", block_text(a),
                 b.write ? " writes them" : " reads them", then,
                 "\n  the call does not block: call quiet() before the bytes are touched again");
}

// "PE 0 block 1 (task 'x') writes 8 bytes at file:12".
std::string does_text(const scheduled_block& a, const bad_access& b) {
  return message(block_text(a, a.block, b.scope), b.write ? " writes " : " reads ", b.bytes,
                 b.bytes == 1 ? " byte" : " bytes",
                 b.code != nullptr                         ? " at " + source_line(b.code)
                 : a.what == scheduled_block::kind::stream ? std::string(" by a copy")
                                                           : std::string(" by the call shown below"));
}

}  // namespace

memory_map as_named(const memory_map& now, const access_scope* work) {
  memory_map then = now;
  if (work != nullptr) then.names = work->names();
  return then;
}

void describe_access(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& now) {
  const bad_access& b = *f.access;
  const memory_map m = as_named(now, b.scope);
  const scheduled_block& a = scheduled[static_cast<std::size_t>(f.blocks.front())];
  if (b.what == bad_access::kind::in_use) {
    f.what = defect::source_reused;
    f.text = disturbed_text(b, a, scheduled);
    return;
  }
  const bool named = b.what == bad_access::kind::undeclared || b.what == bad_access::kind::dead;
  if (b.scope != nullptr && named && !m.scratch->covers(b.address)) return describe_undeclared(f, does_text(a, b), m);
  const std::string text = message(block_text(a), b.write ? " writes " : " reads ", range_text(m, b.address, b.bytes),
                                   " at ", source_line(b.code));
  switch (b.what) {
    case bad_access::kind::foreign:
      f.what = defect::foreign_access;
      if (a.what == scheduled_block::kind::stream) {
        f.text = text +
                 ", memory of a device, in a function that the host runs (stream::call); copy it to memory of "
                 "the host before, and back after";
        return;
      }
      if (m.scratch->covers(b.address)) {
        f.text =
            text + ", scratch memory of another block; scratch belongs to its block: use symmetric or local memory";
        return;
      }
      f.text = text + (b.write ? ", memory of another PE, with a plain store; use put, p or put_signal"
                               : ", memory of another PE, with a plain load; use get or g");
      return;
    case bad_access::kind::uninitialised:
      f.what = defect::uninitialised;
      f.text = text + (m.scratch->covers(b.address)
                           ? ", which the block has not written; scratch memory holds nothing when a kernel begins"
                           : ", which nothing has written; write it first, or fill it before the run (machine::fill)");
      return;
    default:
      f.what = defect::out_of_bounds;
      f.text =
          text + ", outside of every allocation; check the index, the size and whether the array is still allocated";
  }
}

}  // namespace starling::check
