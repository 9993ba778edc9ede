// recorded_tasks: what context::record returns. Tasks that were submitted once and can be done any number of times, as
// one operation among the others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace starling::stf {

class recorded_program;

class recorded_tasks {
 public:
  // None; using it is an argument_error.
  recorded_tasks() = default;
  explicit recorded_tasks(std::shared_ptr<const recorded_program> program) : program_(std::move(program)) {}

  // Does the tasks n times, one time after the other, as if they were submitted again: after the tasks so far whose
  // data they use, and before those that come. Ends an epoch. Not within a task. Within a body that is recorded the
  // launches become part of that recording. Throws argument_error when the context is finalized or data that they read
  // has no value, task_error when it has none because a task threw, memory_error when it does not fit.
  void launch(std::uint64_t n = 1) const;

  // How many launches, copies, fills and calls there are in them, as the device counts them.
  std::size_t operations() const;

 private:
  std::shared_ptr<const recorded_program> program_;
};

}  // namespace starling::stf
