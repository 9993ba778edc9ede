#include "data_state.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

int pe_of(const data_place& place) {
  if (place.is_host()) return host_place;
  return place.is_composite() ? place.grid().first() : place.pe();
}

std::string data_body::describe() const {
  if (!name.empty()) return "logical data '" + name.str() + "'";
  return message("logical data ", id,
                 what.made_at.line > 0 ? message(" (made at ", what.made_at.file, ":", what.made_at.line, ")") : "");
}

int data_body::valid_instances() const {
  return static_cast<int>(std::count_if(instances.begin(), instances.end(), [](const auto& i) { return i->valid; }));
}

bool data_body::held(const data_instance& i) const {
  return std::any_of(holds.begin(), holds.end(), [&](const auto& h) { return h->instance == &i; });
}

void data_body::expect_usable(access_mode mode, const std::string& who) const {
  for (const auto& h : holds)
    expect<argument_error>(!writes(mode) && !writes(h->mode), "stf: ", who, " cannot ", reads(mode) ? "use " : "write ",
                           describe(), ", which ", h->why, "; ", h->remedy);
  expect<task_error>(!reads(mode) || failed_by.empty(), "stf: ", who, " reads ", describe(),
                     ", which has no value: task '", failed_by, "' threw instead of writing it");
}

bool data_body::in_users_memory() const {
  return std::any_of(instances.begin(), instances.end(), [](const auto& i) { return i->users_memory; });
}

bool data_body::to_be_written_back() const {
  const bool combined = addends.empty();
  return writes_back && failed_by.empty() && has_value() &&
         std::any_of(instances.begin(), instances.end(),
                     [=](const auto& i) { return i->users_memory && (!i->valid || !combined); });
}

data_state::data_state(std::shared_ptr<context_state> c, data_description w) : context(std::move(c)) {
  body.id = context->new_data_number();
  body.what = std::move(w);
  auto users = std::make_unique<data_instance>();
  if (body.what.original.empty()) {
    if (body.what.bytes > 0) return;
    // Nothing is a value too.
    users->place = data_place::host();
    users->valid = true;
    body.instances.push_back(std::move(users));
    return;
  }
  const memory_part& first = body.what.original.front();
  users->place = body.what.original_place;
  users->start = first.start;
  users->users_memory = true;
  users->valid = true;
  // Instances with ghosts are laid out differently.
  users->packed =
      body.what.original.size() == 1 && first.offset == 0 && body.what.ghosts_before + body.what.ghosts_after == 0 &&
      (first.rows == 1 || first.pitch == first.row_bytes) && first.rows * first.row_bytes == body.what.bytes;
  if (users->packed && users->place.is_host() && body.what.bytes > 0) {
    users->pin = context->on().pin(first.start, body.what.bytes);
    // Check mode knows no bounds in memory of the user's own: tasks of the host get copies.
    users->packed = users->pin.held() && !context->on().checking();
  }
  body.instances.push_back(std::move(users));
  context->coherence().name_instances(body);
}

data_state::~data_state() { context->bury(this, std::move(body), std::uncaught_exceptions() > exceptions_); }

void data_state::refuse_second_task() const {
  throw argument_error(message("stf: a task that uses ", body.describe(),
                               " was submitted from within the body of one that holds it; submit it afterwards, or "
                               "give the body a context of its own"));
}

void data_state::lock() {
  if (mine()) refuse_second_task();
  if (held_.exchange(true)) {
    data_locks::one& place = context->data_locks_of(body.id);
    std::unique_lock inside(place.mutex);
    context->waits().enter(*this);
    const auto patience = context->coherence().patience();
    ++waiting_;
    const bool mine_now = place.freed.wait_for(inside, patience, [this] { return !held_.exchange(true); });
    --waiting_;
    context->waits().leave();
    expect<task_error>(mine_now, "stf: logical data ", body.id, " was held by another thread for ", patience.count(),
                       " s (STARLING_DEADLINE), in the body of a task; a body must not take that long");
  }
  holder_ = std::this_thread::get_id();
}

bool data_state::try_lock() {
  if (mine() || held_.exchange(true)) return false;
  holder_ = std::this_thread::get_id();
  return true;
}

void data_state::unlock() {
  holder_ = std::thread::id();
  held_ = false;
  if (waiting_ == 0) return;
  data_locks::one& place = context->data_locks_of(body.id);
  const std::lock_guard inside(place.mutex);
  place.freed.notify_all();
}

}  // namespace starling::stf
