// Loops of tasks that run as one persistent program.
#include <algorithm>

#include "program_run.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {
namespace {

// The operation that looks at the flag, where it is, after each round.
program_operation deciding(operation_list& list, const data_state& flag, const data_instance& where) {
  program_operation i;
  i.name = "the condition of repeat_while, " + flag.body.describe();
  i.task = ++list.tasks;
  i.pe = where.place.is_composite() ? 0 : worked_on_by(where.place);
  i.accesses = {{where.start, flag.body.what.bytes, false}};
  return i;
}

}  // namespace

void context_state::repeat_on_devices(std::uint64_t most, data_state* flag, const std::function<void()>& body) {
  operation_list list;
  const auto recorded = record(body, &list);
  program_rounds rounds{most};
  if (flag != nullptr) {
    const data_instance& where = recorded->expect_result(*flag, most);
    rounds.flag = where.start;
    rounds.flag_bytes = flag->body.what.bytes;
    if (where.place.is_host())
      list.refused = message("a condition, ", flag->body.describe(), ", that tasks leave on the host");
    else
      list.operations.push_back(deciding(list, *flag, where));
  }
  expect<task_error>(list.refused.empty(),
                     "stf: the tasks of the body cannot be a persistent program, which would have ", list.refused,
                     ", or use a stream_ctx or a graph_ctx for this loop");
  require_outside_tasks("repeat");
  const epoch_end alone(*this);
  expect<argument_error>(!finalized_, "stf: repeat after the context was finalized; make a new context");
  end_epoch();
  streams_.resume();
  if (pending_.any()) write_back_pending();
  recorded->only()->run([&](bool& begun) { run_program(machine_, std::move(list), rounds, &begun); });
  ++launches_;
  graphs_.copies_before = coherence_.statistics().copies;
}

}  // namespace starling::stf
