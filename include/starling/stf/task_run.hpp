// task_run: one task between its beginning, when everything it needs is on its way, and its end. Between the two the
// caller puts the task's work into its streams. Typed tasks (task.hpp) are made of it; so can be bindings of other
// languages.
#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "starling/base/rotation.hpp"
#include "starling/machine/machine.hpp"
#include "starling/stf/access.hpp"
#include "starling/stf/detail/erased_kernel.hpp"

namespace starling::stf {

class context_state;

// The type of a task's body, as a function of its own that returns the compiler's text for it; null: not known. What
// tasks without a name have in common.
using body_kind = const char* (*)();

template <class Body>
const char* kind_of_body() {
  return std::source_location::current().function_name();
}

// Of tasks that are ready, GPUs start those of a higher priority first; from 0.
inline constexpr int highest_priority = 2;

struct task_description {
  exec_place place;
  std::vector<data_access> accesses;
  std::string name;
  body_kind kind = nullptr;
  int priority = 0;
  // All work of the task is launched by a task_stream, so that a persistent program can do it.
  bool as_operations = false;
};

// Throws argument_error when one of the data is to lie on a device: bodies that run on the host cannot reach it there.
void expect_data_on_host(const task_description& what);

class task_run {
 public:
  // Orders the task after those it depends on and brings its data to it. Throws argument_error for data of another
  // context, data that has no value, or a context that is finalized; range_error for a priority that there is not;
  // task_error for data whose writer threw;
  // memory_error when the data does not fit.
  task_run(const std::shared_ptr<context_state>& context, const task_description& what);
  task_run(task_run&&) noexcept;
  task_run& operator=(task_run&&) noexcept;
  // A task that has neither finished nor failed by then fails. Afterwards every other call is an argument_error.
  ~task_run();

  // The devices it runs on, one stream each; a task of the host has one stream too.
  int places() const;
  int pe(int place = 0) const;
  starling::stream& stream(int place = 0);
  // Where the instance of access `which` begins; with a copy on each device, that of a place. Throws range_error.
  std::byte* memory(std::size_t which, int place = 0) const;
  const exec_place& where() const;
  bool on_host() const { return where().is_host(); }
  const machine& on() const;

  // Memory of a place's device for this task's work in its own stream alone, zero at first; a later task may find there
  // what this one leaves.
  std::byte* scratch(int place, std::size_t bytes);
  // Memory of a place's device for work in all streams that follows, until the task ends. Not initialised.
  std::byte* temporary(int place, std::size_t bytes);
  // The place of `r` that this task uses. Of a recorded task it is the place of all launches, which see to that.
  int take(const std::shared_ptr<rotation>& r);
  // Later work in the stream of place 0 starts after the work that all places have so far.
  void gather();

  // Whether the task becomes part of a persistent program; what it launches has to be noted then too.
  bool noted() const;
  void note(int place, int blocks, erased_kernel code, const launch_options& options);
  // Throws task_error: the task cannot be part of a persistent program because of `why`.
  [[noreturn]] void refuse_operation(const std::string& why) const;

  // The work is in the streams.
  void finish();
  // It is not all there: what the task should have written has no value.
  void fail();

 private:
  struct state;
  state& open() const;  // throws argument_error when the task is over
  std::unique_ptr<state> state_;
};

// Where a task on devices launches its kernels: the stream of one of its places, and the persistent program that the
// task becomes part of, if it does. Kernels of the list `Together` are one program.
template <class Together = kernel_list<>>
class task_stream {
 public:
  task_stream(task_run& run, int place) : run_(run), place_(place) {}

  template <kernel_function F>
  void launch(int blocks, const F& f, const launch_options& options = {}) {
    run_.stream(place_).launch(blocks, f, options);
    if (run_.noted()) run_.note(place_, blocks, erase_kernel<Together>(f), options);
  }
  task_run& run() const { return run_; }
  int pe() const { return run_.pe(place_); }
  starling::stream& stream() const { return run_.stream(place_); }

 private:
  task_run& run_;
  int place_;
};

}  // namespace starling::stf
