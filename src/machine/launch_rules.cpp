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

void expect_launches(const std::vector<program>& programs, machine_kind kind) {
  for (const program& p : programs) {
    if (!p.launches) continue;
    (void)p.launches->roles.resolve();
    check_launch_options(p.launches->options);
    expect<argument_error>(!p.launches->launches && !p.launches->copies && p.launches->options.scratch_bytes == 0,
                           "program::launches: what is launched from kernels launches nothing itself, sets off no "
                           "copies, and has no scratch memory");
    expect<argument_error>(p.most_pending >= 1, "program::most_pending = ", p.most_pending,
                           "; must be at least 1 where a program launches");
    expect<unsupported_error>(kind != machine_kind::cuda || p.k.can_launch,
                              "machine::run: a kernel that launches others, which takes relocatable code for GPUs, and "
                              "its source is compiled without; name the source in starling_kernels(... LAUNCHES), or "
                              "do without launches: of a region, by another agent");
  }
}

std::vector<program> with_launches(std::vector<program> programs) {
  std::vector<program> launched;
  for (const program& p : programs)
    if (p.launches) launched.push_back(*p.launches);
  programs.insert(programs.end(), launched.begin(), launched.end());
  return programs;
}

double deadline_of(const launch_options& options, double machine_default) {
  return options.deadline > 0 ? options.deadline : machine_default;
}

}  // namespace starling
