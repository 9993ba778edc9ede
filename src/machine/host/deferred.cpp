#include "deferred.hpp"

#include <algorithm>
#include <new>

#include "host_stream.hpp"

namespace starling::host {

void deferred_work::add(host_stream& s) {
  const std::lock_guard lock(mutex_);
  streams_.push_back(&s);
}

void deferred_work::remove(host_stream& s) {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, &s);
}

void deferred_work::expect_launch(int blocks, bool resident) {
  const std::lock_guard lock(mutex_);
  most_blocks_ = std::max(most_blocks_, blocks);
  resident_ = resident_ || resident;
}

deferred_work::hold deferred_work::giving(std::shared_ptr<event_record> completes) {
  hold lock(mutex_);
  if (completes) records_.push_back(std::move(completes));
  return lock;
}

void deferred_work::free(local_heap& heap, std::byte* start) noexcept {
  const std::lock_guard lock(mutex_);
  const bool waiting =
      std::any_of(streams_.begin(), streams_.end(), [](host_stream* s) { return s->has_operations(); });
  if (!waiting) {
    (void)heap.free(start);
    return;
  }
  heap.retire(start);
  try {
    retired_.emplace_back(&heap, start);
  } catch (const std::bad_alloc&) {
    // The addresses stay taken.
  }
}

void deferred_work::drain() {
  // Goes when others may have their turn: what operations keep may end streams, which come here.
  std::vector<check::checker::stream_work> work;
  const std::lock_guard turn(turn_);
  int most_blocks = 0;
  bool resident = false;
  struct ending {
    std::vector<std::shared_ptr<event_record>> records;
    std::vector<std::pair<local_heap*, std::byte*>> retired;
    ~ending() {
      for (const auto& p : records) p->complete_now();
      for (const auto& [heap, start] : retired) (void)heap->free(start);
    }
  } at_end;
  {
    const std::lock_guard lock(mutex_);
    most_blocks = most_blocks_;
    resident = resident_;
    at_end.records.swap(records_);
    at_end.retired.swap(retired_);
    for (host_stream* s : streams_) {
      auto all = s->take_operations();
      if (!all.operations.empty()) work.push_back(std::move(all));
    }
  }
  if (work.empty()) return;
  checker_.run_streams(work, most_blocks, resident);
}

}  // namespace starling::host
