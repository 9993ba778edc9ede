#include "host_event.hpp"

#include "../check/schedule.hpp"
#include "deferred.hpp"
#include "host_call.hpp"
#include "starling/base/error.hpp"

namespace starling::host {

void point::reach() {
  if (check::schedule* s = check::schedule::running())
    s->reach(this);
  else
    reach_now();
}

void point::reach_now() {
  const std::lock_guard lock(mutex_);
  reached_ = true;
  when_ = clock::now();
  changed_.notify_all();
}

void point::wait() const {
  if (check::schedule* s = check::schedule::running()) {
    if (!reached()) s->await(this);
    return;
  }
  if (deferred_) deferred_->drain();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reached_; });
}

void point::look() const {
  constexpr int patience = 100;
  if (deferred_ && !reached() && ++looks_ > patience) deferred_->drain();
}

bool point::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

clock::time_point point::when() const {
  const std::lock_guard lock(mutex_);
  return when_;
}

bool host_event::done() const {
  const auto p = newest();
  if (p) p->look();
  return !p || p->reached();
}

void host_event::synchronize() const {
  expect_outside_of_host_call("event::synchronize");
  if (const auto p = newest()) p->wait();
}

double host_event::seconds_since(const event_backend& earlier) const {
  const auto from = static_cast<const host_event&>(earlier).newest();
  const auto to = newest();
  expect<argument_error>(from && to && from->reached() && to->reached(),
                         "event::seconds_between: both events must have been recorded and reached; synchronize first");
  return std::chrono::duration<double>(to->when() - from->when()).count();
}

std::shared_ptr<point> host_event::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void host_event::set_newest(std::shared_ptr<point> p) {
  const std::lock_guard lock(mutex_);
  newest_ = std::move(p);
}

}  // namespace starling::host
