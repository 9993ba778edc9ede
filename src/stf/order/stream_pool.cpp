#include "stream_pool.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "starling/base/error.hpp"
#include "starling/stf/task_run.hpp"

namespace starling::stf {
namespace {

constexpr int with_priority = stream_pool::per_place + 3;  // the first of them
constexpr int slots_of_device = with_priority + highest_priority * stream_pool::per_priority;

}  // namespace

stream_pool::stream_pool(machine m)
    : machine_(std::move(m)),
      origin_(machine_.new_stream(0)),
      start_(machine_.new_event(0, event_use::ordering)),
      before_recording_(machine_.new_event(0, event_use::ordering)),
      beside_(static_cast<std::size_t>(machine_.size())),
      joined_(static_cast<std::size_t>(machine_.size() * slots_of_device + per_place + 1)) {
  // Device by device its slots for tasks, for copies to it, for copies from it, for the user's streams, for tasks of
  // each priority; then the host's for tasks, and one for copies.
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    const int place = static_cast<int>(i) / slots_of_device;
    const int behind = static_cast<int>(i) % slots_of_device - with_priority;
    slots_.push_back(std::make_unique<stream_slot>(machine_, place < machine_.size() ? place : 0,
                                                   static_cast<std::uint32_t>(i), joined_.size(), clock_,
                                                   behind < 0 ? 0 : 1 + behind / per_priority));
  }
}

void stream_pool::begin_after(const stream& user, bool recorded) {
  user_ = user;
  user_recorded_ = recorded;
  start_ = machine_.new_event(user.pe(), event_use::ordering);
}

void stream_pool::launch_after(const stream& user) { user_of_graphs_ = user; }

void stream_pool::wait_for_user_of_graphs() {
  if (!user_of_graphs_) return;
  event so_far = machine_.new_event(user_of_graphs_->pe(), event_use::ordering);
  user_of_graphs_->record(so_far);
  origin_.wait(so_far);
}

void stream_pool::begin_after_user_again() {
  ++gate_;
  user_waited_for_ = false;
}

void stream_pool::end_before_user() {
  if (user_of_graphs_) {
    end_ = machine_.new_event(0, event_use::ordering);
    gather().record(*end_);
    return user_of_graphs_->wait(*end_);
  }
  for (const auto& slot : slots_) {
    if (joined_[slot->id()] == 0) continue;
    slot->record();
    slot->make_wait(*user_, slot->newest());
  }
  if (user_recorded_) return;
  end_ = machine_.new_event(user_->pe(), event_use::ordering);
  user_->record(*end_);
}

void stream_pool::expect_still_recorded() {
  expect<argument_error>(!user_of_graphs_ || !user_of_graphs_->keep_with_recording(nullptr),
                         "stf: the stream of a graph_ctx is being recorded, and a graph cannot hold the launch of "
                         "another; take a stream_ctx, whose tasks become part of what is recorded");
  if (!user_ || (!user_recorded_ && user_waited_for_)) return;
  const bool recorded = user_->keep_with_recording(nullptr);
  expect<argument_error>(recorded || !user_recorded_,
                         "stf: the recording that the context is part of is over, and its tasks are lost; finalize the "
                         "context before the recording ends");
  expect<argument_error>(
      !recorded || user_recorded_,
      "stf: the stream of the context is being recorded, and was not when the context was made; make "
      "the context within the recording, or submit its tasks before or after");
}

void stream_pool::wait_for_end() {
  if (end_) end_->synchronize();
}

