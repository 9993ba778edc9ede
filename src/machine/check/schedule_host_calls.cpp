// The part of a schedule that is functions of the host in streams.
#include <exception>
#include <system_error>
#include <thread>

#include "schedule.hpp"

namespace starling::check {

void schedule::call_host(const std::function<void()>& f) {
  scheduled_block& a = *stream_;
  begin_call(a, {"call", {"", 0}, any_pe, 0, nullptr, 0});
  host_call& made = host_calls_[{a.number, a.host_calls++}];
  if (made.made)
    repeat(made);
  else
    run_on_host(a, f, made);
  flush(a);
  resume(a);
}

// On a thread of its own: it may need more stack than a fiber has.
void schedule::run_on_host(scheduled_block& a, const std::function<void()>& f, host_call& made) {
  made.made = true;
  byte_ranges before;
  for (const local_heap::allocation& m : work_.memory.local->live())
    if (m.pieces.front().pe == host_place) before.keep(m.start, m.bytes);
  for (const host_range& r : touched_) before.keep(r.start, r.bytes);
  marks_.block = a.number;
  marks_.pe = host_place;
  marks_.stamp = a.clock;
  marks_.running = &a;
  marks_.enter(a.scope);
  std::exception_ptr problem;
  try {
    std::thread host([&] {
      running_marks = &marks_;
      try {
        f();
      } catch (...) {
        problem = std::current_exception();
      }
      running_marks = nullptr;
    });
    host.join();
  } catch (const std::system_error& e) {
    throw device_error(message("stream::call: the system gave no thread for the function (", e.what(),
                               "); end other threads of this process"));
  }
  if (problem) std::rethrow_exception(problem);
  made.changed = before.changes();
  made.changed.each([&](std::byte* start, std::size_t bytes) {
    if (memory_.covers(start)) memory_.give_value(start, bytes);
  });
  for (line* l : marks_.touched) made.accesses.push_back({l, l->read, l->written});
}

void schedule::repeat(const host_call& made) {
  made.changed.write();
  made.changed.each([&](std::byte* start, std::size_t bytes) {
    if (memory_.covers(start)) memory_.give_value(start, bytes);
  });
  for (const host_call::access& x : made.accesses) {
    x.at->read = x.read;
    x.at->written = x.written;
    x.at->initialised |= x.written;
    marks_.touched.push_back(x.at);
  }
}

}  // namespace starling::check
