#include "stencil/temporal/temporal_engine.hpp"

#include "starling/base/error.hpp"
#include "stencil/core/persistent.hpp"
#include "stencil/temporal/temporal_kernels.hpp"

namespace starling::stencil {

template <class T>
prepared_run temporal_engine<T>::prepare(domain<T>& d, const temporal_choice& choice, const run_options& options) {
  const int members = d.machine.kind() == machine_kind::host ? 1 : choice.threads;
  const launch_options launch{choice.threads, temporal_scratch<T>(members), options.deadline};
  temporal_arguments<T> a;
  a.f = d.memory;
  const int fit = d.machine.blocks_that_fit(temporal_kernel(a), launch);
  expect<launch_error>(choice.blocks <= fit, "stencil: blocks = ", choice.blocks, " per PE, but only ", fit,
                       " fit at once with ", choice.threads, " threads each; ask for fewer");
  // Beside the rows there are elements that are loaded and not used.
  for (symmetric_array<T>& cells : cells_) make_zeroed(d, cells, choice.layout.elements);
  return {choice.blocks, choice.threads,
          [this, &d, &options, choice, launch](run_result& result) { advance(d, choice, launch, options, result); }};
}

template <class T>
void temporal_engine<T>::advance(domain<T>& d, const temporal_choice& choice, const launch_options& launch,
                                 const run_options& options, run_result& result) {
  temporal_arguments<T> a;
  configure(a, d, options);
  a.f = d.memory;
  a.layout = choice.layout;
  for (int slot = 0; slot < 2; ++slot) a.cells[slot] = cells_[slot].data();
  result.depth = choice.layout.depth;
  role_plan roles;
  roles.add("strips", choice.blocks);
  run_persistent(d, program{roles, temporal_kernel(a), launch}, options, result);
}

template <class T>
void temporal_engine<T>::release() {
  for (symmetric_array<T>& cells : cells_) cells.reset();
}

template class temporal_engine<float>;
template class temporal_engine<double>;

}  // namespace starling::stencil