stream_slot& stream_pool::take(int pe, const sync_point_list& before, int priority) {
  const int place = pe == host_place ? machine_.size() : pe;
  const bool as_others = priority == 0 || pe == host_place;
  const auto first = static_cast<std::size_t>(place * slots_of_device +
                                              (as_others ? 0 : with_priority + (priority - 1) * per_priority));
  const auto count = static_cast<std::size_t>(as_others ? per_place : per_priority);
  const sync_point* newest = nullptr;
  for (const sync_point& m : before) {
    if (m.slot < first || m.slot >= first + count) continue;
    stream_slot& slot = *slots_[m.slot];
    if (slot.newest() == m.number && slot.try_take()) return slot;
    if (newest == nullptr || m.number > newest->number) newest = &m;
  }
  // When all slots have had work since, another one is no less busy than the one that needs no event.
  std::array<std::pair<std::uint64_t, stream_slot*>, per_place> by_age;
  for (std::size_t i = 0; i < count; ++i) by_age[i] = {slots_[first + i]->newest(), slots_[first + i].get()};
  std::sort(by_age.begin(), by_age.begin() + static_cast<std::ptrdiff_t>(count));
  stream_slot* chosen = nullptr;
  if (newest != nullptr && newest->number < by_age.front().first && slots_[newest->slot]->try_take())
    chosen = slots_[newest->slot].get();
  for (std::size_t i = 0; i < count && chosen == nullptr; ++i)
    if (by_age[i].second->try_take()) chosen = by_age[i].second;
  // All are being given work: then one is shared.
  if (chosen == nullptr) chosen = by_age.front().second;
  chosen->pin_newest();
  return *chosen;
}

void stream_pool::for_each_of_tasks(int priority, const std::function<void(stream&)>& f) {
  const int devices = machine_.size() * slots_of_device;
  for (int i = 0; i < devices; ++i) {
    const int of_device = i % slots_of_device;
    if (of_device < per_place || (of_device >= with_priority && of_device < with_priority + priority * per_priority))
      f(slots_[static_cast<std::size_t>(i)]->stream());
  }
}

stream_slot& stream_pool::for_copy(int from, int to) {
  const int place = to == host_place ? from : to;
  if (place == host_place) return *slots_.back();
  return *slots_[static_cast<std::size_t>(place * slots_of_device + per_place + (to == host_place ? 1 : 0))];
}

void stream_pool::join(stream_slot& slot) {
  std::atomic<std::uint64_t>& joined = joined_[slot.id()];
  if ((!gated_ && !user_) || joined.load(std::memory_order_acquire) == gate_) return;
  // Others who share the slot go on only when the wait is in it.
  const std::lock_guard lock(join_mutex_);
  if (joined.load(std::memory_order_relaxed) == gate_) return;
  if (user_ && !user_waited_for_) {
    user_->record(start_);
    user_waited_for_ = true;
  }
  slot.stream().wait(start_);
  joined.store(gate_, std::memory_order_release);
}

void stream_pool::order(stream_slot& later, const sync_point_list& before) {
  join(later);
  std::vector<std::uint64_t> over;  // one for all waits
  for (const sync_point& m : before) {
    stream_slot& earlier = *slots_[m.slot];
    if (m.slot == later.id() || m.number <= earlier.completed() || later.covers(m)) continue;
    earlier.make_wait(later.stream(), m.number, over);
    later.merge(over);
  }
}

void stream_pool::order_all(const sync_point_list& before) {
  for (const auto& slot : slots_)
    if (slot->used()) order(*slot, before);
}

void stream_pool::add_all(sync_point_list& to) const {
  for (const auto& slot : slots_)
    if (const std::uint64_t newest = slot->newest(); newest > slot->completed()) to.add({slot->id(), newest});
}

void stream_pool::make_wait(stream& user, const sync_point_list& before) {
  if (recorded_before_) {
    // Graphs go one after the other.
    event all = machine_.new_event(0, event_use::ordering);
    origin_.record(all);
    user.wait(all);
  }
  for (const sync_point& m : before) {
    stream_slot& slot = *slots_[m.slot];
    if (m.number > slot.completed()) slot.make_wait(user, m.number);
  }
}

sync_point_list stream_pool::after(stream& user) {
  expect<range_error>(user.pe() >= 0 && user.pe() < machine_.size(), "stf: a stream of device ", user.pe(),
                      ", and the context's machine has ", machine_.size(), "; pass a stream of this machine");
  event all = machine_.new_event(user.pe(), event_use::ordering);
  user.record(all);
  sync_point_list now;
  if (recording()) {
    users_.push_back(std::move(all));
  } else {
    stream_slot& slot = *slots_[static_cast<std::size_t>(user.pe() * slots_of_device + per_place + 2)];
    join(slot);
    slot.stream().wait(all);
    now.add(slot.record());
  }
  return now;
}

