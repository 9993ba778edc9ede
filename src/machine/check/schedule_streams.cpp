// The part of a schedule that is streams: their copies, launches and events.
#include <algorithm>
#include <cstring>

#include "schedule.hpp"

namespace starling::check {

// What happened before, with the block's own past.
snapshot* schedule::snapshot_of_all(scheduled_block& a) {
  snapshot* s = snapshots_.take(a.happened_before);
  const auto self = static_cast<std::size_t>(a.number);
  s->happened_before.clocks[self] = {a.clock, a.clock};
  ++a.clock;
  return s;
}

void schedule::acquire(scheduled_block& a, const snapshot& s) {
  a.happened_before.join(s.happened_before);
  snapshots_.drop(a.released);
}

void schedule::copy_rows(std::byte* dest, std::size_t dest_pitch, const std::byte* source, std::size_t source_pitch,
                         std::size_t row_bytes, std::size_t rows) {
  scheduled_block& a = *stream_;
  begin_call(a, {"copy", {"", 0}, any_pe, row_bytes * rows, nullptr, 0});
  const access who{a.number, a.clock, false, false};
  for (std::size_t i = 0; i < rows && row_bytes > 0; ++i) {
    std::byte* to = dest + i * dest_pitch;
    const std::byte* from = source + i * source_pitch;
    const bool on_device = memory_.covers(to);
    if (memory_.covers(from)) enter_bytes(from, row_bytes, who, false, a.happened_before);
    if (memory_.covers(from) && !on_device) check_host_reads(a, from, row_bytes);
    if (on_device) enter_bytes(to, row_bytes, who, true, a.happened_before);
    std::memmove(to, from, row_bytes);
    if (on_device) memory_.copy_values(to, memory_.covers(from) ? from : nullptr, row_bytes);
  }
  resume(a);
}

void schedule::check_host_reads(const scheduled_block& a, const std::byte* source, std::size_t bytes) {
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
  scheduled_block& a = *stream_;
  a.enter(scope);
  operation();
  a.enter(nullptr);
}

void schedule::record(const void* event) {
  scheduled_block& a = *stream_;
  begin_call(a, {"record", {"", 0}, any_pe, 0, nullptr, 0});
  recorded_events_[event] = snapshot_of_all(a);
  for (scheduled_block& other : work_.scheduled)
    if (other.awaited_event == event) make_ready(other);
  resume(a);
}

void schedule::wait_event(const void* event) {
  scheduled_block& a = *stream_;
  begin_call(a, {"wait for event", {"", 0}, any_pe, 0, nullptr, 0});
  a.awaited_event = event;
  while (!recorded_events_.contains(event)) sleep(a);
  a.awaited_event = nullptr;
  acquire(a, *recorded_events_[event]);
  resume(a);
}

void schedule::start_launched(scheduled_block& stream, scheduled_block& a,
                              const std::function<void(scheduled_block&, int)>& job, int block,
                              const snapshot& happened_before) {
  a.block = block;
  a.role_name = "launch";
  a.launched_by = &stream;
  a.job = [&a, &job, block] { job(a, block); };
  acquire(a, happened_before);
  a.enter(stream.scope);
  a.collectives = a.meetings = 0;
  a.now = scheduled_block::state::waiting;
  make_ready(a);
}

// Blocks of a plain launch need not be resident together: so many as the seed says are.
void schedule::launch(int blocks, bool all_resident, const std::function<void(scheduled_block&, int block)>& job) {
  scheduled_block& a = *stream_;
  begin_call(a, {"launch", {"", 0}, any_pe, 0, nullptr, 0});
  snapshot* happened_before = snapshot_of_all(a);
  const int resident = all_resident ? blocks : static_cast<int>(1 + random_.below(static_cast<std::size_t>(blocks)));
  const int number = all_resident ? collectives_.add_program() : 0;
  a.blocks_to_go = 0;
  int next = 0;
  while (next < blocks || a.blocks_to_go > 0) {
    for (scheduled_block& b : work_.scheduled) {
      if (next == blocks || a.blocks_to_go >= resident) break;
      if (b.what != scheduled_block::kind::launched || b.launched_from != a.number ||
          b.now != scheduled_block::state::finished)
        continue;
      ++a.blocks_to_go;
      b.program = number;
      start_launched(a, b, job, next++, *happened_before);
    }
    a.awaited_event = &a;
    sleep(a);
    a.awaited_event = nullptr;
  }
  snapshots_.drop(happened_before);
  resume(a);
}

// The end of a launch completes what its blocks have put.
void schedule::end_launched(scheduled_block& a) {
  if (a.launched_by == nullptr) return;  // by a block of a program: see serve_launches
  complete_all(a, any_context);
  snapshot* end = snapshot_of_all(a);
  scheduled_block& stream = *a.launched_by;
  acquire(stream, *end);
  snapshots_.drop(end);
  --stream.blocks_to_go;
  make_ready(stream);
}

}  // namespace starling::check
