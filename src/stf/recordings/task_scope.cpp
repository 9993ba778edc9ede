#include "task_scope.hpp"

#include <algorithm>
#include <numeric>

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

task_scope::task_scope(std::shared_ptr<context_state> context, std::uint64_t newest_data)
    : context_(std::move(context)), newest_data_(newest_data) {}

task_scope::~task_scope() {
  for (const auto& h : holds_) --*h;
  context_->coherence().give_back(held_, newest_launch_);
}

void task_scope::enter(const std::shared_ptr<data_state>& d) {
  data_body& body = d->body;
  if (made(body.id) || body.in_scope() != nullptr) return;
  auto e = std::make_unique<scope_entry>();
  e->data = d;
  e->had_value = body.failed_by().empty() && body.has_value();
  e->failed_before = body.failed_by();
  std::swap(e->pending_before, body.rare.change().sum);
  for (data_instance* i : body.instances) {
    e->valid_before.emplace_back(i, i->valid);
    i->valid = false;
    i->forget_ghosts();
  }
  body.rare.change().in_scope = e.get();
  entries_.push_back(std::move(e));
}

void task_scope::enter(const std::shared_ptr<rotation>& r) {
  auto mine = std::find_if(turns_.begin(), turns_.end(), [&](const turn& t) { return t.of == r; });
  if (mine == turns_.end()) mine = turns_.insert(mine, {r, r->next(), 0});
  ++mine->taken;
}

// Data that the scope has made and that outlives it: each launch gives it its value.
void task_scope::enter_made(const std::shared_ptr<data_state>& d) {
  data_body& body = d->body;
  auto e = std::make_unique<scope_entry>();
  e->data = d;
  e->written = true;
  for (data_instance* i : body.instances) {
    e->valid_before.emplace_back(i, i->users_memory || body.what.bytes == 0);
    e->used.push_back(i);
  }
  body.rare.change().in_scope = e.get();
  entries_.push_back(std::move(e));
}

void task_scope::close(coherence& c, const data_registry& all) {
  for (const auto& d : all.alive())
    if (made(d->body.id)) enter_made(d);
  for (const auto& e : entries_) {
    data_body& d = e->data->body;
    c.combine_partials(d);
    expect<task_error>(!e->written || d.failed_by().empty(), "context::record: task '", d.failed_by(),
                       "' threw instead of writing ", d.describe(), ", so that its tasks cannot be launched");
    for (data_instance* i : d.instances)
      expect<argument_error>(
          !made(d.id) || !i->users_memory, "context::record: ", d.describe(),
          " of the user's memory was made by the body and is still there, so that a second launch "
          "would find another value; make it before, or let its last handle go in the body, before loops and branches "
          "within it");
    if (!e->written) continue;
    for (data_instance* i : e->needed)
      if (!i->valid) c.refresh(d, *i);
    for (data_instance* i : d.instances)
      if (i->valid) e->valid_after.push_back(i);
  }
}

void task_scope::leave(std::optional<graph> recorded, const data_registry& all) {
  if (!recorded)
    for (const auto& d : all.alive())
      if (made(d->body.id) && d->body.in_scope() == nullptr) enter_made(d);
  for (const auto& e : entries_) {
    data_body& d = e->data->body;
    context_->coherence().drop_partials(d);
    std::swap(e->pending_before, d.rare.change().sum);
    for (data_instance* i : d.instances) {
      i->valid = false;
      // All work from before is over when anything that comes begins.
      i->ready.clear();
      i->used.clear();
      i->forget_ghosts({});
    }
    for (const auto& [i, valid] : e->valid_before) i->valid = valid;
    d.set_failed_by(e->failed_before);
    d.rare.change().in_scope = nullptr;
    if (!recorded) continue;
    for (data_instance* i : e->used) {
      holds_.push_back(i->count_of_holds());
      ++*holds_.back();
    }
  }
  set_turns(0);
  graph_ = std::move(recorded);
  if (!graph_) entries_.clear();
}

const data_instance* task_scope::result(const data_state& d) const {
  for (const auto& e : entries_) {
    if (e->data.get() != &d || !e->written) continue;
    for (const data_instance* i : e->valid_after)
      if (!i->place.is_host()) return i;
    return e->valid_after.empty() ? nullptr : e->valid_after.front();
  }
  return nullptr;
}

