#include "block_port.hpp"

#include <cstring>
#include <limits>

#include "../awaited_words.hpp"
#include "delivery.hpp"
#include "starling/device/own_address.hpp"

namespace starling::host {
namespace {

// Bytes from the first to the last element touched; for strides and counts that make no sense, more than there can be.
std::size_t span(const transfer& t, index_t stride) {
  if (t.count <= 0) return 0;
  constexpr std::size_t too_many = std::numeric_limits<std::size_t>::max();
  std::size_t elements = 0;
  std::size_t bytes = 0;
  if (t.count > 1 && stride < 1) return too_many;
  if (__builtin_mul_overflow(t.count - 1, stride, &elements)) return too_many;
  return __builtin_mul_overflow(elements + 1, t.element, &bytes) ? too_many : bytes;
}

std::uint64_t payload(const transfer& t) { return t.count > 0 ? static_cast<std::uint64_t>(t.count) * t.element : 0; }

}  // namespace

block_report block_port::report(block_state state, operation op, where at) const {
  block_report r;
  r.pe = pe_;
  r.block = block_;
  r.state = state;
  r.op = op;
  set_place(r, at);
  return r;
}

void block_port::refuse_pe(operation op, int pe, where at) {
  block_report r = report(block_state::out_of_range, op, at);
  r.peer = pe;
  program_.fail(r);
}

void block_port::refuse_address(const void* address, where at) {
  block_report r = report(block_state::not_symmetric, operation::none, at);
  set_address(r, program_.state(pe_), address);
  program_.fail(r);
}

void block_port::check_remote(operation op, const void* address, std::size_t bytes, int pe, where at) const {
  block_report r = report(block_state::out_of_range, op, at);
  r.peer = pe;
  if (pe < 0 || pe >= program_.state(pe_).n_pes) program_.fail(r);
  const run_group& group = program_.group();
  if (bytes == 0 || group.heap.contains(address, bytes, pe) || group.control.contains(address, bytes, pe) ||
      group.local.contains(address, bytes))
    return;
  r.wanted = bytes;
  r.signal_offset =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - program_.state(pe_).heap.on(pe));
  program_.fail(r);
}

void block_port::check_near(operation op, const void* address, std::size_t bytes, const transfer& t) const {
  if (bytes == 0) return;
  const run_group& group = program_.group();
  block_report r = report(block_state::near_side, op, t.at);
  r.wanted = bytes;
  r.seen = unknown_bytes;
  if (t.near_bytes != unknown_bytes && bytes > t.near_bytes) {
    r.seen = t.near_bytes;
  } else if (const auto scratch = scratch_.find(address, bytes)) {
    if (scratch->inside) return;
    r.signal_offset = scratch->offset;
  } else if (group.local.in_range(address)) {
    if (group.local.contains(address, bytes)) return;
    r.signal_offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - group.local.start());
  } else if (group.heap.in_range(address)) {
    if (group.heap.contains(address, bytes, pe_) || group.control.contains(address, bytes, pe_)) return;
    const symmetric_heap::layout& all = group.heap.where();
    const index_t from_start = static_cast<const std::byte*>(address) - all.start;
    r.peer = static_cast<int>(from_start / all.stride);
    r.signal_offset = static_cast<std::uint64_t>(from_start % all.stride);
  } else {
    return;  // memory of the process: its bounds are not known
  }
  program_.fail(r);
}

void block_port::put(const transfer& t) {
  check_remote(operation::put, t.dest, span(t, t.dest_stride), t.pe, t.at);
  check_near(operation::put, t.source, span(t, t.source_stride), t);
  moved_.sent(t.pe, way_to(t.pe), payload(t));
  if (queues_.reach(t.pe)) return queues_.put(t);
  deliver(t);
  wake(t);
}

// Those who wait for a word that has been written as data.
void block_port::wake(const transfer& t) const {
  parking& lot = program_.group().lot;
  if (t.count > 0 && lot.values_awaited()) lot.wake_range(t.dest, span(t, t.dest_stride));
}

void block_port::put_signal(const transfer& t, const signal_update& s) {
  check_remote(operation::put, s.target, sizeof(signal), s.pe, s.at);
  if (queues_.reach(t.pe) && s.pe == t.pe) {
    check_remote(operation::put, t.dest, span(t, t.dest_stride), t.pe, t.at);
    check_near(operation::put, t.source, span(t, t.source_stride), t);
    moved_.sent(t.pe, carried::by_engine, payload(t) + sizeof(signal));
    return queues_.put_signal(t, s);
  }
  put(t);
  moved_.sent(s.pe, carried::directly, sizeof(signal));
  raise(s, program_.group().lot);
}

