#include "task_run_state.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"

namespace starling::stf {
namespace {

void mix_into(std::uint64_t& hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
}

access_mode both(access_mode a, access_mode b) { return a == b ? a : access_mode::rw; }

// What a task says of its data is made only when it is wrong: the words for one access take longer than the rest of it.

[[noreturn]] void refuse_data(const std::string& task, const data_access& a) {
  throw argument_error(a.data == nullptr ? message("stf: ", describe_task(task),
                                                   " uses logical data that is none; make it with "
                                                   "context::logical_data")
                                         : message("stf: ", a.data->body.describe(),
                                                   " belongs to another context; contexts share no data"));
}

[[noreturn]] void refuse_replicated(const std::string& task, const data_access& a) {
  throw argument_error(message("stf: ", describe_task(task), " writes ", a.data->body.describe(), " on ",
                               describe(a.place), ", where each copy would have another value; only read() may be"));
}

[[noreturn]] void refuse_halo_place(const data_access& a, const data_place& place) {
  throw argument_error(message("stf: ", a.data->body.describe(), " with its halo on ", describe(place),
                               "; name one device as its place, or the host"));
}

void expect_same_use(const std::string& task, const data_access& a, const used_data& first, const data_place& place) {
  if (a.reduces || first.reduces)
    throw argument_error(message("stf: ", describe_task(task), " reduces into ", a.data->body.describe(),
                                 " and uses it otherwise too; name it once"));
  if (!(first.place == place))
    throw argument_error(message("stf: ", a.data->body.describe(), " is used twice by one task, on ",
                                 describe(first.place), " and on ", describe(place), "; one place is possible"));
}

// Of the memory that the task has of it.
template <class F>
void for_each_start(const used_data& u, const F& f) {
  if (u.copies.empty()) return f(u.reduces ? u.partial.start : u.instance->start);
  for (const data_instance* copy : u.copies) f(copy->start);
}

}  // namespace

std::string describe_task(const std::string& name) { return name.empty() ? "a task" : "task '" + name + "'"; }

data_place task_run::state::place_of(const data_access& a) const {
  const data_layout& what = a.data->body.what;
  const int n_pes = context->on().size();
  const bool replicated = a.place.is_replicated();
  if (replicated && (writes(a.mode) || a.reduces)) refuse_replicated(name, a);
  if (!a.place.is_affine() && !replicated) {
    a.place.check(n_pes);
    return a.place;
  }
  if (where.is_automatic() && what.bytes > 0) return data_place::affine();
  if (a.reduces && !where.is_host()) return data_place::device(pes.front());
  if (what.bytes == 0 || where.is_host()) return data_place::host();
  if (pes.size() == 1) return data_place::device(pes.front());
  if (replicated) return a.place;
  if (!what.partitionable()) return data_place::device(pes.front());
  return data_place::composite(blocked(), where);
}

void task_run::state::collect(const std::vector<data_access>& accesses) {
  used.reserve(accesses.size());
  of_access.reserve(accesses.size());
  for (const data_access& a : accesses) {
    if (a.data == nullptr || a.data->context != context) refuse_data(name, a);
    const data_place place = place_of(a);
    const auto same = std::find_if(used.begin(), used.end(), [&](const used_data& u) { return u.data == a.data; });
    of_access.push_back({static_cast<std::size_t>(same - used.begin()), a.ghosts});
    if (a.ghosts != nullptr && (place.is_composite() || place.is_replicated())) refuse_halo_place(a, place);
    if (same == used.end()) {
      used.push_back({a.data, a.mode, place, a.last_use, nullptr, {}, a.reduces, {}});
      continue;
    }
    expect_same_use(name, a, *same, place);
    same->mode = both(same->mode, a.mode);
    same->last_use = same->last_use && a.last_use;
  }
}

// In the order of their numbers, as all tasks do, so that none waits for another in a circle.
void task_run::state::lock_all() {
  std::vector<data_state*> all;
  all.reserve(used.size());
  for (const used_data& u : used) all.push_back(u.data.get());
  for_each_ghost([&](const std::shared_ptr<data_state>& d) { all.push_back(d.get()); });
  std::sort(all.begin(), all.end(), [](data_state* a, data_state* b) { return a->body.id < b->body.id; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  held.reserve(all.size());
  for (data_state* d : all) held.emplace_back(*d);
}

void task_run::state::begin() {
  for (const used_data& u : used)
    if (!u.data->body.free_to_use()) u.data->body.expect_usable(u.mode, describe_task(name));
  for_each_ghost([&](const std::shared_ptr<data_state>& d) {
    if (!d->body.free_to_use()) d->body.expect_usable(access_mode::read, describe_task(name));
  });
  task_scope* scope = context->scope();
  if (scope != nullptr) {
    for (const used_data& u : used) scope->enter(u.data);
    for_each_ghost([&](const std::shared_ptr<data_state>& d) { scope->enter(d); });
  }
  sync_point_list before;
  for (used_data& u : used) {
    if (u.reduces) {
      u.partial = context->coherence().new_partial(u.data->body, u.place, u.reduces, !reads(u.mode), u.partial_free);
      before.add(u.partial_free);
    } else if (u.place.is_replicated()) {
      u.copies.clear();
      for (const int pe : pes)
        u.copies.push_back(&context->coherence().acquire(u.data->body, data_place::device(pe), true, false, before));
      u.instance = u.copies.front();
    } else {
      u.instance = &context->coherence().acquire(u.data->body, u.place, reads(u.mode), writes(u.mode), before);
    }
  }
  for (const seen& a : of_access)
    if (a.ghosts) context->coherence().refresh(*a.ghosts, *used[a.which].instance, before);
  stream_pool& all = context->streams();
  for (const int pe : pes) {
    slots.push_back(&all.take(pe, before, priority));
    all.order(*slots.back(), before);
  }
  fill_partials();
  for (const used_data& u : used)
    if (!u.reduces && !reads(u.mode)) context->coherence().drop_partials(u.data->body);
  if (scheduled && scheduled->measure && !all.recording()) begun = context->scheduler().begin(slots.front()->stream());
}

// Says of the task what it uses, and where it goes; for a place that the context chooses, finds it.
void task_run::state::schedule(const task_description& what) {
  stf::scheduler& s = context->scheduler();
  const bool chooses = where.is_automatic();
  if (!chooses && (!s.active() || pes.size() != 1 || where.is_host())) return;
  std::vector<scheduled_access> uses;
  for (const used_data& u : used) {
    const bool follows = std::any_of(what.accesses.begin(), what.accesses.end(), [&](const data_access& a) {
      return a.data == u.data && (a.place.is_affine() || a.place.is_replicated());
    });
    uses.push_back({&u.data->body, reads(u.mode), writes(u.mode), follows});
  }
  scheduled = chooses ? s.choose(what, uses) : s.note(what, pes.front(), uses);
  if (!chooses) return;
  where = exec_place::device(scheduled->where.device);
  pes = {scheduled->where.device};
  used.clear();
  of_access.clear();
  collect(what.accesses);
}

void task_run::state::give_back_partials() noexcept {
  for (used_data& u : used) {
    if (u.partial.start != nullptr) context->coherence().give_back(u.partial, u.place, u.partial_free);
    u.partial = {};
    u.partial_free.clear();
  }
}

void task_run::state::fill_partials() {
  sync_point_list filled;
  for (const used_data& u : used) {
    if (!u.reduces) continue;
    u.reduces->fill(slots.front()->stream(), where.is_host(), u.partial.start, u.data->body.what.bytes);
    filled.add(slots.front()->record());
  }
  for (std::size_t i = 1; i < slots.size(); ++i) context->streams().order(*slots[i], filled);
}

// A graph cannot wait for memory as streams can. Where the context chose the graph, it goes on with streams.
void task_run::state::begin_or_stop_recording() {
  try {
    return begin();
  } catch (const memory_busy&) {
    throw;
  } catch (const memory_error& e) {
    if (!context->tries_graph()) throw;
    give_back_partials();
    held.clear();
    inside = submission();
    const bool again = context->go_on_with_streams(e.what());
    inside = context->submit(name);
    if (!again) throw;
  }
  lock_all();
  begin();
}

// What makes it another task than others, for epochs that are compared.
std::uint64_t task_run::state::signature(const task_description& what) const {
  std::uint64_t hash = std::hash<std::string>()(name);
  mix_into(hash, reinterpret_cast<std::uintptr_t>(what.kind));
  mix_into(hash, static_cast<std::uint64_t>(what.priority));
  for (const int pe : pes) mix_into(hash, static_cast<std::uint64_t>(pe + 2));
  for (const used_data& u : used) {
    mix_into(hash, u.data->body.what.bytes);
    mix_into(hash, static_cast<std::uint64_t>(u.mode));
    mix_into(hash, std::hash<std::string>()(u.place.is_composite() ? "composite" : describe(u.place)));
  }
  return hash;
}

void task_run::state::draw(std::uint64_t number) {
  task_graph* drawing = context->drawing();
  if (drawing == nullptr) return;
  const bool chosen = scheduled && scheduled->where.why != placement_reason::given;
  drawing->add_task(number, name,
                    describe(where) + (chosen ? message(", automatic: ", stf::name(scheduled->where.why)) : ""));
  const auto after = [&](const data_body& d, const std::vector<std::uint64_t>& earlier) {
    const std::string label = d.name().empty() ? "data " + std::to_string(d.id) : d.name();
    for (const std::uint64_t e : earlier) drawing->add_edge(e, number, label);
  };
  const auto add = [&](data_body& d, bool alone, bool reduces, bool starts_over) {
    if (reduces && starts_over) d.forget_users();
    data_body::drawn_users& users = d.rare.change().drawn;
    if (reduces) {
      // It waits for nobody; who comes next waits for it too.
      if (!users.reducers) users.writers.insert(users.writers.end(), users.readers.begin(), users.readers.end());
      if (!users.reducers) users.readers.clear();
      users.reducers = true;
      users.writers.push_back(number);
      return;
    }
    after(d, alone && !users.readers.empty() ? users.readers : users.writers);
    if (!alone) return users.readers.push_back(number);
    users = {{number}, {}, false};
  };
  for (const used_data& u : used) add(u.data->body, writes(u.mode), u.reduces != nullptr, !reads(u.mode));
  for_each_ghost([&](const std::shared_ptr<data_state>& d) {
    if (std::none_of(used.begin(), used.end(), [&](const used_data& u) { return u.data == d; }))
      add(d->body, false, false, false);
  });
}

std::vector<declared_range> task_run::state::declared_ranges() const {
  std::vector<declared_range> all;
  for (const used_data& u : used) {
    const data_body& d = u.data->body;
    if (d.what.bytes == 0) continue;
    for_each_start(u, [&](std::byte* start) { all.push_back({start, d.what.bytes, writes(u.mode), d.describe()}); });
  }
  // Rows around a part are read with it, in one piece.
  for (const seen& a : of_access) {
    if (!a.ghosts) continue;
    const data_body& d = used[a.which].data->body;
    all.push_back({used[a.which].instance->start - d.what.ghosts_before(),
                   d.what.ghosts_before() + d.what.bytes + d.what.ghosts_after(), false,
                   d.describe() + " with its halo"});
  }
  for (const auto& [place, block] : scratch)
    all.push_back({block.start, block.bytes, true, "scratch memory of the task"});
  for (const temporary& t : temporaries)
    all.push_back({t.block.start, t.block.bytes, true, "temporary memory of the task"});
  return all;
}

void task_run::state::declare() {
  may_touch = declare_accesses(context->on(), shown, at, declared_ranges());
  scoped.clear();
  for (stream_slot* slot : slots) scoped.emplace_back(slot->stream(), may_touch);
}

void task_run::state::refuse_operation(const std::string& why) const {
  throw task_error(message("stf: ", describe_task(name), " is ", why,
                           ", which a persistent program cannot do; use a stream_ctx or a graph_ctx for this loop, or "
                           "context::record"));
}

void task_run::state::note_accesses() {
  std::vector<operation_access> all;
  for (const used_data& u : used) {
    const std::size_t bytes = u.data->body.what.bytes;
    // Data without bytes orders tasks all the same: its own address stands for it.
    if (bytes == 0)
      all.push_back({reinterpret_cast<const std::byte*>(u.data.get()), 1, writes(u.mode), true});
    else
      for_each_start(u, [&](std::byte* start) { all.push_back({start, bytes, writes(u.mode)}); });
  }
  for (const seen& a : of_access) {
    if (!a.ghosts) continue;
    const data_instance& i = *used[a.which].instance;
    const data_layout& what = used[a.which].data->body.what;
    all.push_back({i.start - what.ghosts_before(), what.ghosts_before(), false});
    all.push_back({i.start + what.bytes, what.ghosts_after(), false});
  }
  for (const auto& [place, block] : scratch) all.push_back({block.start, block.bytes, true});
  for (const temporary& t : temporaries) all.push_back({t.block.start, t.block.bytes, true});
  for (std::size_t i = first_operation; i < operations->operations.size(); ++i)
    operations->operations[i].accesses = all;
}

void task_run::state::end(bool good) {
  scoped.clear();
  if (operations != nullptr) note_accesses();
  if (begun && good) context->scheduler().end(slots.front()->stream(), std::move(*begun), *scheduled);
  sync_point_list end;
  for (stream_slot* slot : slots) end.add(slot->record());
  for (const auto& [which, block] : scratch) context->coherence().keep_scratch(*slots[which], block, good);
  for (used_data& u : used) {
    data_body& d = u.data->body;
    if (u.reduces)
      context->coherence().add(d, {u.place, std::exchange(u.partial, {}), end}, u.reduces, !reads(u.mode), good);
    else if (u.copies.empty())
      coherence::release(d, *u.instance, writes(u.mode), end);
    for (data_instance* copy : u.copies) {
      coherence::release(d, *copy, false, end);
      if (u.last_use) copy->last_use = 0;
    }
    if (u.last_use && u.instance != nullptr) u.instance->last_use = 0;
    if (writes(u.mode)) d.set_failed_by(good ? "" : name.empty() ? "without a name" : name);
  }
  for (const seen& a : of_access)
    if (a.ghosts) used[a.which].instance->ghosts().used.add(end);
  for (const temporary& t : temporaries) context->coherence().give_back(t.block, t.where, end);
  held.clear();
  if (!good && context->tries_graph()) context->refuse_graph(describe_task(name) + " threw while it was recorded");
}

}  // namespace starling::stf
