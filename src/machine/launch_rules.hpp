// What every launch must satisfy, on either kind of device.
#pragma once

#include <string>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling {

// Throws argument_error for a number of threads that no device accepts, or a deadline that is none.
void check_launch_options(const launch_options& options);

// Why a barrier or reduction in a launch of a stream is refused, and what to do.
std::string refused_in_launch(operation op);

// Throws argument_error for what a program cannot launch, unsupported_error where its kernel can launch nothing.
void expect_launches(const std::vector<program>& programs, machine_kind kind);

// These, and behind them what they launch.
std::vector<program> with_launches(std::vector<program> programs);

// The deadline that applies to a launch, in seconds.
double deadline_of(const launch_options& options, double machine_default);

}  // namespace starling
