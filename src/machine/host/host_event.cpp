#include "host_event.hpp"

#include "../check/schedule.hpp"
#include "deferred.hpp"
#include "host_call.hpp"
#include "starling/base/error.hpp"

namespace starling::host {

void event_record::complete() {
  if (check::schedule* s = check::schedule::running())
    s->record(this);
  else
    complete_now();
}

void event_record::complete_now() {
  const std::lock_guard lock(mutex_);
  completed_ = true;
  when_ = clock::now();
  changed_.notify_all();
}

void event_record::wait() const {
  if (check::schedule* s = check::schedule::running()) {
    if (!completed()) s->wait_event(this);
    return;
  }
  if (deferred_) deferred_->drain();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return completed_; });
}

void event_record::poll() const {
  constexpr int patience = 100;
  if (deferred_ && !completed() && ++polls_ > patience) deferred_->drain();
}

bool event_record::completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

clock::time_point event_record::when() const {
  const std::lock_guard lock(mutex_);
  return when_;
}

bool host_event::done() const {
  const auto p = newest();
  if (p) p->poll();
  return !p || p->completed();
}

void host_event::synchronize() const {
  expect_outside_of_host_call("event::synchronize");
  if (const auto p = newest()) p->wait();
}

double host_event::seconds_since(const event_backend& earlier) const {
  const auto from = static_cast<const host_event&>(earlier).newest();
  const auto to = newest();
  expect<argument_error>(from && to && from->completed() && to->completed(),
                         "event::seconds_between: both events must have been recorded and reached; synchronize first");
  return std::chrono::duration<double>(to->when() - from->when()).count();
}

std::shared_ptr<event_record> host_event::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void host_event::set_newest(std::shared_ptr<event_record> p) {
  const std::lock_guard lock(mutex_);
  newest_ = std::move(p);
}

}  // namespace starling::host
