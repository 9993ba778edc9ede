#include "stencil/tiles/tile_engine.hpp"

#include "starling/base/error.hpp"
#include "stencil/core/persistent.hpp"
#include "stencil/tiles/resident_kernels.hpp"

namespace starling::stencil {

template <class T>
prepared_run tile_engine<T>::prepare(domain<T>& d, const tile_choice& tiles, const run_options& options) {
  resident_arguments<T> a;
  a.f = d.memory;
  a.grid = tiles.grid;
  const int blocks = tiles.grid.blocks();
  const int fit = d.machine.blocks_that_fit(resident_kernel(a), {tiles.threads, tiles.scratch_bytes, options.deadline});
  expect<launch_error>(blocks <= fit, "stencil: ", blocks, " tiles per PE, but only ", fit, " blocks fit at once with ",
                       tiles.threads, " threads and ", tiles.scratch_bytes,
                       " bytes of shared memory each; ask for fewer blocks");
  make_zeroed(d, packet_buffer_, packet_slots * blocks * tiles.grid.packets_per_block());
  const index_t elements = blocks * tiles.grid.memory_elements;
  if (memory_.size() < elements) {
    memory_.reset();
    memory_ = d.machine.template allocate<T>(elements);
  }
  return {blocks, tiles.threads,
          [this, &d, &options, tiles](run_result& result) { advance(d, tiles, options, result); }};
}

template <class T>
void tile_engine<T>::advance(domain<T>& d, const tile_choice& tiles, const run_options& options, run_result& result) {
  resident_arguments<T> a;
  configure(a, d, options);
  a.f = d.memory;
  a.grid = tiles.grid;
  if (packet_buffer_.allocated()) a.packet_buffer = packet_buffer_.data();
  if (memory_.allocated()) a.memory = memory_.data();
  a.first_message = d.messages + 1;
  d.messages += options.steps + 1;
  result.depth = tiles.grid.depth;
  role_plan roles;
  roles.add("tiles", tiles.grid.blocks());
  run_persistent(d, program{roles, resident_kernel(a), {tiles.threads, tiles.scratch_bytes, options.deadline}}, options,
                 result);
}

template class tile_engine<float>;
template class tile_engine<double>;

}  // namespace starling::stencil
