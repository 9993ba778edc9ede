#include "lock_wait_graph.hpp"

#include "starling/base/error.hpp"
#include "stf/memory/data_state.hpp"

namespace starling::stf {

void lock_wait_graph::enter(const data_state& d) {
  const std::thread::id me = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  const data_state* at = &d;
  // An entry may be about to go, so that the way could lead round without this thread.
  for (std::size_t steps = 0; at != nullptr && steps <= waiting_.size(); ++steps) {
    const std::thread::id holder = at->holder();
    expect<argument_error>(
        holder != me, "stf: a task within the body of another waits for logical data ", d.body.id,
        ", which the body of a task on another thread holds, and that thread waits for data of the body around this "
        "one; submit tasks one after the other, not within bodies");
    const auto next = waiting_.find(holder);
    at = next == waiting_.end() ? nullptr : next->second;
  }
  waiting_[me] = &d;
}

void lock_wait_graph::leave() {
  const std::lock_guard lock(mutex_);
  waiting_.erase(std::this_thread::get_id());
}

}  // namespace starling::stf