std::uint64_t task_scope::launches_a_round() const {
  std::uint64_t all = 1;
  for (const turn& t : turns_) {
    const auto places = static_cast<std::uint64_t>(t.of->places());
    all = std::lcm(all, places / std::gcd(places, t.taken));
  }
  return all;
}

void task_scope::set_turns(std::uint64_t launches) const {
  for (const turn& t : turns_) {
    const std::uint64_t next = static_cast<std::uint64_t>(t.first) + launches * t.taken;
    t.of->go_to(static_cast<int>(next % static_cast<std::uint64_t>(t.of->places())));
  }
}

void task_scope::check_turns(std::uint64_t times) const {
  for (const turn& t : turns_) {
    const auto places = static_cast<std::uint64_t>(t.of->places());
    const bool again = times == 1 || t.taken % places == 0;
    const std::uint64_t now =
        again ? static_cast<std::uint64_t>(t.of->next()) : (static_cast<std::uint64_t>(t.first) + t.taken) % places;
    expect<task_error>(now == static_cast<std::uint64_t>(t.first), "recorded_tasks::launch: the tasks begin with ",
                       t.of->what(), " ", t.first, ", as when they were recorded, and ", now,
                       again ? " is next" : " comes after them", "; record tasks that use all ", places,
                       " in turn, or use context::repeat");
  }
}

sync_point_list task_scope::prepare() {
  sync_point_list before;
  for (const auto& e : entries_) {
    data_body& d = e->data->body;
    const access_mode mode = !e->written ? access_mode::read : e->needed.empty() ? access_mode::write : access_mode::rw;
    d.expect_usable(mode, "recorded_tasks::launch");
    // What tasks have added since is part of the value, or lost when the tasks write another.
    if (reads(mode) && !d.sum().partials.empty() && !e->used.empty())
      (void)context_->coherence().acquire(d, e->used.front()->place, true, true, before);
    for (const data_instance* i : e->needed) (void)context_->coherence().acquire(d, i->place, true, e->written, before);
  }
  // Making room may have used other instances of these.
  for (const auto& e : entries_) {
    for (const data_instance* i : e->used) {
      before.add(i->ready);
      if (e->written) before.add(i->used);
      i->add_ghost_uses(before);
    }
  }
  return before;
}

void task_scope::launch(const graph& what, std::uint64_t times) {
  check_turns(times);
  stream_pool& streams = context_->streams();
  sync_point_list before = prepare();
  if (alone_) streams.add_all(before);
  stream_slot& slot = streams.take(0, before);
  struct leaving {
    stream_slot& of;
    ~leaving() { of.leave(); }
  } at_end{slot};
  streams.order(slot, before);
  for (std::uint64_t i = 0; i < times; ++i) what.launch(slot.stream());
  set_turns(times);
  newest_launch_.clear();
  newest_launch_.add(slot.record());
  if (alone_) streams.order_all(newest_launch_);
  set_results("");
}

void task_scope::run(const std::function<void(bool& begun)>& program) {
  // Work from before the recording, whose memory the tasks may have now, is waited for too.
  context_->streams().wait(prepare());
  newest_launch_.clear();
  bool begun = false;
  try {
    program(begun);
  } catch (...) {
    if (begun) set_results("the loop of repeat");
    throw;
  }
  set_results("");
}

void task_scope::set_results(const std::string& failed_by) {
  for (const auto& e : entries_) {
    data_body& d = e->data->body;
    for (data_instance* i : e->used) i->forget_ghosts(newest_launch_);
    if (!e->written) {
      for (data_instance* i : e->used) i->used.add(newest_launch_);
      continue;
    }
    context_->coherence().drop_partials(d);
    for (data_instance* i : d.instances) i->valid = false;
    for (data_instance* i : e->valid_after) i->valid = true;
    for (data_instance* i : e->used) {
      i->ready = newest_launch_;
      i->used.clear();
    }
    d.set_failed_by(failed_by);
    ++d.version;
    d.forget_users();
  }
}

}  // namespace starling::stf
