// The copy engines of virtual devices: queues of triggered copies, each a block of the run, or of a launch, that sleeps
// until the word of its next step is raised.
#pragma once

#include "starling/machine/machine.hpp"

namespace starling::host {

// The program whose block q is queue q of its PE. `copies` must live longer.
program copy_queues(const triggered_copies& copies);
// The same of copies that a launch sets off: for a launch in another stream.
program copy_queues(const launch_copies& copies);

}  // namespace starling::host
