// context_state: what all handles of one context share: its machine, streams, memory and logical data, and the epoch
// that goes on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "starling/stf/context_options.hpp"
#include "starling/stf/per_stream.hpp"
#include "stf/memory/coherence.hpp"
#include "stf/memory/data_locks.hpp"
#include "stf/memory/data_registry.hpp"
#include "stf/memory/pending_write_backs.hpp"
#include "stf/order/lock_wait_graph.hpp"
#include "stf/order/stream_pool.hpp"
#include "stf/recordings/graph_cache.hpp"
#include "stf/recordings/promised_values.hpp"
#include "stf/recordings/recorded_program.hpp"
#include "stf/recordings/task_scope.hpp"
#include "stf/resource_pool.hpp"
#include "stf/submit/backend_policy.hpp"
#include "stf/submit/scheduler.hpp"
#include "stf/submit/submitters.hpp"
#include "stf/submit/task_graph.hpp"

namespace starling::stf {

class splitting;
struct operation_list;

// Held while work is submitted: the epoch goes on, and of one that is recorded nobody else changes the recording.
struct submission {
  std::shared_lock<std::shared_mutex> epoch;
  std::unique_lock<std::recursive_mutex> recording;
  submitters::presence here;
};

class context_state : public std::enable_shared_from_this<context_state> {
 public:
  // `user`: a stream that all work is part of; finalize does not wait then.
  context_state(machine m, const context_options& options, const std::optional<stream>& user = {});
  // Finalizes what was not; failures are lost then. Waits for work that goes on, unless it is recorded. While an
  // exception unwinds nothing is written back any more.
  ~context_state();

  machine& on() { return machine_; }
  const context_options& options() const { return options_; }
  stream_pool& streams() { return streams_; }
  stf::coherence& coherence() { return coherence_; }
  lock_wait_graph& waits() { return waits_; }
  data_locks::one& data_locks_of(std::uint64_t data) { return data_locks_.of(data); }
  stf::scheduler& scheduler() { return scheduler_; }
  // Null: nobody wants a drawing.
  task_graph* drawing() { return drawing_ ? &*drawing_ : nullptr; }

  std::shared_ptr<data_state> new_data(data_description what);
  std::uint64_t new_data_number() { return ++data_numbers_; }
  // The last handle has gone. What is to be written back is, with the next work that is submitted or by finalize; but
  // when it went because an exception `unwinds`, nothing is, and nothing uses the user's memory afterwards.
  void retire(data_state* d, data_body body, bool unwinds);

  // Tasks are submitted inside of this. Throws argument_error after finalize.
  submission submit(const std::string& name);
  std::uint64_t new_task() { return ++tasks_; }
  // Part of what tells epochs apart. The order of tasks, which threads may change, is none.
  void add_to_epoch(std::uint64_t task) { signature_.fetch_add(task, std::memory_order_relaxed); }
  // Whether the epoch is recorded because the context chose to.
  bool tries_graph() const {
    return recording_ && options_.backend == backend_kind::automatic && recorder_ == std::thread::id();
  }
  // Ends the epoch if tries_graph(), and goes on with streams. False within a task, whose work the recording has.
  bool go_on_with_streams(const std::string& why);
  // The epoch cannot be repeated as a graph.
  void refuse_graph(const std::string& why);

  // The tasks that the body submits, for many launches; within a body that is recorded too. With `operations` their
  // work is noted there too.
  std::shared_ptr<recorded_program> record(const std::function<void()>& body, operation_list* operations = nullptr);
  // Throws argument_error while this thread submits the tasks of a scope.
  void require_outside_scopes(const char* call) const;
  // The scope whose tasks this thread submits; null: none.
  task_scope* scope() const { return recorder_ == std::this_thread::get_id() ? scope_.get() : nullptr; }
  // Where this thread's tasks are noted, for a persistent program; null: they are not.
  operation_list* operations() const { return scope() != nullptr ? operations_ : nullptr; }
  void launch(task_scope& scope, const graph& what, std::uint64_t times);
  // Does the loop; within a body that is recorded it becomes part of what that one does.
  void launch(recorded_loop loop, const char* call);
  void repeat(std::uint64_t times, const std::function<void()>& body);
  void repeat_while(const std::shared_ptr<data_state>& flag, const std::function<void()>& body, std::uint64_t most);
  void run_if(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
              const std::function<void()>& otherwise);

  void fence();
  event fence_event();
  // fence, and the work of all epochs is over. Throws what failed in it.
  void synchronize();
  void finalize();
  // Until `d` holds its value on the host; the instance's memory.
  std::byte* wait_for(data_state& d);
  // Whether a flag is not 0, once all work so far is done.
  bool is_set(data_state& flag);
  // Puts an instance to a place (affine: device 0) as for a task that uses the data like this; `use` gets it, and what
  // has to be over before, while the data is held. The errors are a task's.
  void bring(const char* who, data_state& d, access_mode mode, data_place where,
             const std::function<void(data_instance&, sync_point_list&)>& use);
  // Makes the user's stream wait for `before`. A graph context ends its epoch for that.
  void make_wait(const char* who, stream& user, const sync_point_list& before);
  // Data that is split: finalize puts its parts together.
  void add_split(const std::shared_ptr<splitting>& s);
  // For ends that failed, of handles that have gone: called again before work is submitted and by finalize, until it
  // throws no more. After finalize nothing is tried.
  void try_later(std::function<void()> end);

  // For context::per_stream: what `make` gives for each stream of tasks on devices of priorities up to this one.
  std::shared_ptr<const detail::per_stream_things> make_per_stream(
      int priority, const std::function<std::shared_ptr<void>(stream&)>& make);

