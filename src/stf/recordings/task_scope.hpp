// task_scope: tasks that are recorded once, as a graph on fixed instances of their data, and launched many times. What
// a launch reads from before is where it was when the tasks were recorded: they put it back there if they move it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "held_memory.hpp"
#include "scope_entry.hpp"
#include "starling/base/rotation.hpp"
#include "starling/machine/stream.hpp"
#include "stf/order/sync_point.hpp"

namespace starling::stf {

class coherence;
class context_state;
class data_registry;

class task_scope {
 public:
  // Data with numbers above this one is made by the scope itself.
  task_scope(std::shared_ptr<context_state> context, std::uint64_t newest_data);
  // What it held is memory of its places again, once its launches are over.
  ~task_scope();
  task_scope(const task_scope&) = delete;
  task_scope& operator=(const task_scope&) = delete;

  const std::shared_ptr<context_state>& context() const { return context_; }
  held_memory& held() { return held_; }

  // ---- while it is recorded ----

  // A task is about to use this data, which the caller holds.
  void enter(const std::shared_ptr<data_state>& d);
  // A task is about to take a place.
  void enter(const std::shared_ptr<rotation>& r);
  bool made(std::uint64_t data) const { return data > newest_data_; }
  // The body is over, and its recording goes on: puts back what launches need. Throws task_error for a task that threw,
  // argument_error for what cannot be done twice.
  void close(coherence& c, const data_registry& all);
  // Its launches use what belongs to streams of tasks, so that none of these has other work meanwhile.
  void run_alone() { alone_ = true; }
  // The data is as before the scope, in every case; without a graph nothing is held.
  void leave(std::optional<graph> recorded, const data_registry& all);

  // ---- afterwards ----

  const graph& work() const { return *graph_; }
  const std::vector<std::unique_ptr<scope_entry>>& entries() const { return entries_; }
  // The instance that has the value of this data after a launch, one on a device if there is; null: the scope does not
  // write it.
  const data_instance* result(const data_state& d) const;
  // After how many launches all rotations are where they were before: so many recordings of the same tasks, each where
  // the one before has left off, can be launched in turn for ever.
  std::uint64_t launches_a_round() const;
  // Rotations are where they are after so many launches.
  void set_turns(std::uint64_t launches) const;
  // Puts `times` launches of a graph of this scope in line. Nobody else uses the context meanwhile.
  void launch(const graph& what, std::uint64_t times);
  // Has `program` do the tasks, when what they use is there, and waits for it. What it should have written has no value
  // when it throws and has said that it has begun.
  void run(const std::function<void(bool& begun)>& program);

 private:
  // The tasks have been done, or are over at newest_launch_.
  void set_results(const std::string& failed_by);
  void enter_made(const std::shared_ptr<data_state>& d);
  sync_point_list prepare();
  void check_turns(std::uint64_t times) const;

  std::shared_ptr<context_state> context_;
  std::uint64_t newest_data_;
  bool alone_ = false;
  std::vector<std::unique_ptr<scope_entry>> entries_;
  struct turn {
    std::shared_ptr<rotation> of;
    int first;            // place that a launch begins with
    std::uint64_t taken;  // by each launch
  };
  std::vector<turn> turns_;
  std::optional<graph> graph_;
  held_memory held_;
  std::vector<std::shared_ptr<std::atomic<int>>> holds_;
  sync_point_list newest_launch_;
};

}  // namespace starling::stf
