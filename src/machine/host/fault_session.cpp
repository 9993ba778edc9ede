#include "fault_session.hpp"

#include "../fault_rules.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::host {
namespace {

bool counts(fault_calls calls, bool usually_all, const fault_call& call) {
  if (calls == fault_calls::usual) calls = usually_all ? fault_calls::all : fault_calls::user;
  return calls == fault_calls::all || (calls == fault_calls::control) == call.control;
}

// Whether the call is of the kind that the fault is about, and of a block that it is about.
bool matches(const fault& f, const fault_call& call) {
  const fault_selector* s = selector_of(f);
  if (s == nullptr || (s->pe != any_pe && s->pe != call.pe) || (s->block != any_block && s->block != call.block))
    return false;
  if (std::holds_alternative<lose_link>(f)) return call.by_card && counts(s->calls, true, call);
  const bool of_blocks = std::holds_alternative<kill_block>(f) || std::holds_alternative<slow_pe>(f);
  if (!counts(s->calls, of_blocks, call)) return false;
  return of_blocks || (std::holds_alternative<corrupt_epoch>(f) ? call.packet : call.signal);
}

}  // namespace

fault_session::fault_session(fault_plan plan)
    : plan_(std::move(plan)),
      counted_(std::make_unique<std::atomic<std::int64_t>[]>(plan_.faults.size())),
      records_(plan_.faults.size()) {}

bool fault_session::due(std::size_t i, std::int64_t nth, std::int64_t times) {
  const std::int64_t number = 1 + counted_[i].fetch_add(1, std::memory_order_relaxed);
  return number >= nth && (times == 0 || number < nth + times);
}

fault_effects fault_session::at(const fault_call& call) {
  fault_effects effects;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const fault& f = plan_.faults[i];
    if (!matches(f, call)) continue;
    const auto* slow = std::get_if<slow_pe>(&f);
    const fault_selector& s = *selector_of(f);
    if (slow == nullptr && !due(i, s.nth, s.times)) continue;
    keep(i, call);
    if (slow != nullptr) effects.pause += slow->seconds;
    if (const auto* one = std::get_if<delay_signal>(&f)) effects.pause += one->seconds;
    if (const auto* one = std::get_if<corrupt_epoch>(&f)) effects.flip ^= one->flip;
    effects.drop = effects.drop || std::holds_alternative<drop_signal>(f);
    effects.lose = effects.lose || std::holds_alternative<lose_link>(f);
    effects.kill = effects.kill || std::holds_alternative<kill_block>(f);
  }
  return effects;
}

void fault_session::at_allocation(std::size_t bytes, const char* memory, int n_pes) {
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const auto* f = std::get_if<fail_allocation>(&plan_.faults[i]);
    if (f == nullptr || !due(i, f->nth, f->times)) continue;
    fault_call call;
    call.pe = any_pe;
    call.block = any_block;
    keep(i, call);
    throw memory_error(message(memory, ": ", format_bytes(bytes), " asked for on each of ", n_pes,
                               " PEs and refused by an injected fault (fail_allocation, number ", i,
                               " of the plan); remove it with machine::inject({})"));
  }
}

void fault_session::keep(std::size_t i, const fault_call& call) {
  const std::lock_guard lock(mutex_);
  std::optional<record>& r = records_[i];
  if (!r) {
    fired_fault first;
    first.index = static_cast<int>(i);
    first.kind = name(plan_.faults[i]);
    first.pe = call.pe;
    first.block = call.block;
    first.op = call.op;
    first.peer = call.peer;
    first.file = call.at.file;
    first.line = call.at.line;
    r = record{first, 0};
  }
  ++r->first.times;
  r->run = runs_;
}

std::vector<fired_fault> fault_session::fired() const {
  const std::lock_guard lock(mutex_);
  std::vector<fired_fault> all;
  for (const std::optional<record>& r : records_)
    if (r) all.push_back(r->first);
  return all;
}

std::vector<std::string> fault_session::notes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const std::optional<record>& r : records_)
    if (r) all.push_back(r->first.text() + (r->run == runs_ ? "" : " (in an earlier run)"));
  return all;
}

}  // namespace starling::host
