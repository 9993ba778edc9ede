// Which process of a job this one is, by the variables of whoever has started it.
#pragma once

#include <string>

#include "../variables.hpp"

namespace starling {

struct process_place {
  int rank = 0;
  int size = 1;
  std::string job;     // the same in all processes of the job, and in no others
  std::string source;  // who has told: "starling launch", "mpirun", ...
  bool several_hosts = false;
};

// Whether a launcher has started this process.
bool is_launched(const variables& v);

// Throws unsupported_error where nobody has started several processes, argument_error for numbers that make no sense.
process_place place_of(const variables& v);

// How many PEs each process has when `pes` are wanted in all. Throws argument_error unless that comes out even.
int pes_of_each(int pes);

}  // namespace starling
