#include "stencil/temporal/march_engine.hpp"

#include "starling/base/error.hpp"
#include "stencil/core/persistent.hpp"
#include "stencil/temporal/march_kernels.hpp"

namespace starling::stencil {

template <class T>
prepared_run march_engine<T>::prepare(domain<T>& d, const march_choice& choice, const run_options& options) {
  const int members = d.machine.kind() == machine_kind::host ? 1 : choice.threads;
  const launch_options launch{choice.threads, march_scratch<T>(members), options.deadline};
  march_arguments<T> a;
  a.f = d.memory;
  const int fit = d.machine.blocks_that_fit(march_kernel(a), launch);
  expect<launch_error>(choice.blocks <= fit, "stencil: blocks = ", choice.blocks, " per PE, but only ", fit,
                       " fit at once with ", choice.threads, " threads each; ask for fewer");
  // Beside the rows there are elements that are loaded and not used.
  for (symmetric_array<T>& cells : cells_) make_zeroed(d, cells, choice.layout.elements);
  return {choice.blocks, choice.threads,
          [this, &d, &options, choice, launch](run_result& result) { advance(d, choice, launch, options, result); }};
}

template <class T>
void march_engine<T>::advance(domain<T>& d, const march_choice& choice, const launch_options& launch,
                              const run_options& options, run_result& result) {
  march_arguments<T> a;
  tell(a, d, options);
  a.f = d.memory;
  a.layout = choice.layout;
  for (int slot = 0; slot < 2; ++slot) a.cells[slot] = cells_[slot].data();
  result.depth = choice.layout.depth;
  role_plan roles;
  roles.add("strips", choice.blocks);
  run_persistent(d, program{roles, march_kernel(a), launch}, options, result);
}

template <class T>
void march_engine<T>::release() {
  for (symmetric_array<T>& cells : cells_) cells.reset();
}

template class march_engine<float>;
template class march_engine<double>;

}  // namespace starling::stencil
