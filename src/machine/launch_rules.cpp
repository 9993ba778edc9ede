#include "launch_rules.hpp"

#include "starling/base/error.hpp"

namespace starling {

void check_launch_options(const launch_options& options) {
  expect<argument_error>(options.threads >= 32 && options.threads <= 1024 && options.threads % 32 == 0,
                         "launch_options: threads = ", options.threads, "; must be a multiple of 32 from 32 to 1024");
  expect<argument_error>(options.deadline >= 0 && options.deadline < 1e6,
                         "launch_options: deadline = ", options.deadline,
                         " s; must be more than 0 and less than 1e6, or 0 for the machine's own");
}

std::string refused_in_launch(operation op) {
  return op == operation::sync_pe
             ? " in a plain launch, whose blocks need not be resident together; set launch_options::resident, or run "
               "the "
               "kernel as a persistent program: machine::run"
             : " in a plain launch, whose blocks are all of one PE and may meet by sync_pe alone; run the kernel as a "
               "persistent program: machine::run";
}

double deadline_of(const launch_options& options, double machine_default) {
  return options.deadline > 0 ? options.deadline : machine_default;
}

}  // namespace starling
