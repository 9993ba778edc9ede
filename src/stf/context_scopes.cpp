// Tasks that a context records once and launches many times, and loops of them.
#include <algorithm>

#include "context_state.hpp"
#include "starling/base/error.hpp"

namespace starling::stf {

std::shared_ptr<task_scope> context_state::record(const std::function<void()>& body, item_list* items) {
  require_outside_tasks("record");
  expect<argument_error>(
      !in_users_stream_,
      "stf: record in a context within a user's stream; record the stream itself (machine::record), or "
      "make a context without one");
  expect<argument_error>(body != nullptr, "context::record: the body is empty; pass a function that submits tasks");
  {
    const epoch_end alone(*this);
    expect<argument_error>(!finalized_, "stf: record after the context was finalized; make a new context");
    end_epoch();
    lanes_.resume();
    if (any_buried_) write_back_buried();
    auto fresh = std::make_shared<task_scope>(shared_from_this(), data_numbers_);
    lanes_.begin_recording();
    coherence_.keep_for(&fresh->held(), data_numbers_);
    coherence_.note_in(items);
    items_ = items;
    scope_ = std::move(fresh);
    recorder_ = std::this_thread::get_id();
    recording_ = true;
  }
  std::exception_ptr failure;
  try {
    body();
  } catch (...) {
    failure = std::current_exception();
  }
  std::shared_ptr<task_scope> scope;
  {
    const epoch_end alone(*this);
    std::optional<graph> done;
    if (!failure) try {
        write_back_buried();
        scope_->close(coherence_, registry_);
        (void)lanes_.end_recording(done);
      } catch (...) {
        failure = std::current_exception();
        done.reset();
      }
    if (!done) {
      lanes_.abandon_recording();
      // What the body made and let go of never got a value.
      drop_buried([this](data_body& b) {
        if (!scope_->made(b.id)) return false;
        for (const auto& i : b.instances) i->secret = false;  // nothing to wipe
        b.secret = false;
        return true;
      });
    }
    scope_->leave(std::move(done), registry_);
    coherence_.keep_for(nullptr);
    coherence_.note_in(nullptr);
    items_ = nullptr;
    recording_ = false;
    lanes_.resume();
    scope = std::exchange(scope_, nullptr);
    graphs_.copies_before = coherence_.statistics().copies;
    const std::lock_guard lock(recorder_mutex_);
    recorder_ = std::thread::id();
  }
  recorder_gone_.notify_all();
  if (failure) std::rethrow_exception(failure);
  ++recordings_;
  return scope;
}

void context_state::launch(task_scope& recorded, const graph& what, std::uint64_t times) {
  require_outside_tasks("launch of recorded tasks");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: launch of recorded tasks after the context was finalized; make a new one");
  end_epoch();
  lanes_.resume();
  if (any_buried_) write_back_buried();
  recorded.launch(what, times);
  launches_ += times;
  graphs_.copies_before = coherence_.statistics().copies;
}

// The recordings of a body that is done again and again: one, or several in turn, each where the one before leaves off.
class context_state::repeated_body {
 public:
  repeated_body(context_state& context, const std::function<void()>& body) : all_{context.record(body)} {
    struct beginning {
      const task_scope& first;
      ~beginning() { first.set_turns(0); }
    } at_end{*all_.front()};
    const std::uint64_t round = all_.front()->launches_a_round();
    while (all_.size() < round) {
      all_.back()->set_turns(1);
      all_.push_back(context.record(body));
    }
  }

  std::uint64_t recordings() const { return all_.size(); }
  task_scope& next() { return *all_[which_++ % all_.size()]; }

 private:
  std::vector<std::shared_ptr<task_scope>> all_;
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
  repeated_body all(*this, body);
  if (all.recordings() == 1) {
    task_scope& recorded = all.next();
    const auto loop = times > 1 ? recorded.work().loop({times}) : std::nullopt;
    return launch(recorded, loop ? *loop : recorded.work(), loop ? 1 : times);
  }
  for (std::uint64_t i = 0; i < times; ++i) {
    task_scope& next = all.next();
    launch(next, next.work(), 1);
  }
}

void context_state::repeat_while(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
                                 std::uint64_t most) {
  require_outside_tasks("repeat_while");
  expect<argument_error>(flag && flag->context.get() == this,
                         "context::repeat_while: the flag is data of another context, or none");
  expect<argument_error>(most >= 1, "context::repeat_while: at most 0 rounds; the body is done at least once");
  if (options_.backend == backend_kind::persistent) return repeat_on_devices(most, flag.get(), body);
  repeated_body all(*this, body);
  task_scope* recorded = &all.next();
  const data_instance* where = &recorded->expect_result(*flag, most);
  const std::size_t bytes = flag->body.what.bytes;
  if (all.recordings() == 1)
    if (const auto loop = recorded->work().loop({most, where->start, bytes})) return launch(*recorded, *loop, 1);
  // The devices cannot look, so that the host does.
  for (std::uint64_t i = 0; i < most; ++i) {
    if (i > 0) recorded = &all.next();
    launch(*recorded, recorded->work(), 1);
    const std::byte* value = wait_for(*flag);
    if (std::all_of(value, value + bytes, [](std::byte b) { return b == std::byte{0}; })) return;
  }
}

}  // namespace starling::stf
