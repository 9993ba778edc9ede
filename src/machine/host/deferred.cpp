#include "deferred.hpp"

#include <algorithm>

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

void deferred_work::expect_launch(int blocks) {
  const std::lock_guard lock(mutex_);
  most_blocks_ = std::max(most_blocks_, blocks);
}

void deferred_work::drain() {
  std::vector<check::checker::stream_work> work;
  int most_blocks = 0;
  {
    const std::lock_guard lock(mutex_);
    most_blocks = most_blocks_;
    for (host_stream* s : streams_) {
      auto operations = s->take_operations();
      if (!operations.empty()) work.push_back({s->pe(), std::move(operations)});
    }
  }
  if (work.empty()) return;
  for (const void* reached : checker_.run_streams(work, most_blocks))
    const_cast<point*>(static_cast<const point*>(reached))->reach_now();
}

}  // namespace starling::host
