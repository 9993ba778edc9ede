// Tasks that a context records once and launches many times, loops and branches of them, and these within each other.
#include "recorded_program.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

void context_state::require_recordable(const char* call) {
  require_outside_bodies(call);
  expect<argument_error>(!in_users_stream_, "stf: ", call,
                         " in a context within a user's stream; record the stream itself (machine::record), or make a "
                         "context without one");
  expect<task_error>(operations() == nullptr, "stf: ", call,
                     " within a loop that becomes a persistent program, all rounds of which do the same; use a "
                     "stream_ctx or a graph_ctx for this loop");
}

// Tasks of this thread are recorded from here on.
void context_state::begin_part(operation_list* operations) {
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: record after the context was finalized; make a new context");
  end_epoch();
  streams_.resume();
  if (pending_.any()) write_back_pending();
  auto fresh = std::make_shared<task_scope>(shared_from_this(), data_numbers_);
  streams_.begin_recording();
  coherence_.keep_for(&fresh->held(), data_numbers_);
  coherence_.note_in(operations);
  operations_ = operations;
  scope_ = std::move(fresh);
  tasks_before_part_ = tasks_;
  (void)take_recorded_things();
  recorder_ = std::this_thread::get_id();
  recording_ = true;
}

// What was recorded since then becomes the program's next step, unless the recording has failed. A part without tasks
// does only where there is nothing else, and this is the `last`.
void context_state::end_part(open_recording& r, bool last) {
  if (scope_ == nullptr) return;
  const epoch_end alone(*this);
  std::optional<graph> done;
  const bool empty = scope_->entries().empty() && tasks_ == tasks_before_part_;
  const bool left_out = empty && (!last || r.into.has_steps());
  if (!r.failure && !left_out) try {
      write_back_pending();
      scope_->close(coherence_, registry_);
      (void)streams_.end_recording(done);
    } catch (...) {
      r.failure = std::current_exception();
      done.reset();
    }
  if (!done) {
    streams_.abandon_recording();
    // What the body made and let go of never got a value.
    pending_.drop([this](data_body& b) {
      if (!scope_->made(b.id)) return false;
      for (data_instance* i : b.instances) i->secret = false;  // nothing to wipe
      b.secret = false;
      return true;
    });
  }
  const bool recorded = done.has_value();
  if (take_recorded_things()) scope_->run_alone();
  scope_->leave(std::move(done), registry_);
  coherence_.keep_for(nullptr);
  coherence_.note_in(nullptr);
  operations_ = nullptr;
  recording_ = false;
  streams_.resume();
  const auto scope = std::exchange(scope_, nullptr);
  graphs_.copies_before = coherence_.statistics().copies;
  if (!recorded) return;
  promised_.promise(*scope);
  r.into.add({scope});
}

// Between two parts of the recording that goes on, if one does.
void context_state::between_parts(const std::function<void()>& what) {
  if (scope() == nullptr) return what();
  open_recording& r = *open_;
  end_part(r, false);
  std::exception_ptr failure = r.failure;
  if (!failure) try {
      what();
    } catch (...) {
      failure = std::current_exception();
    }
  // Of what comes after a failure nothing is to be done for real.
  begin_part(nullptr);
  if (failure) std::rethrow_exception(failure);
}

std::shared_ptr<recorded_program> context_state::record(const std::function<void()>& body, operation_list* operations) {
  require_recordable("record");
  expect<argument_error>(body != nullptr, "context::record: the body is empty; pass a function that submits tasks");
  const auto program = std::make_shared<recorded_program>(shared_from_this());
  between_parts([&] {
    begin_part(operations);
    const std::size_t promises = promised_.count();
    open_recording r{*program, open_, nullptr};
    open_ = &r;
    try {
      body();
    } catch (...) {
      r.failure = std::current_exception();
    }
    end_part(r, true);
    promised_.undo_to(promises);
    open_ = r.around;
    if (open_ == nullptr) {
      {
        const std::lock_guard lock(recorder_mutex_);
        recorder_ = std::thread::id();
      }
      recorder_gone_.notify_all();
    }
    if (r.failure) std::rethrow_exception(r.failure);
  });
  ++recordings_;
  return program;
}

