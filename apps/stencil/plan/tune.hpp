// Measures what the cost model needs, on the machine at hand.
#pragma once

#include <functional>

#include "stencil/plan/cost_model.hpp"

namespace starling::stencil {

// Runs small and large stencils, for about `seconds` each, and works the costs out of their times. `check_now` is
// called several times a second, between two runs; what it throws ends the measurement.
step_costs tune(const machine& m, double seconds = 0.1, const std::function<void()>& poll = {});

// What the costs are of: the name of the devices without their numbers.
std::string tuned_device(const machine& m);

}  // namespace starling::stencil
