// Data that is used from outside of tasks: brought to a place, shown to a stream of the user.
#include "starling/base/error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

void context_state::bring(const char* who, data_state& d, access_mode mode, data_place where,
                          const std::function<void(data_instance&, sync_point_list&)>& use) {
  require_outside_scopes(who);
  where.check(machine_.size());
  expect<argument_error>(!where.is_replicated(), "stf: ", who, " of ", d.body.describe(), " to ", describe(where),
                         "; name one device, or the host");
  if (d.body.what.bytes == 0)
    where = data_place::host();
  else if (where.is_affine())
    where = data_place::device(0);
  const auto inside = submit(who);
  std::unique_lock held(d, std::defer_lock);
  data_instance* found = nullptr;
  sync_point_list before;
  coherence_.retry_when_full(
      [&] {
        held.lock();
        d.body.expect_usable(mode, who);
        before.clear();
        found = &coherence_.acquire(d.body, where, reads(mode), writes(mode), before);
      },
      [&] { held.unlock(); });
  if (!reads(mode)) coherence_.drop_partials(d.body);
  use(*found, before);
}

void context_state::make_wait(const char* who, stream& user, const sync_point_list& before) {
  if (streams_only()) {
    const auto inside = submit(who);
    return streams_.make_wait(user, before);
  }
  require_outside_tasks(who);
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: ", who, " after the context was finalized; make a new context");
  end_epoch();
  streams_.make_wait(user, before);
}

event context_state::fence_event() {
  require_outside_tasks("fence_event");
  expect<argument_error>(!in_users_stream_,
                         "stf: fence_event in a context within a user's stream; finalize the context, which its later "
                         "work comes after");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: fence_event after the context was finalized; make a new context");
  end_epoch();
  event all = machine_.new_event(0, event_use::ordering);
  streams_.gather().record(all);
  return all;
}

void context_state::try_later(std::function<void()> end) {
  if (finalized_) return;
  const std::lock_guard lock(ends_mutex_);
  ends_.push_back(std::move(end));
  any_ends_ = true;
}

void context_state::try_again() {
  std::vector<std::function<void()>> ends;
  {
    const std::lock_guard lock(ends_mutex_);
    ends.swap(ends_);
    any_ends_ = false;
  }
  for (auto& end : ends) {
    try {
      end();
    } catch (...) {
      try_later(std::move(end));
    }
  }
}

void context_state::expect_none_frozen() {
  for (const auto& d : registry_.alive())
    for (const auto& h : d->body.holds())
      expect<argument_error>(h->instance == nullptr || h->split, "stf: finalize while ", d->body.describe(), " ",
                             h->why, "; ", h->remedy);
}

void context_state::add_split(const std::shared_ptr<splitting>& s) {
  const std::lock_guard lock(splits_mutex_);
  std::erase_if(splits_, [](const auto& old) { return old.expired(); });
  splits_.push_back(s);
}

std::vector<std::shared_ptr<splitting>> context_state::open_splits() {
  const std::lock_guard lock(splits_mutex_);
  std::vector<std::shared_ptr<splitting>> open;
  for (auto i = splits_.rbegin(); i != splits_.rend(); ++i)
    if (auto s = i->lock()) open.push_back(std::move(s));
  return open;
}

}  // namespace starling::stf
