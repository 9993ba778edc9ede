// recorded_program: what the tasks of a body have become that was recorded. Mostly one graph. Where the body has loops
// with a condition, branches or launches of other recordings in it, it is graphs and these in turn, which the host sets
// off one after the other; it waits for a device only where it has to look at a flag.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "starling/machine/stream.hpp"

namespace starling::stf {

class context_state;
class data_state;
struct data_instance;
class promised_values;
class recorded_program;
class task_scope;

// A program that is done several times.
struct recorded_loop {
  std::shared_ptr<const recorded_program> body;
  std::uint64_t most = 1;
  std::shared_ptr<data_state> flag = nullptr;  // null: so many times
  // Looked at before the first time too; otherwise the body is done once in any case.
  bool flag_first = false;
  std::shared_ptr<const recorded_program> otherwise = nullptr;  // done when the first look forbids the body
  std::optional<graph> on_device = {};                          // does all of it on its own

  // Has the device do it on its own, if it can.
  void leave_to_device();
  // Throws argument_error when the host would look for a value that the flag does not have.
  void expect_flag(const char* call) const;
  // Puts it in line on the context that it was recorded in.
  void run(context_state& on) const;
  // Promises what a run leaves.
  void promise(promised_values& to) const;
};

class recorded_program {
 public:
  struct step {
    std::shared_ptr<task_scope> tasks;  // null: the loop
    recorded_loop loop = {};
  };

  explicit recorded_program(std::shared_ptr<context_state> context) : context_(std::move(context)) {}

  const std::shared_ptr<context_state>& context() const { return context_; }
  void add(step s) { steps_.push_back(std::move(s)); }
  bool has_steps() const { return !steps_.empty(); }

  // All tasks, if they are one graph; null: they are not.
  task_scope* only() const { return steps_.size() == 1 ? steps_.front().tasks.get() : nullptr; }
  std::size_t operations() const;
  // Puts it in line `times` times.
  void run(std::uint64_t times) const;
  // The instance that has the value of this data after a run, one on a device if there is; null: nothing writes it.
  const data_instance* result(const data_state& d) const;
  // The same of the flag of a loop; throws argument_error when nothing writes it.
  const data_instance& expect_result(const data_state& flag, std::uint64_t most) const;
  void promise(promised_values& to) const;
  // As those of task_scope, of all its tasks.
  std::uint64_t launches_a_round() const;
  void set_turns(std::uint64_t launches) const;

 private:
  std::shared_ptr<context_state> context_;
  std::vector<step> steps_;
};

}  // namespace starling::stf
