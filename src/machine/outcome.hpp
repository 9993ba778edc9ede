// From the blocks' reports to the error that the host throws.
#pragma once

#include <vector>

#include "launch_rules.hpp"
#include "starling/machine/machine.hpp"

namespace starling {

// Throws stall_error or range_error if the reports hold a first cause; returns otherwise.
void throw_first_cause(const std::vector<block_report>& reports, const program& p, int n_pes, double deadline_seconds);

}  // namespace starling
