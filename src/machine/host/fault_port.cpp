#include "fault_port.hpp"

namespace starling::host {
namespace {

// Whether the put is of one packet: 8 bytes, and their number behind them.
bool is_packet(const transfer& t, const signal_update& s) {
  return t.count == 1 && t.element == 8 && static_cast<const std::byte*>(t.dest) + 8 == static_cast<void*>(s.target);
}

}  // namespace

fault_call fault_port::call(operation op, const void* address, int peer, where at, int context) const {
  fault_call c;
  c.pe = pe_;
  c.block = block_;
  c.op = op;
  c.peer = peer;
  c.at = at;
  c.context = context;
  c.by_card = peer >= 0 && peer < program_.state(pe_).n_pes && to_->behind_card(peer);
  const symmetric_heap& control = program_.group().control;
  if (address != nullptr && peer >= 0 && peer < control.where().n_pes) {
    const std::byte* begin = control.on(0, peer);
    const auto* seen = static_cast<const std::byte*>(address);
    c.control = seen >= begin && seen < begin + control.where().capacity;
  }
  return c;
}

fault_effects fault_port::meet(const fault_call& c) {
  const fault_effects effects = faults_.at(c);
  if (effects.pause > 0) program_.pause(effects.pause);
  if (effects.lose) to_->lose_link(c.context, c.peer);
  if (effects.kill) program_.kill(c.pe, c.block, c.op, c.at);
  return effects;
}

void fault_port::put(const transfer& t) {
  meet(call(operation::put, t.dest, t.pe, t.at, t.context));
  to_->put(t);
}

void fault_port::put_signal(const transfer& t, const signal_update& s) {
  fault_call c = call(operation::put, s.target, s.pe, s.at, s.context);
  c.signal = true;
  c.packet = is_packet(t, s);
  const fault_effects effects = meet(c);
  signal_update changed = s;
  changed.value ^= effects.flip;
  if (effects.drop)
    to_->put(t);
  else
    to_->put_signal(t, changed);
}

void fault_port::get(const transfer& t) {
  meet(call(operation::get, t.source, t.pe, t.at, t.context));
  to_->get(t);
}

void fault_port::update(const signal_update& s) {
  fault_call c = call(operation::put, s.target, s.pe, s.at, s.context);
  c.signal = true;
  if (!meet(c).drop) to_->update(s);
}

bool fault_port::wait(const wait_request& w) {
  meet(call(w.op, w.local, pe_, w.at));
  return to_->wait(w);
}

bool fault_port::test(const wait_request& w) {
  meet(call(w.op, w.local, pe_, w.at));
  return to_->test(w);
}

void fault_port::atomic(const atomic_call& c) {
  meet(call(operation::atomic, c.address, c.pe, c.at, c.context));
  to_->atomic(c);
}

void fault_port::fence(int context) {
  meet(call(operation::none, nullptr, any_pe, {"", 0}));
  to_->fence(context);
}

void fault_port::quiet(int context) {
  meet(call(operation::none, nullptr, any_pe, {"", 0}));
  to_->quiet(context);
}

}  // namespace starling::host
