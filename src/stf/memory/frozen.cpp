#include "starling/stf/frozen.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

struct frozen_instance::state {
  std::shared_ptr<context_state> context;
  std::shared_ptr<data_state> data;
  std::vector<std::shared_ptr<data_hold>> holds;  // of a copy on each device one for each, else one
  std::vector<stream> shown;                      // streams that use it

  void hold(access_mode mode, const data_place& where) {
    context->bring("freeze", *data, mode, where, [&](data_instance& i, sync_point_list& before) {
      auto h = std::make_shared<data_hold>(&i, mode, std::move(before), "is frozen",
                                           "call unfreeze(stream) of what freeze returned first");
      data->body.hold(h);
      holds.push_back(std::move(h));
    });
  }

  // That of the stream's device.
  const data_hold& of(const stream& user) const {
    if (holds.size() == 1) return *holds.front();
    const int pe = user.pe();
    expect<range_error>(pe >= 0 && pe < static_cast<int>(holds.size()), "stf: get for a stream of device ", pe,
                        ", and the context's machine has ", holds.size(), "; pass a stream of this machine");
    return *holds[static_cast<std::size_t>(pe)];
  }

  // Within a submission. `wrote`: the user may have.
  void end(std::vector<stream>& users, bool wrote) const {
    // A body of this thread may hold the data.
    std::unique_lock held(*data, std::defer_lock);
    if (!data->mine()) held.lock();
    sync_point_list user_work;
    for (stream& s : users) user_work.add(context->streams().after(s));
    for (const auto& h : holds) {
      sync_point_list over = h->before;
      over.add(user_work);
      const bool changed = wrote && writes(h->mode);
      coherence::release(data->body, *h->instance, changed, over);
      if (changed) {
        data->body.set_failed_by("");
        data->body.forget_users();
      }
      data->body.let_go(h);
    }
  }
  static void end_without_handle(std::unique_ptr<state> last);
};

frozen_instance::frozen_instance(std::shared_ptr<context_state> context, const data_access& access)
    : state_(std::make_unique<state>()) {
  expect<argument_error>(access.data != nullptr,
                         "context::freeze: logical data that is none; make it with context::logical_data");
  expect<argument_error>(access.data->context == context, "context::freeze: ", access.data->body.describe(),
                         " belongs to another context; contexts share no data");
  expect<argument_error>(access.ghosts == nullptr, "context::freeze: ", access.data->body.describe(),
                         " with its halo; freeze the part alone");
  state_->context = std::move(context);
  state_->data = access.data;
  std::vector<data_place> places{access.place};
  if (access.place.is_replicated() && access.mode == access_mode::read) {
    places.clear();
    for (int pe = 0; pe < state_->context->on().size(); ++pe) places.push_back(data_place::device(pe));
  }
  try {
    for (const data_place& place : places) state_->hold(access.mode, place);
  } catch (...) {
    state::end_without_handle(std::move(state_));
    throw;
  }
}

frozen_instance::frozen_instance(frozen_instance&&) noexcept = default;

frozen_instance& frozen_instance::operator=(frozen_instance&& other) noexcept {
  if (this == &other) return *this;
  if (state_) state::end_without_handle(std::move(state_));
  state_ = std::move(other.state_);
  return *this;
}

frozen_instance::~frozen_instance() {
  if (state_) state::end_without_handle(std::move(state_));
}

void frozen_instance::state::end_without_handle(std::unique_ptr<state> last) {
  const std::shared_ptr<state> s = std::move(last);
  const auto end = [s] { s->end(s->shown, !s->shown.empty()); };
  try {
    s->context->require_outside_scopes("the end of freeze");
    const auto inside = s->context->submit("the end of freeze");
    end();
  } catch (...) {
    s->context->try_later(end);
  }
}

frozen_instance::state& frozen_instance::open(const char* call) const {
  expect<argument_error>(state_ != nullptr, "stf: ", call,
                         " of what is frozen no more; call context::freeze again for the value of now");
  return *state_;
}

std::byte* frozen_instance::get(stream& user) {
  state& s = open("get");
  const data_hold& h = s.of(user);
  s.context->make_wait("get", user, h.before);
  if (std::none_of(s.shown.begin(), s.shown.end(), [&](const stream& x) { return &x.impl() == &user.impl(); }))
    s.shown.push_back(user);
  return h.instance->start;
}

void frozen_instance::unfreeze(stream& user) {
  state& s = open("unfreeze");
  s.context->require_outside_scopes("unfreeze");
  {
    const auto inside = s.context->submit("unfreeze");
    std::vector<stream> users{user};
    s.end(users, true);
  }
  state_.reset();
}

}  // namespace starling::stf
