// What every launch must satisfy, on either kind of device.
#pragma once

#include <string>

#include "starling/machine/kernel.hpp"

namespace starling {

// Throws argument_error for a number of threads that no device accepts, or a deadline that is none.
void check_launch_options(const launch_options& options);

// Why a barrier or reduction in a launch of a stream is refused, and what to do.
std::string refused_in_launch(operation op);

// The deadline that applies to a launch, in seconds.
double deadline_of(const launch_options& options, double machine_default);

}  // namespace starling
