// The part of a schedule that is streams: their copies, launches and events.
#include <algorithm>
#include <cstring>

#include "schedule.hpp"

namespace starling::check {

// What the actor has learnt, with its own past.
snapshot* schedule::everything_known(actor& a) {
  snapshot* s = snapshots_.take(a.known);
  const auto self = static_cast<std::size_t>(a.number);
  s->known.clocks[self] = {a.clock, a.clock};
  ++a.clock;
  return s;
}

void schedule::learn(actor& a, const snapshot& s) {
  a.known.join(s.known);
  snapshots_.drop(a.released);
}

void schedule::copy_rows(std::byte* dest, std::size_t dest_pitch, const std::byte* source, std::size_t source_pitch,
                         std::size_t row_bytes, std::size_t rows) {
  actor& a = *stream_;
  begin_call(a, {"copy", {"", 0}, any_pe, row_bytes * rows, nullptr, 0});
  const access who{a.number, a.clock, false, false};
  for (std::size_t i = 0; i < rows && row_bytes > 0; ++i) {
    std::byte* to = dest + i * dest_pitch;
    const std::byte* from = source + i * source_pitch;
    const bool on_device = memory_.covers(to);
    if (memory_.covers(from)) enter_bytes(from, row_bytes, who, false, a.known);
    if (memory_.covers(from) && !on_device) check_host_reads(a, from, row_bytes);
    if (on_device) enter_bytes(to, row_bytes, who, true, a.known);
    std::memmove(to, from, row_bytes);
    if (on_device) memory_.copy_values(to, memory_.covers(from) ? from : nullptr, row_bytes);
  }
  resume(a);
}

void schedule::check_host_reads(const actor& a, const std::byte* source, std::size_t bytes) {
  if (memory_.valued(source, bytes)) return;
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    lacking = memory_.valued(source + i, 1) ? 0 : lacking + 1;
    if (lacking == (lacking == i + 1 ? 1 : std::min(bytes, least_without_value)))
      fail({defect::uninitialised,
            host_reads_text(work_.memory, reinterpret_cast<std::uintptr_t>(source + i + 1) - lacking, lacking),
            {a.number}});
  }
}

void schedule::fill(std::byte* dest, unsigned char byte, std::size_t bytes) {
  const std::vector<std::byte> value(bytes, static_cast<std::byte>(byte));
  copy_rows(dest, bytes, value.data(), bytes, bytes, 1);
}

void schedule::within(const access_scope* scope, const std::function<void()>& operation) {
  actor& a = *stream_;
  a.enter(scope);
  operation();
  a.enter(nullptr);
}

void schedule::reach(const void* point) {
  actor& a = *stream_;
  begin_call(a, {"record", {"", 0}, any_pe, 0, nullptr, 0});
  points_[point] = everything_known(a);
  for (actor& other : work_.actors)
    if (other.point == point) make_ready(other);
  resume(a);
}

void schedule::await(const void* point) {
  actor& a = *stream_;
  begin_call(a, {"wait for event", {"", 0}, any_pe, 0, nullptr, 0});
  a.point = point;
  while (!points_.contains(point)) sleep(a);
  a.point = nullptr;
  learn(a, *points_[point]);
  resume(a);
}

void schedule::start_launched(actor& stream, actor& a, const std::function<void(actor&, int)>& job, int block,
                              const snapshot& known) {
  a.block = block;
  a.role_name = "launch";
  a.launched_by = &stream;
  a.job = [&a, &job, block] { job(a, block); };
  learn(a, known);
  a.enter(stream.scope);
  a.collectives = a.meetings = 0;
  a.now = actor::state::waiting;
  make_ready(a);
}

// Blocks of a plain launch need not be resident together: so many as the seed says are.
void schedule::launch(int blocks, bool all_resident, const std::function<void(actor&, int block)>& job) {
  actor& a = *stream_;
  begin_call(a, {"launch", {"", 0}, any_pe, 0, nullptr, 0});
  snapshot* known = everything_known(a);
  const int resident = all_resident ? blocks : static_cast<int>(1 + random_.below(static_cast<std::size_t>(blocks)));
  const int number = all_resident ? collectives_.add_program() : 0;
  a.blocks_to_go = 0;
  int next = 0;
  while (next < blocks || a.blocks_to_go > 0) {
    for (actor& b : work_.actors) {
      if (next == blocks || a.blocks_to_go >= resident) break;
      if (b.what != actor::kind::launched || b.launched_from != a.number || b.now != actor::state::finished) continue;
      ++a.blocks_to_go;
      b.program = number;
      start_launched(a, b, job, next++, *known);
    }
    a.point = &a;
    sleep(a);
    a.point = nullptr;
  }
  snapshots_.drop(known);
  resume(a);
}

// The end of a launch completes what its blocks have put.
void schedule::end_launched(actor& a) {
  if (a.launched_by == nullptr) return;  // by a block of a program: see serve_launches
  complete_all(a, any_context);
  snapshot* end = everything_known(a);
  actor& stream = *a.launched_by;
  learn(stream, *end);
  snapshots_.drop(end);
  --stream.blocks_to_go;
  make_ready(stream);
}

}  // namespace starling::check
