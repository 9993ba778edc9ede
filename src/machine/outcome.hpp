// From the blocks' reports to the error that the host throws.
#pragma once

#include <vector>

#include "launch_rules.hpp"
#include "starling/machine/machine.hpp"

namespace starling {

// Throws stall_error, range_error or argument_error if the reports hold a first cause; returns otherwise. `injected`:
// faults that were made to happen, in words.
void throw_first_cause(const std::vector<block_report>& reports, const program& p, int n_pes, double deadline_seconds,
                       const std::vector<std::string>& injected = {});

}  // namespace starling
