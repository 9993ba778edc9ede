// context_state: what all handles of one context share: its machine, lanes, memory and logical data, and the epoch that
// goes on.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "coherence.hpp"
#include "data_registry.hpp"
#include "graph_cache.hpp"
#include "holder_waits.hpp"
#include "lane_set.hpp"
#include "starling/stf/context_options.hpp"
#include "submitters.hpp"
#include "task_graph.hpp"

namespace starling::stf {

class splitting;

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
  // Finalizes what was not; failures are lost then. Waits for work that goes on, unless it is recorded.
  ~context_state();

  machine& on() { return machine_; }
  const context_options& options() const { return options_; }
  lane_set& lanes() { return lanes_; }
  stf::coherence& coherence() { return coherence_; }
  holder_waits& waits() { return waits_; }
  // Null: nobody wants a drawing.
  task_graph* drawing() { return drawing_ ? &*drawing_ : nullptr; }

  std::shared_ptr<data_state> new_data(data_description what);
  std::uint64_t new_data_number() { return ++data_numbers_; }
  // The last handle has gone. What is to be written back is, with the next work that is submitted or by finalize.
  void bury(const data_state* d, data_body body);

  // Tasks are submitted inside of this. Throws argument_error after finalize.
  submission submit(const std::string& name);
  std::uint64_t new_task() { return ++tasks_; }

  void fence();
  // fence, and the work of all epochs is over. Throws what failed in it.
  void synchronize();
  void finalize();
  // Until `d` holds its value on the host; the instance's memory.
  std::byte* wait_for(data_state& d);
  // Puts an instance to a place (affine: device 0) as for a task that uses the data like this; `use` gets it, and what
  // has to be over before, while the data is held. The errors are a task's.
  void bring(const char* who, data_state& d, access_mode mode, data_place where,
             const std::function<void(data_instance&, moment_list&)>& use);
  // Makes the user's stream wait for `before`. A graph context ends its epoch for that.
  void hold_back(const char* who, stream& user, const moment_list& before);
  // Data that is split: finalize puts its parts together.
  void add_split(const std::shared_ptr<splitting>& s);
  // For ends that failed, of handles that have gone: called again before work is submitted and by finalize, until it
  // throws no more. After finalize nothing is tried.
  void try_later(std::function<void()> end);

  stf::statistics statistics();

 private:
  void begin_epoch();
  void end_epoch();
  void require_outside_tasks(const char* call);
  void check_values();
  void try_again();
  void expect_none_frozen();
  // Of which the handle is still there, the latest first.
  std::vector<std::shared_ptr<splitting>> open_splits();
  // Whether there was any.
  bool write_back_buried();
  // Of data whose last handle has gone without its value; what finalize says of it.
  void remember_lost(const data_body& body);

  machine machine_;
  const context_options options_;
  const bool in_users_stream_;
  data_registry registry_;
  holder_waits waits_;
  lane_set lanes_;
  stf::coherence coherence_;
  std::optional<task_graph> drawing_;
  graph_cache graphs_;

  // Shared by submissions; alone for what ends an epoch, which holds the gate meanwhile, so that threads that go on
  // submitting do not keep it waiting.
  std::mutex gate_;
  std::shared_mutex epoch_;
  struct epoch_end {
    explicit epoch_end(context_state& c) : gate(c.gate_), alone(c.epoch_) {}
    std::lock_guard<std::mutex> gate;
    std::lock_guard<std::shared_mutex> alone;
  };
  std::atomic<bool> finalized_{false};
  std::atomic<bool> recording_{false};
  std::recursive_mutex recording_mutex_;  // a task may be submitted from the body of another
  submitters submitters_;
  std::mutex writing_back_buried_;  // whoever finds none left can rely on it
  std::mutex buried_mutex_;
  std::vector<data_body> buried_;
  std::atomic<bool> any_buried_{false};
  std::string lost_;
  std::mutex ends_mutex_;
  std::vector<std::function<void()>> ends_;  // that are to be tried again
  std::atomic<bool> any_ends_{false};
  std::mutex splits_mutex_;
  std::vector<std::weak_ptr<splitting>> splits_;
  std::atomic<std::uint64_t> data_numbers_{0};
  std::atomic<std::uint64_t> tasks_{0};
  std::uint64_t tasks_before_ = 0;  // this epoch
};

}  // namespace starling::stf
