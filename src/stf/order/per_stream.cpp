#include "starling/stf/per_stream.hpp"

#include "starling/base/error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

void* detail::per_stream_things::of(const stream& s) const {
  const auto found = all_.find(&s.impl());
  expect<argument_error>(found != all_.end(),
                         "stf: per_stream has nothing for this stream, which is none that tasks on ",
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

std::shared_ptr<const detail::per_stream_things> context_state::make_per_stream(
    int priority, const std::function<std::shared_ptr<void>(stream&)>& make) {
  require_outside_tasks("per_stream");
  expect<range_error>(priority >= 0 && priority <= highest_priority, "context::per_stream: things for tasks up to ",
                      "priority ", priority, "; must be from 0 to ", highest_priority);
  expect<argument_error>(!streams_.user_recorded(),
                         "stf: per_stream in a context whose stream is being recorded, so that what is made would be "
                         "part of the recording; use a context of its own, or make the things yourself before");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: per_stream after the context was finalized; make a new context");
  end_epoch();
  const auto things = std::make_shared<detail::per_stream_things>();
  streams_.for_each_of_tasks(priority, [&](stream& s) {
    things->add(s, make(s));
    s.synchronize();
  });
  things_.push_back(things);
  return things;
}

}  // namespace starling::stf
