#include "stencil/core/persistent.hpp"

#include <cmath>

namespace starling::stencil {
namespace {

// Whether a cell adds the same to each of its neighbours, in two dimensions; of zeros, of the same sign.
template <class T>
bool uniform_weights(const coefficients<T>& w) {
  for (const T other : {w.high[1], w.low[2], w.high[2]})
    if (other != w.low[1] || std::signbit(other) != std::signbit(w.low[1])) return false;
  return true;
}

}  // namespace

template <class T>
void configure(persistent_run& run, const domain<T>& d, const run_options& options) {
  run.first = d.time_level;
  run.steps = options.steps;
  run.check_every = options.check_every;
  run.tolerance = options.tolerance;
  run.compute = options.compute;
  run.uniform_weights = uniform_weights(d.memory.weight);
  run.status = d.status.data();
}

template <class T>
void run_persistent(domain<T>& d, const program& p, const run_options& options, run_result& result) {
  d.machine.run({p});
  program_status status;
  d.machine.copy(&status, d.status.on(0), sizeof status);
  d.time_level = status.time_level;
  if (options.check_every > 0 && options.steps >= options.check_every) result.change = status.change;
}

template void configure(persistent_run&, const domain<float>&, const run_options&);
template void configure(persistent_run&, const domain<double>&, const run_options&);
template void run_persistent(domain<float>&, const program&, const run_options&, run_result&);
template void run_persistent(domain<double>&, const program&, const run_options&, run_result&);

}  // namespace starling::stencil
