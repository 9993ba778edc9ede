// What every launch must satisfy, on either kind of device.
#pragma once

#include "starling/machine/kernel.hpp"

namespace starling {

// Throws argument_error for a number of threads that no device accepts, or a deadline that is none.
void check_launch_options(const launch_options& options);

// The deadline that applies to a launch, in seconds.
double deadline_of(const launch_options& options, double machine_default);

}  // namespace starling
