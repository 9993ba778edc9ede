// What a fault plan must satisfy.
#pragma once

#include "starling/machine/faults.hpp"

namespace starling {

// Throws argument_error that names the fault, the value and what is allowed.
void check_faults(const fault_plan& plan, int n_pes);

// The selector of a fault of calls; null for fail_allocation.
const fault_selector* selector_of(const fault& f);

}  // namespace starling
