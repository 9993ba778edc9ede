// program_run: runs a plan of items as one persistent program over a machine.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "program_plan.hpp"
#include "starling/machine/machine.hpp"

namespace starling::stf {

// Where the functions of items are on the devices, once that has been asked for.
class item_functions {
 public:
  // Throws unsupported_error for code that was compiled for virtual devices only, on GPUs.
  item_function find(machine& m, int pe, const item_code& code);

 private:
  std::map<std::pair<const void*, int>, item_function> known_;  // by finder and device
};

struct program_rounds {
  std::uint64_t most = 1;
  const std::byte* flag = nullptr;  // of one byte or more that is not 0: another round; null: all of them
  std::size_t flag_bytes = 0;
};

// Chooses who does what, and runs it; returns when the last round is over. Throws task_error for items that cannot be
// part of one program, and what machine::run throws: stall_error names the task that a block waited for. The item that
// looks at a flag, if there is one, is that without a function.
void run_program(machine& m, const item_list& list, const program_rounds& rounds, item_functions& functions);

// The same for a plan that is there, by blocks of so many threads.
void run_program(machine& m, const item_list& list, const program_plan& plan, const program_rounds& rounds,
                 item_functions& functions);

}  // namespace starling::stf
