#include "scheduled_port.hpp"

#include <algorithm>
#include <utility>

#include "../launch_rules.hpp"
#include "program_data.hpp"

namespace starling::check {
namespace {

std::uint64_t bytes_of(const transfer& t) { return t.count > 0 ? static_cast<std::uint64_t>(t.count) * t.element : 0; }

}  // namespace

void scheduled_port::fail(defect what, const std::string& text) { schedule_.fail({what, text, {block_.number}}); }

void scheduled_port::check_remote(const char* what, const void* address, std::size_t bytes, int pe, where at) {
  if (bytes == 0 || schedule_.live(address, bytes, pe)) return;
  const memory_map& m = schedule_.work().memory;
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  const bool inside = start >= m.begin && m.pe_of(start) < schedule_.work().n_pes;
  fail(defect::out_of_bounds,
       message(block_text(block_), " calls ", what, " at ", at.file, ":", at.line, " for ",
               inside ? range_text(m, start, bytes) : message(bytes, " bytes outside of symmetric memory"),
               ", which are not inside one live allocation of PE ", pe,
               "; check the size, the offset and whether the array is still allocated"));
}

void scheduled_port::check_remote(const char* what, const void* address, const transfer& t, index_t stride) {
  if (t.count <= 0) return;
  if (stride == 1) return check_remote(what, address, bytes_of(t), t.pe, t.at);
  if (stride < 1)
    fail(defect::out_of_bounds,
         message(what, " at ", t.at.file, ":", t.at.line, ": a stride of ", stride, "; strides are at least 1"));
  for (index_t i = 0; i < t.count; ++i)
    check_remote(what, static_cast<const std::byte*>(address) + i * stride * static_cast<index_t>(t.element), t.element,
                 t.pe, t.at);
}

bool scheduled_port::is_of_block(const void* address, std::size_t bytes, bool to_read) const {
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  const byte_range staging{reinterpret_cast<std::uintptr_t>(staging_.data()), staging_.size()};
  const auto holds = [&](const byte_range& r) { return r.holds(start, bytes); };
  return schedule_.stack_of(block_).holds(start, bytes) || std::any_of(of_block_.begin(), of_block_.end(), holds) ||
         closure_.holds(start, bytes) || staging.holds(start, bytes) || (to_read && is_constant(start, bytes));
}

// ---- loops whose elements are unordered ----

void scheduled_port::begin_loop() { loop_.emplace(schedule_.marks(), schedule_.count_loop()).begin(); }

void scheduled_port::next_element(std::span<const index_t> at) {
  schedule_.enter_element(block_, *loop_);
  loop_->start(at);
}

void scheduled_port::end_loop() {
  schedule_.enter_element(block_, *loop_);
  loop_->end();
  schedule_.written_alike += loop_->written_alike();
  loop_.reset();
}

// The near end of a transfer: for a put its source, for a get its destination.
struct scheduled_port::near_side {
  const char* call;
  const transfer& t;
  const void* address;
  index_t stride;
  bool source;
};

void scheduled_port::check_near_run(const near_side& n, const std::byte* first, std::size_t bytes) {
  const auto refuse = [&](defect d, const std::string& range, const std::string& is) {
    fail(d, message(block_text(block_), " calls ", n.call, " at ", n.t.at.file, ":", n.t.at.line, ": its ",
                    n.source ? "source, " : "destination, ", range, ", is ", is));
  };
  const memory_map& m = schedule_.work().memory;
  const auto start = reinterpret_cast<std::uintptr_t>(first);
  const char* outside =
      "not inside one live allocation; check the size, the offset and whether the array is still allocated";
  if (!m.covers(start)) {
    if (!is_of_block(first, bytes, n.source))
      refuse(defect::out_of_bounds, message(bytes, " bytes of the process"),
             "memory that no device reaches; copy it to symmetric or local memory before the run, or capture it by "
             "value");
    return;
  }
  if (m.scratch->covers(start) && m.scratch->owner(start) != block_.number)
    refuse(defect::foreign_access, range_text(m, start, bytes), "scratch memory of another block");
  if (schedule_.live(first, bytes, block_.pe)) return;
  const bool foreign = m.is_symmetric(start) && m.pe_of(start) != block_.pe;
  refuse(foreign ? defect::foreign_access : defect::out_of_bounds, range_text(m, start, bytes),
         foreign ? message("memory of another PE; pass memory of the block's own PE ", block_.pe) : outside);
}

void scheduled_port::check_near(const near_side& n) {
  const transfer& t = n.t;
  if (t.count <= 0) return;
  const auto* start = static_cast<const std::byte*>(n.address);
  const auto element = static_cast<index_t>(t.element);
  const std::size_t span = static_cast<std::size_t>((t.count - 1) * n.stride * element) + t.element;
  if (t.near_bytes != unknown_bytes && span > t.near_bytes)
    fail(defect::out_of_bounds, message(block_text(block_), " calls ", n.call, " at ", t.at.file, ":", t.at.line,
                                        ": its ", n.source ? "source, " : "destination, ", span,
                                        " bytes, goes beyond the end of its variable, which has ", t.near_bytes,
                                        " bytes from there on; check the count: it is one of elements"));
  if (n.stride == 1) return check_near_run(n, start, span);
  for (index_t i = 0; i < t.count; ++i) check_near_run(n, start + i * n.stride * element, t.element);
}

void scheduled_port::check_source(const char* what, const transfer& t) {
  check_near({what, t, t.source, t.source_stride, true});
}
void scheduled_port::check_destination(const char* what, const transfer& t) {
  check_near({what, t, t.dest, t.dest_stride, false});
}

void scheduled_port::put(const transfer& t) {
  const char* what = t.blocking ? "put" : "put_nbi";
  schedule_.begin_call(block_, {what, t.at, t.pe, bytes_of(t), nullptr, 0});
  check_remote(what, t.dest, t, t.dest_stride);
  check_source(what, t);
  schedule_.put(block_, t, nullptr);
}

void scheduled_port::put_signal(const transfer& t, const signal_update& s) {
  schedule_.begin_call(block_, {"put_signal", s.at, s.pe, bytes_of(t), s.target, s.value, {}, !s.orders});
  check_remote("put_signal", s.target, sizeof(signal), s.pe, s.at);
  check_remote("put_signal", t.dest, t, t.dest_stride);
  check_source("put_signal", t);
  schedule_.put(block_, t, &s);
}

void scheduled_port::get(const transfer& t) {
  const char* what = t.blocking ? "get" : "get_nbi";
  schedule_.begin_call(block_, {what, t.at, t.pe, bytes_of(t), nullptr, 0});
  check_remote(what, t.source, t, t.source_stride);
  check_destination(what, t);
  schedule_.get(block_, t);
}

void scheduled_port::update(const signal_update& s) {
  schedule_.begin_call(block_,
                       {s.op == signal_op::set ? "signal_set" : "signal_add", s.at, s.pe, 0, s.target, s.value});
  check_remote("signal", s.target, sizeof(signal), s.pe, s.at);
  schedule_.update(block_, s);
}

call scheduled_port::call_of(const char* what, const wait_request& w) const {
  return {what, w.at, w.from, 0, w.local, w.wanted, w.kind, is_of_packet(w)};
}

void scheduled_port::check_words(const char* what, const wait_request& w) {
  check_remote(what, w.local, static_cast<std::size_t>(w.n) * bytes_of(w.kind), block_.pe, w.at);
}

bool scheduled_port::wait(const wait_request& w) {
  schedule_.begin_call(block_, call_of(name(w.op), w));
  check_words(name(w.op), w);
  return schedule_.wait(block_, w);
}

bool scheduled_port::test(const wait_request& w) {
  schedule_.begin_call(block_, call_of("test", w));
  check_words("test", w);
  return schedule_.test(block_, w);
}

void scheduled_port::atomic(const atomic_call& c) {
  schedule_.begin_call(block_, {"atomic", c.at, c.pe, c.bytes, nullptr, 0});
  check_remote("atomic", c.address, c.bytes, c.pe, c.at);
  if (c.fetch != nullptr) {
    transfer back;
    back.dest = c.fetch;
    back.count = 1;
    back.element = c.bytes;
    back.at = c.at;
    check_destination("atomic_nbi", back);
  }
  schedule_.atomic(block_, c);
}

bool scheduled_port::launch(const kernel_launch& k) {
  schedule_.begin_call(block_, {"launch", k.at, any_pe, 0, nullptr, 0});
  return schedule_.launch_beside(block_, k);
}

void scheduled_port::collective(const collective_call& c) {
  schedule_.begin_call(block_, {name(c.op), c.at, c.root, c.bytes, nullptr, 0});
  schedule_.collective(block_, c);
}

void scheduled_port::fence(int context) {
  schedule_.begin_call(block_, {"fence", {"", 0}, any_pe, 0, nullptr, 0});
  schedule_.fence(block_, context);
}

void scheduled_port::quiet(int context) {
  schedule_.begin_call(block_, {"quiet", {"", 0}, any_pe, 0, nullptr, 0});
  schedule_.quiet(block_, context);
}

void scheduled_port::refuse_pe(operation op, int pe, where at) {
  fail(defect::out_of_bounds, message(block_text(block_), ": ", name(op), " at ", at.file, ":", at.line, " names PE ",
                                      pe, "; PEs are numbered from 0 to ", schedule_.work().n_pes - 1));
}

int scheduled_port::open_context() {
  const auto marks = std::exchange(running_marks, nullptr);  // what is done here is not the block's
  const int number = block_.contexts.open();
  block_.open(number);
  running_marks = marks;
  return number;
}

void scheduled_port::close_context(int context) { block_.contexts.close(context); }

bool scheduled_port::reach(int pe) {
  if (schedule_.apart(block_.pe, pe)) return false;
  const auto marks = std::exchange(running_marks, nullptr);
  block_.reached[static_cast<std::size_t>(pe)] = true;
  running_marks = marks;
  return true;
}

void scheduled_port::refuse_address(const void* address, where at) {
  const memory_map& m = schedule_.work().memory;
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  fail(m.is_symmetric(start) ? defect::foreign_access : defect::out_of_bounds,
       message(block_text(block_), " at ", at.file, ":", at.line, ": ",
               m.covers(start) ? place_text(m, address) : message(address, ", which no device reaches,"),
               " is given for a symmetric address, and is not in symmetric memory of its own PE ", block_.pe,
               "; pass the symmetric array's data(), or a pointer into its own copy, x.on(b.pe())"));
}

void scheduled_port::refuse_barrier(operation op, where at) {
  fail(defect::collective,
       message(block_text(block_), ": ", name(op), " at ", at.file, ":", at.line, refused_in_launch(op)));
}

scheduled_port::~scheduled_port() {
  if (slice_ >= 0) area_.give_back(slice_);
}

std::byte* scheduled_port::scratch(std::size_t bytes, where at) {
  const std::size_t left = scratch_bytes_ - scratch_used_;
  const std::size_t taken = scratch_taken(bytes);
  if (taken > left)
    fail(defect::out_of_bounds,
         message(block_text(block_), ": scratch at ", at.file, ":", at.line, " asks for ", bytes,
                 " bytes and the launch has left ", left, "; raise launch_options::scratch_bytes"));
  if (slice_ < 0) slice_ = area_.take(block_.number);
  scratch_used_ += taken;
  const auto marks = std::exchange(running_marks, nullptr);  // what is done here is not the block's
  std::byte* start = area_.add_piece(slice_, bytes);
  running_marks = marks;
  return start;
}

std::byte* scheduled_port::staging(std::size_t bytes) {
  if (staging_.size() < bytes) staging_.resize(bytes);
  return staging_.data();
}

}  // namespace starling::check
