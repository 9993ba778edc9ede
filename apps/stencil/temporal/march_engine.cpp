#include "stencil/temporal/march_engine.hpp"

#include "starling/base/error.hpp"
#include "stencil/core/persistent.hpp"
#include "stencil/temporal/march_kernels.hpp"

namespace starling::stencil {

template <class T>
prepared_run march_engine<T>::prepare(domain<T>& d, const march_choice& march, const run_options& options) {
  const int members = d.machine.kind() == machine_kind::host ? 1 : march.threads;
  const launch_options launch{march.threads, march_scratch<T>(members), options.deadline};
  march_arguments<T> a;
  a.f = d.memory;
  const int fit = d.machine.blocks_that_fit(march_kernel(a), launch);
  expect<launch_error>(march.blocks <= fit, "stencil: blocks = ", march.blocks, " per PE, but only ", fit,
                       " fit at once with ", march.threads, " threads each; ask for fewer");
  // Beside the rows there are elements that are loaded and not used.
  for (symmetric_array<T>& cells : cells_) make_zeroed(d, cells, march.layout.elements);
  return {march.blocks, march.threads,
          [this, &d, &options, march, launch](run_result& result) { advance(d, march, launch, options, result); }};
}

template <class T>
void march_engine<T>::advance(domain<T>& d, const march_choice& march, const launch_options& launch,
                              const run_options& options, run_result& result) {
  march_arguments<T> a;
  tell(a, d, options);
  a.f = d.memory;
  a.layout = march.layout;
  for (int slot = 0; slot < 2; ++slot) a.cells[slot] = cells_[slot].data();
  result.depth = march.layout.depth;
  role_plan roles;
  roles.add("strips", march.blocks);
  run_persistent(d, program{roles, march_kernel(a), launch}, options, result);
}

template <class T>
void march_engine<T>::release() {
  for (symmetric_array<T>& cells : cells_) cells.reset();
}

template class march_engine<float>;
template class march_engine<double>;

}  // namespace starling::stencil
