// scheduler: finds devices for tasks that leave them to the context. It sorts tasks into classes, says of their data
// when and how fast it can be where, measures tasks and copies, and asks placement_policy. Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement_policy.hpp"
#include "starling/stf/statistics.hpp"
#include "starling/stf/task_run.hpp"
#include "stf/memory/data_state.hpp"
#include "stf/order/event_samples.hpp"
#include "stf/order/link_times.hpp"

namespace starling::stf {

// How a task uses one datum, which the caller holds.
struct scheduled_access {
  data_body* data;
  bool reads;
  bool writes;
  bool follows;  // the instance goes where the task goes
};

class scheduler {
 public:
  // Classes that are told apart; tasks of later ones differ by size alone, so that names which never come again cost
  // no memory.
  static constexpr std::size_t most_classes = 1024;

  explicit scheduler(const machine& m);

  struct decision {
    std::size_t task_class = 0;
    placement where;
    bool measure = false;
  };

  // Whether any task has asked so far; then the others are to be noted too.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  // The device for a task. Its data is expected there from now on.
  decision choose(const task_description& what, const std::vector<scheduled_access>& uses);
  // The task is on this device because the program says so.
  decision note(const task_description& what, int device, const std::vector<scheduled_access>& uses);

  // Around the work of a task that is to be measured, in its stream.
  std::optional<event> begin(stream& s) { return tasks_.begin(s); }
  void end(stream& s, event begun, const decision& d) {
    tasks_.end(s, std::move(begun), {d.task_class, d.where.device});
  }
  // Around a copy. Nothing: this one is not measured.
  std::optional<event> begin_copy(stream& s, int from, int to, std::size_t bytes);
  void end_copy(stream& s, event begun, int from, int to, std::size_t bytes) {
    copies_.end(s, std::move(begun), {from, to, bytes});
  }

  // Everything is over.
  void all_over();

  std::vector<task_class_usage> classes();

 private:
  struct class_key {
    std::string name;
    std::uintptr_t kind;  // of the body, as a number
    int size;             // of the bytes that it touches: so many binary digits
    friend auto operator<=>(const class_key&, const class_key&) = default;
  };
  struct measured_task {
    std::size_t task_class;
    int device;
  };
  struct measured_copy {
    int from;
    int to;
    std::size_t bytes;
  };

  decision decide(const task_description& what, std::optional<int> device, const std::vector<scheduled_access>& uses);
  std::size_t class_of(const task_description& what, const std::vector<scheduled_access>& uses);  // the lock is held
  placed_input input(const data_body& d, bool follows, double now) const;                         // the lock is held
  void collect();                                                                                 // the lock is held

  machine machine_;
  const bool measures_;  // schedules of check mode have no times
  std::atomic<bool> active_{false};
  event_samples<measured_task> tasks_;
  event_samples<measured_copy> copies_;
  std::mutex mutex_;
  placement_policy policy_;
  link_times links_;
  std::map<class_key, std::size_t> classes_;
  std::uint64_t round_ = 1;  // between waits for everything; of values expected in earlier ones all are there
};

}  // namespace starling::stf
