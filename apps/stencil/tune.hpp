// Measures what the cost model needs, on the machine at hand.
#pragma once

#include "stencil/cost_model.hpp"

namespace starling::stencil {

// Runs small and large stencils, for about `seconds` each, and works the costs out of their times.
step_costs tune(const machine& m, double seconds = 0.1);

// What the costs are of: the name of the devices without their numbers.
std::string tuned_device(const machine& m);

}  // namespace starling::stencil
