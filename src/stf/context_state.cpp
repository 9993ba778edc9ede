#include "context_state.hpp"

#include <algorithm>
#include <list>

#include "starling/base/error.hpp"
#include "starling/stf/detail/host_body.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/memory/splitting.hpp"
#include "stf/memory/user_allocator.hpp"

namespace starling::stf {
namespace {

// A data_interface of a user may say anything; copies follow it.
void check_parts(const data_description& what) {
  expect<argument_error>(what.original.empty() || !what.original_place.is_replicated(),
                         "context::logical_data: memory of the user on ", describe(what.original_place),
                         "; name where it is: the host, or a device");
  for (const memory_part& p : what.original) {
    const std::size_t bytes = p.row_bytes * p.rows;
    if (bytes == 0) continue;
    expect<argument_error>(p.start != nullptr, "context::logical_data: a null pointer to ", bytes, " bytes");
    expect<argument_error>(reinterpret_cast<std::uintptr_t>(p.start) % what.alignment == 0,
                           "context::logical_data: elements at ", static_cast<const void*>(p.start),
                           ", which is no multiple of ", what.alignment, " as their type needs");
    expect<argument_error>(p.rows == 1 || p.pitch >= p.row_bytes, "context::logical_data: rows of ", p.row_bytes,
                           " bytes start ", p.pitch, " bytes apart, so that they overlap");
    expect<argument_error>(p.offset <= what.bytes && bytes <= what.bytes - p.offset,
                           "context::logical_data: a part of ", bytes, " bytes at ", p.offset,
                           " of an instance that has ", what.bytes, "; see parts() and bytes() of its data_interface");
  }
}

}  // namespace

context_state::context_state(machine m, const context_options& o, const std::optional<stream>& user)
    : machine_(std::move(m)),
      options_(o),
      in_users_stream_(user.has_value()),
      pool_(o.resources),
      borrowed_(borrow_streams(machine_, pool_)),
      streams_(*borrowed_),
      scheduler_(machine_),
      coherence_(
          machine_, streams_, registry_, o.device_memory, [this](int pe) { return memory_of(pe); },
          [this] { return write_back_pending(); }),
      pending_(coherence_),
      graphs_(o.graphs_kept),
      epoch_times_(machine_) {
  if (o.drawing) drawing_.emplace();
  coherence_.measure_with(scheduler_);
  if (!user) return;
  const bool graphs = o.backend == backend_kind::graph;
  expect<argument_error>(graphs || o.backend == backend_kind::stream,
                         "stf: a context within a user's stream that chooses how its tasks run, or makes programs of "
                         "them; take a stream_ctx or a graph_ctx");
  expect<range_error>(user->pe() >= 0 && user->pe() < machine_.size(), "stf: a stream of device ", user->pe(),
                      ", and the context's machine has ", machine_.size(), "; pass a stream of this machine");
  stream s = *user;
  if (graphs) {
    streams_.launch_after(s);
    streams_.expect_still_recorded();
  } else {
    streams_.begin_after(s, s.keep_with_recording(coherence_.memory()));
  }
}

context_state::~context_state() {
  try {
    std::uncaught_exceptions() > exceptions_ ? end_unwound() : finalize();
  } catch (...) {
    // Whoever wants to know finalizes.
  }
  try {
    streams_.wait_for_end();
  } catch (...) {
    // Whoever wants to know synchronizes the stream before.
  }
  for (auto made = things_.rbegin(); made != things_.rend(); ++made) (*made)->clear();
  if (pool_) pool_->give(graphs_);
}

// Check mode tells from fresh memory what was never written.
slab_source context_state::memory_of(int pe) const {
  if (pe == host_place && options_.host_allocator)
    return memory_of_allocator(options_.host_allocator, machine_, data_place::host(), streams_);
  if (pe >= 0 && options_.device_allocator)
    return memory_of_allocator(options_.device_allocator, machine_, data_place::device(pe), streams_);
  return pool_ && !machine_.checking() ? pool_->memory_of(pe) : memory_of_machine(machine_, pe);
}

context_state::epoch_end::epoch_end(context_state& c) : here(c.at_gate_), mark(c) {
  while (true) {
    c.await_recorder();
    gate = std::unique_lock(c.gate_);
    alone = std::unique_lock(c.epoch_);
    if (!c.recorded_elsewhere()) break;
    alone.unlock();
    gate.unlock();
  }
  c.ending_ = std::this_thread::get_id();
}

bool context_state::recorded_elsewhere() const {
  const std::thread::id who = recorder_;
  return who != std::thread::id() && who != std::this_thread::get_id();
}

void context_state::await_recorder() {
  if (!recorded_elsewhere()) return;
  std::unique_lock lock(recorder_mutex_);
  const auto patience = coherence_.patience();
  expect<task_error>(recorder_gone_.wait_for(lock, patience, [this] { return !recorded_elsewhere(); }),
                     "stf: another thread has been recording tasks for ", patience.count(),
                     " s (STARLING_DEADLINE), while others cannot submit; a body of context::record must not take that "
                     "long");
}

std::shared_ptr<data_state> context_state::new_data(data_description what) {
  check_parts(what);
  if (!what.original.empty()) what.original_place.check(machine_.size());
  const auto inside = submit("");
  auto d = std::make_shared<data_state>(shared_from_this(), std::move(what));
  registry_.add(d);
  return d;
}

submission context_state::submit(const std::string& name) {
  host_body::expect_none("work is submitted");
  while (true) {
    // Who is inside already must not wait for who waits for it.
    if (at_gate_ > 0 && !submitters_.here()) {
      const std::lock_guard turn(gate_);
    }
    await_recorder();
    std::shared_lock inside(epoch_);
    if (recorded_elsewhere()) continue;
    expect<argument_error>(!finalized_, "stf: ", name.empty() ? "work" : "task '" + name + "'",
                           " after the context was finalized; make a new context");
    if (streams_only() || recording_ || streaming_) {
      submission s{std::move(inside), {}, submitters::presence(submitters_)};
      if (recording_) s.recording = std::unique_lock(recording_mutex_);
      streams_.expect_still_recorded();
      if (any_ends_) try_again();
      if (pending_.any()) write_back_pending();
      return s;
    }
    inside.unlock();
    const epoch_end alone(*this);
    if (!finalized_) begin_epoch();
  }
}

void context_state::begin_epoch(bool on_streams) {
  if (recording_ || streaming_) return;
  tasks_before_ = tasks_;
  signature_ = 0;
  bool record = true;
  if (options_.backend == backend_kind::automatic) {
    const std::lock_guard lock(policy_mutex_);
    epoch_times_.collect(
        [this](const measured_epoch& e, double seconds) { policy_.measured(e.signature, e.used, seconds); });
    record = !on_streams && policy_.next() == backend_kind::graph;
    epoch_begun_.reset();
    if (policy_.wants_time() && !machine_.checking()) epoch_begun_ = epoch_times_.begin(streams_.gather());
  }
  if (record) {
    streams_.begin_recording();
    recording_ = true;
  } else {
    streams_.resume();
    streaming_ = true;
  }
}

// The epoch is all in the streams.
void context_state::note_epoch(backend_kind used) {
  if (options_.backend != backend_kind::automatic) return;
  const std::lock_guard lock(policy_mutex_);
  const bool timed = epoch_begun_.has_value();
  if (timed) epoch_times_.end(streams_.gather(), std::move(*epoch_begun_), {signature_, used});
  epoch_begun_.reset();
  if (!refused_.empty()) {
    policy_.refuse(refused_);
    policy_.refuse(signature_, refused_);
    refused_.clear();
  }
  policy_.ended(signature_, tasks_ - tasks_before_, used, timed);
}

std::optional<graph>& context_state::place_for_graph() {
  const stf::statistics now = coherence_.statistics();
  const epoch_summary summary{tasks_ - tasks_before_, now.copies - graphs_.copies_before};
  graphs_.copies_before = now.copies;
  std::optional<graph>& place = graphs_.place_for(summary);
  if (!place && pool_) place = pool_->take_graph(summary);
  return place;
}

void context_state::end_epoch() {
  if (in_users_stream_ && streams_only()) return streams_.begin_after_user_again();
  if (streaming_) {
    streaming_ = false;
    ++graphs_.epochs;
    graphs_.copies_before = coherence_.statistics().copies;
    return note_epoch(backend_kind::stream);
  }
  if (!recording_) return;
  if (!given_up_.empty()) give_up_epoch();
  std::optional<graph>& place = place_for_graph();
  recording_ = false;
  const bool updated = [&] {
    try {
      return streams_.end_recording(place);
    } catch (const error& e) {
      const std::lock_guard lock(policy_mutex_);
      policy_.refuse(e.what());
      throw;
    }
  }();
  ++graphs_.epochs;
  if (updated) ++graphs_.reused;
  streams_.launch(*place);
  note_epoch(backend_kind::graph);
}

bool context_state::go_on_with_streams(const std::string& why) {
  if (submitters_.here()) return false;
  const epoch_end alone(*this);
  if (tries_graph()) {
    refused_ = why;
    end_epoch();
    begin_epoch(true);
  }
  return true;
}

void context_state::refuse_graph(const std::string& why) {
  const std::lock_guard lock(policy_mutex_);
  refused_ = why;
}

void context_state::require_outside_scopes(const char* call) const {
  expect<argument_error>(scope() == nullptr, "stf: ", call,
                         " within a body whose tasks are recorded, none of which has run; call it before or after");
}

void context_state::require_outside_tasks(const char* call) {
  require_outside_bodies(call);
  require_outside_scopes(call);
}

void context_state::require_outside_bodies(const char* call) {
  host_body::expect_none(call);
  expect<argument_error>(!submitters_.here(), "stf: ", call, " within the body of a task; call it after the task");
}

void context_state::fence() {
  require_outside_tasks("fence");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: fence after the context was finalized; make a new context");
  end_epoch();
}

void context_state::synchronize() {
  require_outside_tasks("synchronize");
  expect<argument_error>(!streams_.user_recorded(),
                         "stf: synchronize in a context whose stream is being recorded; launch the graph and "
                         "synchronize its stream");
  const epoch_end alone(*this);
  end_epoch();
  streams_.wait_for_all();
  scheduler_.all_over();
  coherence_.reclaim(true);
  say_what_failed();
}

void context_state::check_values() {
  pending_.expect_none_lost();
  for (const auto& d : registry_.alive())
    expect<task_error>(d->body.failed_by().empty() || !d->body.owed_to_user(), "stf: ", d->body.describe(),
                       " was not written back: task '", d->body.failed_by(), "' threw instead of writing it");
}

void context_state::finalize() {
  std::list<graph_cache::entry> graphs;  // whose bodies of the host may hold data of the context: they go last
  require_outside_tasks("finalize");
  const epoch_end alone(*this);
  if (finalized_) return;
  try_again();
  expect_none_frozen();
  finalized_ = true;
  std::exception_ptr failure;
  const auto attempt = [&failure](const auto& step) {
    try {
      step();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };
  const auto all = registry_.alive();
  attempt([&] { streams_.expect_still_recorded(); });
  if (failure) {
    // Copies that were recorded have not been made: the user's memory keeps what it has.
    for (const auto& d : all) coherence_.drop(d->body);
    std::rethrow_exception(failure);
  }
  const auto splits = open_splits();
  attempt([&] { say_what_failed(); });
  if (!given_up_.empty()) attempt([&] { end_epoch(); });
  attempt([&] {
    const bool any = pending_.any() ||
                     std::any_of(all.begin(), all.end(), [](const auto& d) { return d->body.to_be_written_back(); });
    const bool wipes = std::any_of(all.begin(), all.end(), [](const auto& d) { return d->body.secret; });
    if ((any || wipes || !splits.empty()) && !streams_only()) begin_epoch();
  });
  for (const auto& s : splits) attempt([&] { s->join(false); });
  try_again();
  attempt([&] { write_back_pending(); });
  attempt([&] { pending_.drop([](data_body&) { return true; }); });  // what could not be written back
  for (const auto& d : all) attempt([&] { coherence_.write_back(d->body); });
  for (const auto& d : all)
    if (d->body.secret) attempt([&] { coherence_.drop_users_memory(d->body, false); });
  attempt([&] { end_epoch(); });
  attempt([&] { in_users_stream_ ? streams_.end_before_user() : streams_.wait_for_all(); });
  attempt([&] { check_values(); });
  for (const auto& d : all) attempt([&] { coherence_.drop(d->body); });
  if (!in_users_stream_) {
    coherence_.reclaim(true);
    coherence_.return_to_allocators();
    if (!pool_) graphs = graphs_.take_all();
  }
  if (failure) std::rethrow_exception(failure);
}

std::byte* context_state::wait_for(data_state& d) {
  require_outside_tasks("wait");
  expect<argument_error>(!streams_.user_recorded(),
                         "stf: wait in a context whose stream is being recorded; the value is there when the graph "
                         "was launched and is over");
  std::byte* start = nullptr;
  bring("wait", d, access_mode::read, data_place::host(), [&](data_instance& i, sync_point_list&) { start = i.start; });
  synchronize();
  return start;
}

bool context_state::is_set(data_state& flag) {
  const std::byte* value = wait_for(flag);
  return std::any_of(value, value + flag.body.what.bytes, [](std::byte b) { return b != std::byte{0}; });
}

void context_state::retire(data_state* d, data_body body, bool unwinds) {
  pending_.note_lost(body);
  if (unwinds && body.in_users_memory()) {
    registry_.remove(d);  // nobody is to wait for it
    let_go(body);
    if (!body.secret) return coherence_.drop(body);
    coherence_.drop_users_memory(body, true);
  }
  if (!body.to_be_written_back() && (!body.secret || body.instances.empty()))
    coherence_.drop(body);
  else
    pending_.add(std::move(body));
  registry_.remove(d);
}

bool context_state::write_back_pending() {
  // What is recorded may be done never or often: only the scope's own data goes with it.
  const task_scope* recorded = scope_.get();
  return pending_.write_back([recorded](const data_body& b) { return recorded == nullptr || recorded->made(b.id); });
}

stf::statistics context_state::statistics() {
  host_body::expect_none("statistics");
  stf::statistics now = coherence_.statistics();
  now.tasks = tasks_;
  now.recordings = recordings_;
  now.launches = launches_;
  now.classes = scheduler_.classes();
  const std::shared_lock inside(epoch_);
  {
    const std::lock_guard lock(policy_mutex_);
    now.epoch_classes = policy_.choices();
  }
  now.epochs = graphs_.epochs;
  now.graphs_reused = graphs_.reused;
  return now;
}

}  // namespace starling::stf
