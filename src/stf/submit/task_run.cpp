#include "starling/stf/task_run.hpp"

#include <algorithm>
#include <utility>

#include "starling/base/error.hpp"
#include "starling/stf/parallel_for.hpp"
#include "starling/stf/task_error.hpp"
#include "task_run_state.hpp"

namespace starling::stf {

void expect_data_on_host(const task_description& what) {
  for (const data_access& a : what.accesses)
    expect<argument_error>(a.place.is_affine() || a.place.is_host() || a.place.is_managed() || a.place.is_replicated(),
                           "stf: ", describe_task(what.name), " runs on the host, which cannot reach data on ",
                           describe(a.place), "; leave the place out, or use context::task and copy");
}

int detail::places_of(context_state& context, const exec_place& grid) {
  return static_cast<int>(grid.devices(context.on().size()).size());
}

task_run::task_run(const std::shared_ptr<context_state>& context, const task_description& what)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.context = context;
  s.where = what.place;
  s.name = what.name;
  s.priority = what.priority;
  expect<range_error>(what.priority >= 0 && what.priority <= highest_priority, "stf: ", describe_task(what.name),
                      " with priority ", what.priority, "; must be from 0, as others have it, to ", highest_priority);
  if (s.where.is_host())
    s.pes = {host_place};
  else if (!s.where.is_automatic())
    s.pes = s.where.devices(context->on().size());
  s.inside = context->submit(what.name);
  s.operations = context->operations();
  if (s.operations != nullptr && !what.as_operations)
    s.refuse_operation(s.where.is_host() ? "work of the host" : "a body that puts work into streams");
  s.collect(what.accesses);
  if (s.operations != nullptr &&
      std::any_of(s.used.begin(), s.used.end(), [](const used_data& u) { return u.reduces; }))
    s.refuse_operation("a reduction into data that other tasks may reduce into");
  context->coherence().retry_when_full(
      [&] {
        s.lock_all();
        if (!s.scheduled) s.schedule(what);
        s.begin_or_stop_recording();
      },
      [&s] {
        s.give_back_partials();
        s.held.clear();
      });
  if (context->options().backend == backend_kind::automatic) context->add_to_epoch(s.signature(what));
  const std::uint64_t number = context->new_task();
  s.draw(number);
  if (context->on().checking()) {
    s.shown = what.name.empty() ? message("task ", number) : describe_task(what.name);
    if (!what.accesses.empty()) s.at = what.accesses.front().at;
    s.declare();
  }
  if (s.operations == nullptr) return;
  ++s.operations->tasks;
  s.first_operation = s.operations->operations.size();
  s.newest_operations.resize(s.pes.size());
}

task_run::task_run(task_run&&) noexcept = default;
task_run& task_run::operator=(task_run&& other) noexcept {
  if (this == &other) return *this;
  if (state_) fail();
  state_ = std::move(other.state_);
  return *this;
}

task_run::~task_run() {
  if (state_) fail();
}

task_run::state& task_run::open() const {
  expect<argument_error>(state_ != nullptr, "stf: a call of a task that has finished or failed");
  return *state_;
}

int task_run::places() const { return static_cast<int>(open().pes.size()); }

int task_run::pe(int place) const {
  expect<range_error>(place >= 0 && place < places(), "stf: place ", place, " of a task on ", places());
  return open().pes[static_cast<std::size_t>(place)];
}

stream& task_run::stream(int place) {
  (void)pe(place);
  return open().slots[static_cast<std::size_t>(place)]->stream();
}

std::byte* task_run::memory(std::size_t which, int place) const {
  expect<range_error>(which < open().of_access.size(), "stf: dependency ", which, " of a task with ",
                      open().of_access.size());
  const state::seen& a = open().of_access[which];
  const used_data& u = open().used[a.which];
  (void)pe(place);
  if (!u.copies.empty()) return u.copies[static_cast<std::size_t>(place)]->start;
  return u.reduces ? u.partial.start : u.instance->start - (a.ghosts ? a.ghosts->before : 0);
}

const exec_place& task_run::where() const { return open().where; }
const machine& task_run::on() const { return open().context->on(); }

std::byte* task_run::scratch(int place, std::size_t bytes) {
  (void)pe(place);
  state& s = open();
  const auto which = static_cast<std::size_t>(place);
  for (const auto& [of, block] : s.scratch)
    if (of == which && block.bytes >= bytes) return block.start;
  s.scratch.emplace_back(which, s.context->coherence().take_scratch(*s.slots[which], bytes));
  if (s.may_touch) s.declare();
  return s.scratch.back().second.start;
}

std::byte* task_run::temporary(int place, std::size_t bytes) {
  sync_point_list before;
  state& s = open();
  const data_place where = s.where.is_host() ? data_place::host() : data_place::device(pe(place));
  s.temporaries.push_back({where, s.context->coherence().borrow(bytes, where, before)});
  for (stream_slot* slot : s.slots) s.context->streams().order(*slot, before);
  if (s.may_touch) s.declare();
  return s.temporaries.back().block.start;
}

int task_run::take(const std::shared_ptr<rotation>& r) {
  if (task_scope* scope = open().context->scope()) scope->enter(r);
  return r->take();
}

bool task_run::noted() const { return open().operations != nullptr; }

void task_run::refuse_operation(const std::string& why) const { open().refuse_operation(why); }

void task_run::note(int place, int blocks, erased_kernel code, const launch_options& options) {
  state& s = open();
  auto& newest = s.newest_operations[static_cast<std::size_t>(place)];
  program_operation i;
  i.name = s.name.empty() ? message("task ", s.operations->tasks, " of the body") : describe_task(s.name);
  i.task = s.operations->tasks;
  i.pe = pe(place);
  i.divisible = code.most_blocks > 0;
  i.blocks = i.divisible ? static_cast<int>(std::min<index_t>(code.most_blocks, most_blocks_of_operation)) : blocks;
  i.threads = options.threads;
  i.scratch_bytes = options.scratch_bytes;
  i.scope = s.may_touch;
  i.code = std::move(code);
  i.after = std::exchange(newest, {static_cast<int>(s.operations->operations.size())});
  s.operations->operations.push_back(std::move(i));
}

void task_run::gather() {
  auto& newest = open().newest_operations;
  for (std::size_t place = 1; place < newest.size(); ++place)
    newest[0].insert(newest[0].end(), newest[place].begin(), newest[place].end());
  sync_point_list others;
  for (std::size_t i = 1; i < open().slots.size(); ++i) others.add(open().slots[i]->record());
  open().context->streams().order(*open().slots.front(), others);
}

void task_run::finish() {
  open().end(true);
  state_.reset();
}

void task_run::fail() {
  open().end(false);
  state_.reset();
}

}  // namespace starling::stf