void context_state::launch(recorded_loop loop, const char* call) {
  if (scope() == nullptr) {
    require_outside_tasks(call);
    return loop.run(*this);
  }
  require_recordable(call);
  between_parts([&] {
    loop.expect_flag(call);
    open_->into.add({nullptr, loop});
    loop.promise(promised_);
  });
}

void context_state::launch(task_scope& recorded, const graph& what, std::uint64_t times) {
  require_outside_tasks("launch of recorded tasks");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: launch of recorded tasks after the context was finalized; make a new one");
  end_epoch();
  streams_.resume();
  if (pending_.any()) write_back_pending();
  recorded.launch(what, times);
  launches_ += times;
  graphs_.copies_before = coherence_.statistics().copies;
}

// The recordings of a body that is done again and again: one, or several in turn, each where the one before leaves off.
class context_state::repeated_body {
 public:
  repeated_body(context_state& context, const std::function<void()>& body, const char* call)
      : all_{context.record(body)} {
    const std::uint64_t round = all_.front()->launches_a_round();
    if (round == 1) return;
    expect<task_error>(context.scope() == nullptr, "context::", call,
                       " within what is recorded: its body updates a region whose agent is copy_engine, for which it "
                       "would have to be ",
                       round, " recordings in turn; repeat it outside, or take another agent");
    struct beginning {
      const recorded_program& first;
      ~beginning() { first.set_turns(0); }
    } at_end{*all_.front()};
    while (all_.size() < round) {
      all_.back()->set_turns(1);
      all_.push_back(context.record(body));
    }
  }

  const std::shared_ptr<recorded_program>& first() const { return all_.front(); }
  bool in_turn() const { return all_.size() > 1; }
  const recorded_program& next() { return *all_[which_++ % all_.size()]; }

 private:
  std::vector<std::shared_ptr<recorded_program>> all_;
  std::size_t which_ = 0;
};

void context_state::repeat(std::uint64_t times, const std::function<void()>& body) {
  expect<argument_error>(body != nullptr, "context::repeat: the body is empty; pass a function that submits tasks");
  // Part of what is recorded around it.
  if (scope() != nullptr) {
    for (std::uint64_t i = 0; i < times; ++i) body();
    return;
  }
  require_outside_tasks("repeat");
  if (times == 0) return;
  if (options_.backend == backend_kind::persistent) return repeat_on_devices(times, nullptr, body);
  repeated_body all(*this, body, "repeat");
  if (all.in_turn()) {
    for (std::uint64_t i = 0; i < times; ++i) all.next().run(1);
    return;
  }
  recorded_loop loop{.body = all.first(), .most = times};
  loop.leave_to_device();
  launch(std::move(loop), "repeat");
}

void context_state::expect_flag(const char* call, const std::shared_ptr<data_state>& flag) const {
  expect<argument_error>(flag && flag->context.get() == this, "context::", call,
                         ": the flag is data of another context, or none");
}

void context_state::repeat_while(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
                                 std::uint64_t most) {
  require_outside_bodies("repeat_while");
  expect_flag("repeat_while", flag);
  expect<argument_error>(most >= 1, "context::repeat_while: at most 0 rounds; the body is done at least once");
  if (options_.backend == backend_kind::persistent && scope() == nullptr)
    return repeat_on_devices(most, flag.get(), body);
  repeated_body all(*this, body, "repeat_while");
  (void)all.first()->expect_result(*flag, most);
  if (all.in_turn()) {
    std::uint64_t done = 0;
    do all.next().run(1);
    while (++done < most && is_set(*flag));
    return;
  }
  recorded_loop loop{.body = all.first(), .most = most, .flag = flag};
  loop.leave_to_device();
  launch(std::move(loop), "repeat_while");
}

void context_state::run_if(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
                           const std::function<void()>& otherwise) {
  require_outside_bodies("run_if");
  expect_flag("run_if", flag);
  recorded_loop branch{.body = record(body), .flag = flag, .flag_first = true};
  if (otherwise) branch.otherwise = record(otherwise);
  launch(std::move(branch), "run_if");
}

}  // namespace starling::stf
