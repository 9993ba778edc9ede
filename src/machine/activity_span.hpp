// Puts something that the host does, from here to the end of the scope, into the machine's trace, if there is one.
#pragma once

#include <exception>

#include "backend.hpp"
#include "starling/device/target.hpp"

namespace starling {

inline host_activity copy_activity(backend& machine, const void* dest, const void* source, std::size_t bytes) {
  host_activity a;
  a.kind = host_activity::what::copy;
  a.bytes = bytes;
  a.from = static_cast<std::int16_t>(machine.home_of_address(source));
  a.to = static_cast<std::int16_t>(machine.home_of_address(dest));
  return a;
}

inline host_activity fill_activity(backend& machine, const void* dest, std::size_t bytes) {
  host_activity a;
  a.kind = host_activity::what::fill;
  a.bytes = bytes;
  a.to = static_cast<std::int16_t>(machine.home_of_address(dest));
  return a;
}

// The same as an operation of a stream.
inline host_activity on_stream(host_activity a, int pe, std::uint32_t stream) {
  a.pe = static_cast<std::int16_t>(pe);
  a.stream = stream;
  return a;
}

class activity_span {
 public:
  activity_span(const backend& machine, const host_activity& a) : trace_(machine.trace()) {
    if (!trace_) return;
    activity_ = a;
    activity_.start = target::now_ns();
    thrown_before_ = std::uncaught_exceptions();
  }
  ~activity_span() {
    if (!trace_) return;
    activity_.end = target::now_ns();
    activity_.failed = std::uncaught_exceptions() > thrown_before_ ? 1 : 0;
    try {
      trace_->add(activity_);
    } catch (const std::bad_alloc&) {  // one activity less
    }
  }
  activity_span(const activity_span&) = delete;
  activity_span& operator=(const activity_span&) = delete;

 private:
  std::shared_ptr<recorder> trace_;
  host_activity activity_;
  int thrown_before_ = 0;
};

}  // namespace starling
