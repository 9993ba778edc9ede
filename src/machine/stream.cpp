#include "starling/machine/stream.hpp"

#include "backend.hpp"
#include "launch_rules.hpp"
#include "starling/base/error.hpp"

namespace starling {

bool event::done() const { return impl_->done(); }

void event::synchronize() const { impl_->synchronize(); }

void event::record_in(void* native_stream) { impl_->record_in(native_stream); }

void event::hold(void* native_stream) const { impl_->hold(native_stream); }

void event_backend::record_in(void*) {
  throw unsupported_error("event::record_in: virtual devices have no streams of other libraries; use stream::record");
}

void event_backend::hold(void*) const {
  throw unsupported_error("event::hold: virtual devices have no streams of other libraries; use stream::wait");
}

double event::seconds_between(const event& earlier, const event& later) {
  expect<argument_error>(earlier.use_ == event_use::timing && later.use_ == event_use::timing,
                         "event::seconds_between: an event that only orders work; make both with event_use::timing");
  return later.impl_->seconds_since(*earlier.impl_);
}

int stream::pe() const { return impl_->pe(); }

void stream::launch_kernel(int blocks, const kernel& k, const launch_options& options) {
  expect<argument_error>(blocks >= 1, "stream::launch: blocks = ", blocks, "; must be at least 1");
  check_launch_options(options);
  impl_->launch(blocks, k, options);
}

void stream::launch_kernel(int blocks, const kernel& k, const launch_options& options,
                           const std::shared_ptr<const launch_copies>& copies) {
  expect<argument_error>(copies != nullptr, "stream::launch: no copies; leave them out");
  expect<argument_error>(blocks >= 1, "stream::launch: blocks = ", blocks, "; must be at least 1");
  check_launch_options(options);
  impl_->launch_with(blocks, k, options, copies);
}

void stream::copy(void* dest, const void* source, std::size_t bytes) {
  impl_->copy_rows(dest, bytes, source, bytes, bytes, 1);
}

void stream::copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                       std::size_t row_bytes, std::size_t rows) {
  expect<argument_error>(rows <= 1 || (dest_pitch >= row_bytes && source_pitch >= row_bytes),
                         "stream::copy_rows: rows of ", row_bytes, " bytes with pitches ", dest_pitch, " (dest) and ",
                         source_pitch, " (source); a pitch must be at least the row");
  impl_->copy_rows(dest, dest_pitch, source, source_pitch, row_bytes, rows);
}

void stream::fill(void* dest, unsigned char byte, std::size_t bytes) { impl_->fill(dest, byte, bytes); }

void stream::call(std::function<void()> f) {
  expect<argument_error>(f != nullptr, "stream::call: the function is empty; pass one that can be called");
  impl_->call(std::move(f));
}

void stream::record(event& e) { impl_->record(e.impl()); }

void stream::wait(const event& e) { impl_->wait(e.impl()); }

void stream::synchronize() { impl_->synchronize(); }

bool stream::keep_with_recording(std::shared_ptr<void> what) { return impl_->keep_with_recording(std::move(what)); }

void* stream::native() const { return impl_->native(); }

void graph::launch(stream& s) const { impl_->launch(s.impl()); }

std::size_t graph::operations() const { return impl_->operations(); }

std::optional<graph> graph::loop(const loop_condition& c) const {
  expect<argument_error>(c.most >= 1, "graph::loop: most = 0; a loop does its work at least once");
  const bool sizes = c.flag_bytes == 1 || c.flag_bytes == 2 || c.flag_bytes == 4 || c.flag_bytes == 8;
  expect<argument_error>(c.flag == nullptr ? c.flag_bytes == 0 : sizes, "graph::loop: a flag of ", c.flag_bytes,
                         " bytes at ", c.flag, "; 1, 2, 4 or 8 bytes, or none");
  auto made = impl_->loop(c);
  if (!made) return std::nullopt;
  return graph(std::move(made));
}

recording::recording(std::unique_ptr<recording_backend> impl) : impl_(std::move(impl)) {}
recording::recording(recording&&) noexcept = default;
recording& recording::operator=(recording&&) noexcept = default;
recording::~recording() = default;

std::unique_ptr<recording_backend> recording::take(const char* call) {
  expect<argument_error>(impl_ != nullptr, call,
                         ": the recording is over or was moved from; begin another with machine::start_recording");
  return std::move(impl_);
}

graph recording::finish() { return graph(take("recording::finish")->finish()); }

bool recording::finish_into(graph& g) { return take("recording::finish_into")->finish_into(g.impl_); }

}  // namespace starling
