// What the persistent programs have in common: how each is configured for a run, and the status that it leaves.
#pragma once

#include "stencil/core/domain.hpp"

namespace starling::stencil {

template <class T>
void configure(persistent_run& run, const domain<T>& d, const run_options& options);

// Runs it, and takes over the status: the domain's time level and the largest change.
template <class T>
void run_persistent(domain<T>& d, const program& p, const run_options& options, run_result& result);

}  // namespace starling::stencil