void stream_pool::wait_for_users() {
  for (const event& e : users_) origin_.wait(e);
  users_.clear();
}

void stream_pool::wait(const sync_point_list& before) {
  expect<argument_error>(!recording(),
                         "stf: the host waits for work that is being recorded; end the epoch with fence()");
  for (const sync_point& m : before) {
    stream_slot& slot = *slots_[m.slot];
    if (m.number > slot.completed()) slot.after(m.number).synchronize();
  }
  origin_.synchronize();
}

bool stream_pool::over(const sync_point_list& before) {
  // Of what is ordered by graphs it is not known.
  if (recorded_before_ || user_recorded_) return false;
  for (const sync_point& m : before) {
    stream_slot& slot = *slots_[m.slot];
    if (m.number > slot.completed() && !slot.after(m.number).done()) return false;
  }
  return true;
}

void stream_pool::wait_for_all() {
  std::exception_ptr first;
  const auto wait_for = [&first](auto& of) {
    try {
      of.synchronize();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  wait_for_users();
  wait_for(origin_);
  for (const auto& slot : slots_) wait_for(*slot);
  if (first) std::rethrow_exception(first);
  all_completed();
}

bool stream_pool::reset() noexcept {
  // Streams that are part of a recording are nobody else's.
  if (recording()) return false;
  try {
    wait_for_all();
    if (user_) start_ = machine_.new_event(0, event_use::ordering);
  } catch (...) {
    return false;
  }
  user_.reset();
  user_of_graphs_.reset();
  user_waited_for_ = false;
  end_.reset();
  recorded_before_ = gated_ = origin_ahead_ = false;
  ++gate_;
  for (std::atomic<std::uint64_t>& joined : joined_) joined = 0;
  return true;
}

void stream_pool::all_completed() {
  for (const auto& slot : slots_) slot->all_completed();
}

stream& stream_pool::gather() {
  for (const auto& slot : slots_)
    if (const std::uint64_t newest = slot->newest(); newest > slot->completed()) slot->make_wait(origin_, newest);
  return origin_;
}

void stream_pool::begin_recording() {
  gather();
  wait_for_user_of_graphs();
  all_completed();
  recorded_before_ = true;
  origin_.record(before_recording_);
  recording_.emplace(machine_.start_recording(origin_));
  gate();
}

bool stream_pool::in_recording(const sync_point_list& work) const {
  return recording_ && std::any_of(work.begin(), work.end(),
                                   [this](const sync_point& m) { return m.number > slots_[m.slot]->completed(); });
}

void stream_pool::gate() {
  origin_.record(start_);
  ++gate_;
  gated_ = true;
}

void stream_pool::resume() {
  if (origin_ahead_) gate();
  origin_ahead_ = false;
}

stream& stream_pool::beside_recording(int pe) {
  std::optional<beside>& b = beside_[static_cast<std::size_t>(pe == host_place ? 0 : pe)];
  const int device = pe == host_place ? 0 : pe;
  if (!b) b.emplace(beside{machine_.new_stream(device), machine_.new_event(device, event_use::ordering)});
  if (!b->used) b->work.wait(before_recording_);
  b->used = true;
  return b->work;
}

void stream_pool::wait_for_besides() {
  for (std::optional<beside>& b : beside_) {
    if (!b || !b->used) continue;
    b->work.record(b->over);
    origin_.wait(b->over);
    b->used = false;
  }
}

bool stream_pool::end_recording(std::optional<graph>& into) {
  for (const auto& slot : slots_) {
    if (joined_[slot->id()] != gate_) continue;
    slot->record();
    slot->make_wait(origin_, slot->newest());
  }
  all_completed();
  starling::recording done = std::move(*recording_);
  recording_.reset();
  gated_ = false;
  origin_ahead_ = true;
  const bool updated = into.has_value() && done.finish_into(*into);
  if (!into) into.emplace(done.finish());
  wait_for_besides();
  return updated;
}

void stream_pool::abandon_recording() {
  recording_.reset();
  gated_ = false;
  origin_ahead_ = true;
  wait_for_besides();
  all_completed();
}

void stream_pool::launch(const graph& g) {
  wait_for_users();
  wait_for_user_of_graphs();
  g.launch(origin_);
}

}  // namespace starling::stf
