// The part of a schedule that is time.
#include "schedule.hpp"

namespace starling::check {

// The next thing in time: what arrives, or a block's turn.
scheduled_block* schedule::choose_by_time() {
  while (!over_) {
    if (value_waits_ > 0) wake_values();
    scheduled_block* first = clock_->first_of(ready_);
    if (!network_.idle() && (first == nullptr || network_.next_arrival() <= clock_->of(*first))) {
      clock_->pass_to(network_.next_arrival());
      delivered(network_.deliver_next());
      continue;
    }
    if (first != nullptr) clock_->pass_to(clock_->of(*first));
    if (first != nullptr || timed_waits_ == 0 || !time_out()) return first;
  }
  return nullptr;
}

}  // namespace starling::check
