// What happens when an exception unwinds past data of the user's memory and its context. That memory may go right after
// the last handle, before the context, so nothing is written into it any more, and the handle waits for what uses it.
#include <utility>

#include "context_state.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/detail/host_body.hpp"
#include "starling/stf/task_error.hpp"

namespace starling::stf {

void context_state::let_go(const data_body& body) {
  // A graph of the user's, or a body that is being recorded, has the memory for as long as it is launched; the epoch is
  // being ended by this thread.
  if (streams_.user_recorded() || scope() != nullptr || ending_ == std::this_thread::get_id()) return;
  sync_point_list uses;
  for (const data_instance* i : body.instances) {
    if (!i->users_memory) continue;
    uses.add(i->ready);
    uses.add(i->used);
  }
  try {
    host_body::expect_none("waiting for data");
    if (!submitters_.here()) {
      // All work, so that of data whose handle went before, too.
      const epoch_end alone(*this);
      end_epoch();
      streams_.wait_for_all();
      coherence_.reclaim(true);
    } else if (!recording_) {
      streams_.wait(uses);
    } else if (streams_.in_recording(uses)) {
      // The body that goes on is part of the recording, which cannot end here.
      given_up_ = message("stf: the epoch was given up: within the body of a task an exception took the memory of ",
                          body.describe(),
                          ", which other tasks of its graph use; what the epoch should have written "
                          "has no value. Make such data outside of the body, or use a stream_ctx");
    }
  } catch (...) {
    say_later(std::current_exception());
  }
}

void context_state::say_later(std::exception_ptr failure) {
  const std::lock_guard lock(failure_mutex_);
  if (!said_later_) said_later_ = std::move(failure);
}

void context_state::say_what_failed() {
  std::exception_ptr failure;
  {
    const std::lock_guard lock(failure_mutex_);
    failure = std::exchange(said_later_, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

void context_state::end_unwound() {
  if (finalized_.exchange(true)) return;
  if (recording_) streams_.abandon_recording();
  recording_ = false;
  streams_.resume();
  pending_.drop([](data_body&) { return true; });
  in_users_stream_ ? streams_.end_before_user() : streams_.wait_for_all();
  if (!in_users_stream_) coherence_.reclaim(true);
}

void context_state::give_up_epoch() {
  const std::string why = std::exchange(given_up_, {});
  const auto lose = [this](data_body& d) {
    bool lost = false;
    for (data_instance* i : d.instances) {
      if (d.what.bytes == 0 || !streams_.in_recording(i->ready)) continue;
      lost = lost || i->valid;
      i->valid = false;
      i->forget_ghosts();
    }
    for (const partial_result& a : d.sum().partials) lost = lost || streams_.in_recording(a.ready);
    if (lost) coherence_.drop_partials(d);
    if (lost && !d.has_value()) d.set_failed_by("of an epoch that was given up");
    return lost;
  };
  for (const auto& d : registry_.alive()) (void)lose(d->body);
  pending_.drop(lose);
  recording_ = false;
  streams_.abandon_recording();
  graphs_.copies_before = coherence_.statistics().copies;
  {
    const std::lock_guard lock(policy_mutex_);
    policy_.refuse(why);
  }
  throw task_error(why);
}

}  // namespace starling::stf
