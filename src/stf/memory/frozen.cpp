#include "starling/stf/frozen.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

struct frozen_instance::state {
  std::shared_ptr<context_state> context;
  std::shared_ptr<data_state> data;
  std::shared_ptr<data_hold> hold;
  std::vector<stream> shown;  // streams that use it

  // Within a submission. `wrote`: the user may have.
  void end(std::vector<stream>& users, bool wrote) const {
    // A body of this thread may hold the data.
    std::unique_lock held(*data, std::defer_lock);
    if (!data->mine()) held.lock();
    moment_list over = hold->before;
    for (stream& s : users) over.add(context->lanes().after(s));
    wrote = wrote && writes(hold->mode);
    coherence::release(data->body, *hold->instance, wrote, over);
    if (wrote) {
      data->body.set_failed_by("");
      data->body.forget_users();
    }
    data->body.let_go(hold);
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
  state_->context->bring("freeze", *access.data, access.mode, access.place, [&](data_instance& i, moment_list& before) {
    auto h = std::make_shared<data_hold>(&i, access.mode, std::move(before), "is frozen",
                                         "call unfreeze(stream) of what freeze returned first");
    access.data->body.hold(h);
    state_->hold = std::move(h);
  });
}

frozen_instance::frozen_instance(frozen_instance&&) noexcept = default;

frozen_instance& frozen_instance::operator=(frozen_instance&& other) noexcept {
  if (this == &other) return *this;
  if (state_ && state_->hold) state::end_without_handle(std::move(state_));
  state_ = std::move(other.state_);
  return *this;
}

frozen_instance::~frozen_instance() {
  if (state_ && state_->hold) state::end_without_handle(std::move(state_));
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
  s.context->hold_back("get", user, s.hold->before);
  if (std::none_of(s.shown.begin(), s.shown.end(), [&](const stream& x) { return &x.impl() == &user.impl(); }))
    s.shown.push_back(user);
  return s.hold->instance->start;
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
