// program_run: runs operations as persistent programs over a machine, one for each kind of kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "program_plan.hpp"
#include "starling/machine/machine.hpp"

namespace starling::stf {

struct program_rounds {
  std::uint64_t most = 1;
  const std::byte* flag = nullptr;  // of its bytes one that is not 0: another round; null: all of them
  std::size_t flag_bytes = 0;
};

// A program for each kind of kernel among the operations, with blocks of one size: what program_operation::unit counts.
struct program_unit {
  kernel (*make)(const program_tables& tables) = nullptr;
  launch_options options;
  int blocks_wanted = 1;              // by the operation that has most of them
  std::size_t operation_scratch = 0;  // the most that one asks for; the options have room for the block's list besides
};

// Says of each operation which program does it. On virtual devices, where each can do all of them, there are few.
std::vector<program_unit> assign_units(const machine& m, std::vector<program_operation>& operations);

// Chooses who does what and runs it; returns when the last round is over. Throws task_error when the programs do not
// fit, and what machine::run throws: stall_error names the task that a block waited for. The operation that looks at a
// flag, if there is one, is that without code. From when the devices may have done something, `begun` is set.
void run_program(machine& m, operation_list list, const program_rounds& rounds, bool* begun = nullptr);

// The same for a plan that is there.
void run_program(machine& m, const operation_list& list, const std::vector<program_unit>& units,
                 const program_plan& plan, const program_rounds& rounds, bool* begun = nullptr);

}  // namespace starling::stf