void block_port::get(const transfer& t) {
  check_remote(operation::get, t.source, span(t, t.source_stride), t.pe, t.at);
  check_near(operation::get, t.dest, span(t, t.dest_stride), t);
  moved_.fetched(t.pe, way_to(t.pe), payload(t));
  if (queues_.reach(t.pe)) return queues_.get(t);
  deliver(t);
}

void block_port::update(const signal_update& s) {
  check_remote(operation::put, s.target, sizeof(signal), s.pe, s.at);
  moved_.sent(s.pe, way_to(s.pe), sizeof(signal));
  if (queues_.reach(s.pe)) return queues_.update(s);
  raise(s, program_.group().lot);
}

void block_port::end_wait(block_state state, const wait_request& w) const {
  block_report r = report(state, w.op, w.at);
  set_words(r, w);
  r.signal_offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address_of(w, first_of(w))) -
                                               program_.state(pe_).heap.on(pe_));
  program_.fail(r);
}

void block_port::check_words(const wait_request& w) const {
  check_remote(w.op, w.local, static_cast<std::size_t>(w.n) * bytes_of(w.kind), pe_, w.at);
}

bool block_port::wait(const wait_request& w) {
  check_words(w);
  if (satisfied(w)) return true;
  run_group& group = program_.group();
  constexpr double never = 1e8;  // seconds
  const auto patience = w.limit_ns != 0
                            ? std::chrono::nanoseconds(w.limit_ns)
                            : std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::duration<double>(w.idle ? never : program_.deadline_seconds()));
  const auto limit = clock::now() + std::chrono::duration_cast<clock::duration>(patience);
  const auto over = [&] { return satisfied(w) || group.ended.load() || queues_.failed(); };
  if (w.op == operation::wait || !is_wait(w.op))
    group.lot.wait(w.local, limit, over);  // a signal: it is raised by calls alone
  else
    group.lot.wait_for_value(w.n == 1 ? w.local : parking::several, limit, over);
  if (satisfied(w)) return true;
  if (group.ended.load()) end_wait(block_state::waiting, w);
  queues_.check();
  if (w.limit_ns != 0) return false;
  end_wait(block_state::expired, w);
}

bool block_port::test(const wait_request& w) {
  check_words(w);
  // A kernel may test in a loop, so this is where it learns that the program was ended.
  if (program_.group().ended.load()) end_wait(block_state::waiting, w);
  const bool yes = satisfied(w);
  if (!yes && queues_.failed()) queues_.check();
  return yes;
}

void block_port::atomic(const atomic_call& c) {
  check_remote(operation::atomic, c.address, c.bytes, c.pe, c.at);
  if (c.fetch != nullptr) {
    transfer back;
    back.at = c.at;
    check_near(operation::atomic, c.fetch, c.bytes, back);
  }
  // A kernel may try for a lock in a loop, so this is where it learns that the program was ended.
  if (acquires(c.order) && program_.group().ended.load())
    program_.fail(report(block_state::running, operation::atomic, c.at));
  if (releases(c.order)) queues_.quiet(c.context);
  moved_.sent(c.pe, way_to(c.pe), c.bytes);
  if (queues_.reach(c.pe)) {
    queues_.atomic(c);
  } else {
    (void)c.apply(c.argument);
    program_.group().lot.wake(c.address);
  }
  if (c.fetch != nullptr) std::memcpy(c.fetch, c.result, c.bytes);
}

// Without a card delivery is immediate, and the order of a thread's own accesses is kept by the signals, which release.
void block_port::fence(int context) { queues_.fence(context); }
void block_port::quiet(int context) { queues_.quiet(context); }

bool block_port::reach(int pe) { return !queues_.reach(pe); }
void block_port::end() { queues_.quiet_all(); }

void block_port::refuse_barrier(operation op, where at) { program_.fail(report(block_state::not_resident, op, at)); }

std::byte* block_port::scratch(std::size_t bytes, where at) {
  const std::size_t taken = scratch_taken(bytes);
  if (taken > program_.scratch_bytes() - scratch_.used()) {
    block_report r = report(block_state::out_of_range, operation::scratch, at);
    r.wanted = scratch_.used() + taken;
    program_.fail(r);
  }
  return scratch_.take(bytes, 0);
}

std::byte* block_port::staging(std::size_t bytes) {
  if (staging_.size() < bytes) staging_.resize(bytes);
  return staging_.data();
}

}  // namespace starling::host
