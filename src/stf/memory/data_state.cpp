#include "data_state.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

int pe_of(const data_place& place) { return place.is_managed() ? host_place : worked_on_by(place); }

int worked_on_by(const data_place& place) {
  if (place.is_host()) return host_place;
  return place.is_composite() ? place.grid().first() : place.pe();
}

std::string data_body::describe() const {
  if (!name().empty()) return "logical data '" + name() + "'";
  return message("logical data ", id,
                 what.made_at.line > 0 ? message(" (made at ", what.made_at.file, ":", what.made_at.line, ")") : "");
}

int data_body::valid_instances() const {
  return static_cast<int>(
      std::count_if(instances.begin(), instances.end(), [](const data_instance* i) { return i->valid; }));
}

bool data_body::held(const data_instance& i) const {
  return std::any_of(holds().begin(), holds().end(), [&](const auto& h) { return h->instance == &i; });
}

void data_body::expect_usable(access_mode mode, const std::string& who) const {
  for (const auto& h : holds())
    expect<argument_error>(!writes(mode) && !writes(h->mode), "stf: ", who, " cannot ", reads(mode) ? "use " : "write ",
                           describe(), ", which ", h->why, "; ", h->remedy);
  expect<task_error>(!reads(mode) || failed_by().empty(), "stf: ", who, " reads ", describe(),
                     ", which has no value: task '", failed_by(), "' threw instead of writing it");
}

bool data_body::in_users_memory() const {
  return std::any_of(instances.begin(), instances.end(), [](const auto& i) { return i->users_memory; });
}

bool data_body::to_be_written_back() const {
  const bool combined = sum().partials.empty();
  return writes_back && failed_by().empty() && has_value() &&
         std::any_of(instances.begin(), instances.end(),
                     [=](const auto& i) { return i->users_memory && (!i->valid || !combined); });
}

data_state::data_state(std::shared_ptr<context_state> c, data_description what) : context(std::move(c)) {
  body.id = context->new_data_number();
  // Nothing is a value too.
  const bool valid = !what.original.empty() || what.bytes == 0;
  bool packed = true;
  if (valid) {
    auto mine = std::make_unique<data_instance>();
    mine->place = what.original.empty() ? data_place::host() : what.original_place;
    mine->valid = true;
    if (!what.original.empty()) packed = take_users_memory(what, *mine);
    body.instances.add(std::move(mine));
  }
  body.what = data_layout(std::move(what), packed);
  if (valid) context->coherence().name_instances(body);
}

// Says whether tasks may have it as it is.
bool data_state::take_users_memory(const data_description& what, data_instance& mine) const {
  const memory_part& first = what.original.front();
  mine.start = first.start;
  mine.users_memory = true;
  // Instances with ghosts are laid out differently.
  mine.packed = what.original.size() == 1 && first.offset == 0 && what.ghosts_before + what.ghosts_after == 0 &&
                (first.rows == 1 || first.pitch == first.row_bytes) && first.rows * first.row_bytes == what.bytes;
  if (mine.packed && mine.place.is_host() && what.bytes > 0) {
    pinned_memory pin = context->on().pin(first.start, what.bytes);
    // Check mode knows no bounds in memory of the user's own: tasks of the host get copies.
    mine.packed = pin.held() && !context->on().checking();
    if (pin.owns()) mine.rare.change().pin = std::move(pin);
  }
  return mine.packed;
}

data_state::~data_state() { context->retire(this, std::move(body), std::uncaught_exceptions() > exceptions_); }

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
