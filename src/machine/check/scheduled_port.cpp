#include "scheduled_port.hpp"

#include "../launch_rules.hpp"

namespace starling::check {
namespace {

std::uint64_t bytes_of(const transfer& t) { return t.count > 0 ? static_cast<std::uint64_t>(t.count) * t.element : 0; }

}  // namespace

void scheduled_port::fail(defect what, const std::string& text) { schedule_.fail({what, text, {actor_.number}}); }

void scheduled_port::check_remote(const char* what, const void* address, std::size_t bytes, int pe, where at) {
  if (bytes == 0 || schedule_.live(address, bytes, pe)) return;
  const memory_map& m = schedule_.work().memory;
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  const bool inside = start >= m.begin && m.pe_of(start) < schedule_.work().n_pes;
  fail(defect::out_of_bounds,
       message(block_text(actor_), " calls ", what, " at ", at.file, ":", at.line, " for ",
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

void scheduled_port::check_near(const char* what, const char* side, const void* address, std::size_t bytes, where at) {
  if (bytes == 0) return;
  const auto refuse = [&](defect d, const std::string& range, const std::string& is) {
    fail(d, message(block_text(actor_), " calls ", what, " at ", at.file, ":", at.line, ": its ", side, ", ", range,
                    ", is ", is));
  };
  const char* outside =
      "not inside one live allocation; check the size, the offset and whether the array is still "
      "allocated";
  if (const auto scratch = scratch_.find(address, bytes)) {
    if (!scratch->inside)
      refuse(defect::out_of_bounds, message(bytes, " bytes at byte ", scratch->offset, " of scratch memory"), outside);
    return;
  }
  const memory_map& m = schedule_.work().memory;
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  const bool local = m.is_local(start);
  const bool symmetric = !local && start >= m.begin && m.pe_of(start) < schedule_.work().n_pes;
  if ((!local && !symmetric) || schedule_.live(address, bytes, actor_.pe)) return;
  const bool foreign = symmetric && m.pe_of(start) != actor_.pe;
  refuse(foreign ? defect::foreign_access : defect::out_of_bounds, range_text(m, start, bytes),
         foreign ? message("memory of another PE; pass memory of the block's own PE ", actor_.pe) : outside);
}

void scheduled_port::check_near(const char* what, const char* side, const void* address, const transfer& t,
                                index_t stride) {
  if (stride == 1) return check_near(what, side, address, bytes_of(t), t.at);
  for (index_t i = 0; i < t.count; ++i)
    check_near(what, side, static_cast<const std::byte*>(address) + i * stride * static_cast<index_t>(t.element),
               t.element, t.at);
}

void scheduled_port::put(const transfer& t) {
  const char* what = t.blocking ? "put" : "put_nbi";
  schedule_.begin_call(actor_, {what, t.at, t.pe, bytes_of(t), nullptr, 0});
  check_remote(what, t.dest, t, t.dest_stride);
  check_near(what, "source", t.source, t, t.source_stride);
  schedule_.put(actor_, t, nullptr);
}

void scheduled_port::put_signal(const transfer& t, const signal_update& s) {
  schedule_.begin_call(actor_, {"put_signal", s.at, s.pe, bytes_of(t), s.target, s.value});
  check_remote("put_signal", s.target, sizeof(signal), s.pe, s.at);
  check_remote("put_signal", t.dest, t, t.dest_stride);
  check_near("put_signal", "source", t.source, t, t.source_stride);
  schedule_.put(actor_, t, &s);
}

void scheduled_port::get(const transfer& t) {
  const char* what = t.blocking ? "get" : "get_nbi";
  schedule_.begin_call(actor_, {what, t.at, t.pe, bytes_of(t), nullptr, 0});
  check_remote(what, t.source, t, t.source_stride);
  check_near(what, "destination", t.dest, t, t.dest_stride);
  schedule_.get(actor_, t);
}

void scheduled_port::update(const signal_update& s) {
  schedule_.begin_call(actor_,
                       {s.op == signal_op::set ? "signal_set" : "signal_add", s.at, s.pe, 0, s.target, s.value});
  check_remote("signal", s.target, sizeof(signal), s.pe, s.at);
  schedule_.update(actor_, s);
}

void scheduled_port::wait(const wait_request& w) {
  schedule_.begin_call(actor_, {name(w.op), w.at, w.from, 0, w.local, w.wanted});
  check_remote(name(w.op), w.local, sizeof(signal), actor_.pe, w.at);
  schedule_.wait(actor_, w);
}

bool scheduled_port::test(const wait_request& w) {
  schedule_.begin_call(actor_, {"test", w.at, w.from, 0, w.local, w.wanted});
  check_remote("test", w.local, sizeof(signal), actor_.pe, w.at);
  return schedule_.test(actor_, w);
}

void scheduled_port::atomic(void* address, std::size_t bytes, int pe, where at, void (*apply)(void*), void* context) {
  schedule_.begin_call(actor_, {"atomic", at, pe, bytes, nullptr, 0});
  check_remote("atomic", address, bytes, pe, at);
  schedule_.atomic(actor_, address, bytes, apply, context);
}

void scheduled_port::collective(const collective_call& c) {
  schedule_.begin_call(actor_, {name(c.op), c.at, c.root, c.bytes, nullptr, 0});
  schedule_.collective(actor_, c);
}

void scheduled_port::fence() {
  schedule_.begin_call(actor_, {"fence", {"", 0}, any_pe, 0, nullptr, 0});
  schedule_.fence(actor_);
}

void scheduled_port::quiet() {
  schedule_.begin_call(actor_, {"quiet", {"", 0}, any_pe, 0, nullptr, 0});
  schedule_.quiet(actor_);
}

void scheduled_port::refuse_pe(operation op, int pe, where at) {
  fail(defect::out_of_bounds, message(block_text(actor_), ": ", name(op), " at ", at.file, ":", at.line, " names PE ",
                                      pe, "; PEs are numbered from 0 to ", schedule_.work().n_pes - 1));
}

void scheduled_port::refuse_barrier(operation op, where at) {
  fail(defect::collective,
       message(block_text(actor_), ": ", name(op), " at ", at.file, ":", at.line, refused_in_launch(op)));
}

std::byte* scheduled_port::scratch(std::size_t bytes, where at) {
  const std::size_t left = scratch_bytes_ - scratch_.used();
  if (bytes > left)
    fail(defect::out_of_bounds,
         message(block_text(actor_), ": scratch at ", at.file, ":", at.line, " asks for ", bytes,
                 " bytes and the launch has left ", left, "; raise launch_options::scratch_bytes"));
  return scratch_.take(bytes, 0xff);
}

std::byte* scheduled_port::staging(std::size_t bytes) {
  if (staging_.size() < bytes) staging_.resize(bytes);
  return staging_.data();
}

}  // namespace starling::check
