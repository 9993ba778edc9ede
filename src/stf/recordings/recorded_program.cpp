#include "recorded_program.hpp"

#include <algorithm>
#include <numeric>

#include "promised_values.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/recorded_tasks.hpp"
#include "stf/context_state.hpp"
#include "task_scope.hpp"

namespace starling::stf {
void recorded_loop::leave_to_device() {
  const task_scope* all = body->only();
  if (all == nullptr || flag_first || most == 1) return;
  if (flag == nullptr)
    on_device = all->work().loop({most});
  else
    on_device = all->work().loop({most, all->result(*flag)->start, flag->body.what.bytes});
}

void recorded_loop::expect_flag(const char* call) const {
  if (!flag_first) return;
  flag->body.expect_usable(access_mode::read, message("context::", call));
  expect<argument_error>(flag->body.has_value(), "context::", call, ": nothing has been written to the flag, ",
                         flag->body.describe(), ", by then; write it before");
}

void recorded_loop::promise(promised_values& to) const {
  if (otherwise) otherwise->promise(to);
  body->promise(to);
}

void recorded_loop::run(context_state& on) const {
  if (on_device) return on.launch(*body->only(), *on_device, 1);
  if (flag == nullptr) return body->run(most);
  if (flag_first && !on.is_set(*flag)) {
    if (otherwise) otherwise->run(1);
    return;
  }
  for (std::uint64_t i = 1;; ++i) {
    body->run(1);
    if (i == most || !on.is_set(*flag)) return;
  }
}

std::uint64_t recorded_program::launches_a_round() const {
  std::uint64_t all = 1;
  for (const step& s : steps_)
    if (s.tasks) all = std::lcm(all, s.tasks->launches_a_round());
  return all;
}

void recorded_program::set_turns(std::uint64_t launches) const {
  for (const step& s : steps_)
    if (s.tasks) s.tasks->set_turns(launches);
}

std::size_t recorded_program::operations() const {
  std::size_t n = 0;
  for (const step& s : steps_) {
    n += s.tasks ? s.tasks->work().operations() : s.loop.body->operations();
    if (s.loop.otherwise) n += s.loop.otherwise->operations();
  }
  return n;
}

void recorded_program::run(std::uint64_t times) const {
  if (times == 0) return;
  if (task_scope* all = only()) return context_->launch(*all, all->work(), times);
  for (std::uint64_t i = 0; i < times; ++i)
    for (const step& s : steps_) s.tasks ? context_->launch(*s.tasks, s.tasks->work(), 1) : s.loop.run(*context_);
}

const data_instance* recorded_program::result(const data_state& d) const {
  const data_instance* found = nullptr;
  for (auto s = steps_.rbegin(); s != steps_.rend() && found == nullptr; ++s) {
    found = s->tasks ? s->tasks->result(d) : s->loop.body->result(d);
    if (found == nullptr && s->loop.otherwise) found = s->loop.otherwise->result(d);
  }
  return found;
}

const data_instance& recorded_program::expect_result(const data_state& flag, std::uint64_t most) const {
  const data_instance* where = result(flag);
  expect<argument_error>(where != nullptr, "context::repeat_while: no task of the body writes the flag, ",
                         flag.body.describe(), ", so that it would go on for all ", most,
                         " rounds or stop after one; let one of its tasks write it");
  return *where;
}

void recorded_program::promise(promised_values& to) const {
  for (const step& s : steps_) s.tasks ? to.promise(*s.tasks) : s.loop.promise(to);
}

void recorded_tasks::launch(std::uint64_t n) const {
  expect<argument_error>(program_ != nullptr, "recorded_tasks::launch: nothing is recorded; see context::record");
  if (n > 0) program_->context()->launch({.body = program_, .most = n}, "launch of recorded tasks");
}

std::size_t recorded_tasks::operations() const {
  expect<argument_error>(program_ != nullptr, "recorded_tasks::operations: nothing is recorded; see context::record");
  return program_->operations();
}

}  // namespace starling::stf
