// How virtual devices run persistent programs.
#include <cstring>

#include "../launch_rules.hpp"
#include "../program_control.hpp"
#include "../run_meeting.hpp"
#include "copy_queue.hpp"
#include "deferred.hpp"
#include "host_backend.hpp"
#include "host_call.hpp"
#include "running.hpp"
#include "starling/base/error.hpp"
#include "together.hpp"

namespace starling::host {
namespace {

using control_list = std::vector<std::unique_ptr<program_control>>;
using run_list = std::vector<std::unique_ptr<running>>;

// For each program, behind which `given` there are what some of them launch: the number of that; -1: it launches
// nothing.
std::vector<int> launched_by(const std::vector<program>& given) {
  std::vector<int> all;
  auto next = static_cast<int>(given.size());
  for (const program& p : given) all.push_back(p.launches ? next++ : -1);
  return all;
}

// The programs, and what makes the copies that they set off.
std::vector<program> with_copy_queues(std::vector<program> programs) {
  std::vector<program> queues;
  for (const program& p : programs)
    if (p.copies) queues.push_back(copy_queues(*p.copies));
  programs.insert(programs.end(), queues.begin(), queues.end());
  return programs;
}

// Control words of each program, cleared on these PEs.
control_list new_controls(symmetric_heap& heap, const std::vector<program>& programs, index_range pes) {
  control_list all;
  for (const program& p : programs) {
    all.push_back(std::make_unique<program_control>(heap, p.roles.blocks()));
    for (auto pe = static_cast<int>(pes.begin); pe < pes.end; ++pe)
      std::memset(heap.on(all.back()->offset(), pe), 0, all.back()->bytes());
  }
  return all;
}

}  // namespace

void host_backend::run(const std::vector<program>& given) {
  expect_outside_of_host_call("machine::run");
  const std::vector<program> programs = with_copy_queues(with_launches(given));
  const std::vector<int> launched = launched_by(given);
  const control_list controls = new_controls(control_heap_, programs, own_);
  if (checker_) {
    deferred_->drain();
    std::vector<check::checked_program> checked;
    for (std::size_t i = 0; i < programs.size(); ++i) checked.push_back({&programs[i], controls[i]->words()});
    for (std::size_t i = 0; i < given.size(); ++i)
      if (launched[i] >= 0) checked[static_cast<std::size_t>(launched[i])].launched_by = static_cast<int>(i);
    checker_->run(checked);
    return;
  }
  std::atomic<std::uint64_t> ended_here{0};
  run_group group{heap_, control_heap_, local_, lot_, traffic_, {processes_ ? shared_.ended : ended_here, ++runs_}};
  group.faults = faults();
  group.network = network_;
  group.own = own_;
  if (processes_) group.reports = &control_heap_;
  if (group.faults) group.faults->begin_run();
  run_list runs;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const program& p = programs[i];
    runs.push_back(std::make_unique<running>(group, p, controls[i]->words(), n_pes(), p.roles.blocks(),
                                             deadline_of(p.options, deadline_)));
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    if (launched[i] >= 0) runs[i]->launch_into(*runs[static_cast<std::size_t>(launched[i])]);
  if (processes_) run_meeting(*processes_).begin(programs, false);  // all have cleared their words
  const std::string problem = run_blocks(programs, runs);
  if (processes_) return end_together(group, runs, problem);
  expect<device_error>(problem.empty(), "machine::run: ", problem);
  for (const auto& r : runs) r->rethrow();
}

// Returns what kept blocks from being started.
std::string host_backend::run_blocks(const std::vector<program>& programs, const run_list& runs) {
  const std::shared_ptr<recorder> tracer = trace();
  std::vector<std::unique_ptr<program_log>> logs;  // of each program, if there is a tracer
  for (std::size_t i = 0; i < programs.size() && tracer; ++i) {
    logs.push_back(std::make_unique<program_log>(n_pes(), programs[i].roles.blocks(), tracer->capacity()));
    runs[i]->record_into(*logs.back());
  }
  const std::uint64_t start = target::now_ns();
  std::vector<running*> together;
  for (const auto& r : runs) together.push_back(r.get());
  const std::string problem = run_together(together, own_);
  // Also of a program that was ended: then it is needed most. Virtual devices have one clock.
  const clock_alignment one_clock{.pes = std::vector<clock_alignment::to_first>(devices_.size())};
  for (std::size_t i = 0; i < logs.size(); ++i)
    tracer->add(programs[i].roles, *logs[i], start, target::now_ns(), one_clock);
  return problem;
}

}  // namespace starling::host
