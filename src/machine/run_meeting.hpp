// How the processes of a machine begin a run together, and learn how it has ended in each of them.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "distributed/process_group.hpp"
#include "starling/machine/machine.hpp"

namespace starling {

// How a process's part of a run has ended.
struct part_of_run {
  bool ended = false;   // its blocks, or others', have ended the programs
  std::string problem;  // beyond what the blocks report; empty: none
};

// What was thrown, in words; empty: nothing.
std::string text_of(const std::exception_ptr& problem);

class run_meeting {
 public:
  explicit run_meeting(process_group& processes) : processes_(processes) {}

  // Throws argument_error in all processes unless they run the same. `traced`: blocks record.
  void begin(const std::vector<program>& programs, bool traced);

  // Returns when all blocks of all processes have: what each process says, by rank. The deadline runs while `hurried`.
  std::vector<part_of_run> end(const part_of_run& mine, const std::function<bool()>& hurried);
  static bool any_ended(const std::vector<part_of_run>& parts);
  // Throws process_error with what another process has ended the programs for.
  static void expect_no_problem(const std::vector<part_of_run>& parts);

 private:
  process_group& processes_;
};

}  // namespace starling
