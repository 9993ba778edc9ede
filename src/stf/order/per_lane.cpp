#include "starling/stf/per_lane.hpp"

#include "starling/base/error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

void* detail::lane_things::of(const stream& s) const {
  const auto found = all_.find(&s.impl());
  expect<argument_error>(found != all_.end(), "stf: per_lane has nothing for this stream, which is none that tasks on ",
                         "devices get from this context, or is for a higher priority than was asked for; ask in the "
                         "body of a task, for the stream that it gets, before the context ends");
  if (stream(s).keep_with_recording(nullptr)) recorded_ = true;
  return found->second.get();
}

bool context_state::take_recorded_things() {
  bool any = false;
  for (const auto& t : things_) any = t->take_recorded() || any;
  return any;
}

std::shared_ptr<const detail::lane_things> context_state::make_per_lane(
    int priority, const std::function<std::shared_ptr<void>(stream&)>& make) {
  require_outside_tasks("per_lane");
  expect<range_error>(priority >= 0 && priority <= highest_priority, "context::per_lane: things for tasks up to ",
                      "priority ", priority, "; must be from 0 to ", highest_priority);
  expect<argument_error>(!lanes_.user_recorded(),
                         "stf: per_lane in a context whose stream is being recorded, so that what is made would be "
                         "part of the recording; use a context of its own, or make the things yourself before");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: per_lane after the context was finalized; make a new context");
  end_epoch();
  const auto things = std::make_shared<detail::lane_things>();
  lanes_.for_each_of_tasks(priority, [&](stream& s) {
    things->add(s, make(s));
    s.synchronize();
  });
  things_.push_back(things);
  return things;
}

}  // namespace starling::stf