  stf::statistics statistics();

 private:
  // Tasks go into streams as they are submitted.
  bool streams_only() const {
    return options_.backend == backend_kind::stream || options_.backend == backend_kind::persistent;
  }
  slab_source memory_of(int pe) const;
  // Where the graph of the epoch that ends goes, and one that can be updated may be.
  std::optional<graph>& place_for_graph();
  class repeated_body;
  // The tasks of the body, as one persistent program; for as long as the flag is set, if there is one.
  void repeat_on_devices(std::uint64_t most, data_state* flag, const std::function<void()>& body);
  void begin_epoch(bool on_streams = false);
  void note_epoch(backend_kind used);
  void end_epoch();
  void require_outside_tasks(const char* call);
  void require_outside_bodies(const char* call);
  // Whether tasks that were recorded since this was called last use things of their streams.
  bool take_recorded_things();
  void require_recordable(const char* call);
  void expect_flag(const char* call, const std::shared_ptr<data_state>& flag) const;
  // A recording under way, and the one within whose body it is.
  struct open_recording {
    recorded_program& into;
    open_recording* around;
    std::exception_ptr failure;
  };
  void begin_part(operation_list* operations);
  void end_part(open_recording& r, bool last);
  void between_parts(const std::function<void()>& what);
  // Until no other thread records tasks. Throws task_error when that takes too long.
  void await_recorder();
  bool recorded_elsewhere() const;
  void check_values();
  void try_again();
  void expect_none_frozen();
  // Of which the handle is still there, the latest first.
  std::vector<std::shared_ptr<splitting>> open_splits();
  // Whether there was any.
  bool write_back_pending();
  // While an exception unwinds: waits until nothing uses the user's memory of this data. What fails meanwhile is said
  // by synchronize or finalize.
  void let_go(const data_body& body);
  void say_later(std::exception_ptr failure);
  void say_what_failed();
  // Instead of finalize.
  void end_unwound();
  // Ends an epoch whose recording cannot be launched: what it should have written has no value. Throws task_error.
  [[noreturn]] void give_up_epoch();

  machine machine_;
  const context_options options_;
  const bool in_users_stream_;
  data_registry registry_;
  lock_wait_graph waits_;
  data_locks data_locks_;
  const std::shared_ptr<resource_pool> pool_;  // null: none is shared
  const borrowed_streams borrowed_;
  stream_pool& streams_;
  stf::scheduler scheduler_;
  stf::coherence coherence_;
  pending_write_backs pending_;
  std::optional<task_graph> drawing_;
  graph_cache graphs_;

  // Shared by submissions; alone for what ends an epoch, which holds the gate meanwhile, so that threads that go on
  // submitting do not keep it waiting. They look at the gate only when somebody has come to it.
  std::mutex gate_;
  std::atomic<int> at_gate_{0};
  std::shared_mutex epoch_;
  struct epoch_end {
    explicit epoch_end(context_state& c);
    struct counted {
      explicit counted(std::atomic<int>& n) : number(n) { ++number; }
      ~counted() { --number; }
      std::atomic<int>& number;
    } here;
    std::unique_lock<std::mutex> gate;
    std::unique_lock<std::shared_mutex> alone;
    struct marked {
      explicit marked(context_state& c) : of(c) {}
      ~marked() {
        if (of.ending_ == std::this_thread::get_id()) of.ending_ = std::thread::id();
      }
      context_state& of;
    } mark;
  };
  std::atomic<std::thread::id> ending_{};              // the thread that has one of these
  const int exceptions_ = std::uncaught_exceptions();  // that unwound when it was made
  std::atomic<bool> finalized_{false};
  std::atomic<bool> recording_{false};
  std::atomic<bool> streaming_{false};    // an epoch goes on whose tasks go into streams, in a context that chooses
  std::recursive_mutex recording_mutex_;  // a task may be submitted from the body of another
  submitters submitters_;
  // While tasks are recorded for many launches:
  std::shared_ptr<task_scope> scope_;
  operation_list* operations_ = nullptr;
  open_recording* open_ = nullptr;
  promised_values promised_;
  std::uint64_t tasks_before_part_ = 0;
  std::atomic<std::thread::id> recorder_{};
  std::mutex recorder_mutex_;
  std::condition_variable recorder_gone_;
  std::atomic<std::uint64_t> recordings_{0};
  std::atomic<std::uint64_t> launches_{0};
  std::mutex failure_mutex_;
  std::exception_ptr said_later_;
  std::string given_up_;  // why the epoch is; empty: it is not
  std::mutex ends_mutex_;
  std::vector<std::function<void()>> ends_;  // that are to be tried again
  std::atomic<bool> any_ends_{false};
  std::mutex splits_mutex_;
  std::vector<std::weak_ptr<splitting>> splits_;
  std::atomic<std::uint64_t> data_numbers_{0};
  std::atomic<std::uint64_t> tasks_{0};
  std::uint64_t tasks_before_ = 0;  // this epoch
  // Of contexts that choose:
  std::atomic<std::uint64_t> signature_{0};
  std::mutex policy_mutex_;
  backend_policy policy_;
  std::string refused_;  // why this epoch cannot be a graph
  struct measured_epoch {
    std::uint64_t signature;
    backend_kind used;
  };
  event_samples<measured_epoch> epoch_times_;
  std::optional<event> epoch_begun_;  // when it is measured
  std::vector<std::shared_ptr<detail::per_stream_things>> things_;
};

}  // namespace starling::stf
