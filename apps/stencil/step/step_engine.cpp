#include "stencil/step/step_engine.hpp"

#include <algorithm>
#include <memory>

#include "starling/base/error.hpp"
#include "stencil/baselines/flagged_graph.hpp"
#include "stencil/baselines/host_controlled.hpp"
#include "stencil/core/cell_vector.hpp"
#include "stencil/core/persistent.hpp"
#include "stencil/halo/face_chunks.hpp"

namespace starling::stencil {

template <class T>
int step_engine<T>::blocks_that_fit(const domain<T>& d, variant how, int threads, double deadline, bool dynamic) {
  const launch_options launch{threads, scratch_of(faces), deadline};
  const interior_partition interior = partition_interior<T>(d.memory.shape, 1, threads, cell_vector<T>::width, dynamic);
  if (how == variant::graph) {
    flagged_step_arguments<T> step;
    step.a.f = d.memory;
    step.a.interior = interior;
    return d.machine.blocks_that_fit(flagged_step_kernel(step), launch);
  }
  if (how != variant::cpu_free)
    return d.machine.blocks_that_fit(
        step_kernel(step_arguments<T>{.f = d.memory, .interior = interior}, step_part::whole, 0), launch);
  cpu_free_arguments<T> a;
  a.f = d.memory;
  a.interior = interior;
  const int signalled = d.machine.blocks_that_fit(cpu_free_kernel(a), launch);
  a.packets = true;
  return std::min(signalled, d.machine.blocks_that_fit(cpu_free_kernel(a), launch));
}

template <class T>
prepared_run step_engine<T>::prepare(domain<T>& d, const launch_shape& launch, const run_options& options) {
  if (launch.interior.dynamic()) d.reset_tile_counter();
  if (!options.compute) d.equal_slots();
  if (options.how == variant::graph) return prepare_graph(d, launch, options);
  d.publish();
  return {launch.blocks, launch.threads, [this, &d, &options, launch](run_result& result) {
            if (options.how == variant::cpu_free)
              advance_cpu_free(d, launch, options, result);
            else
              advance_from_host(d, launch, options, result);
          }};
}

template <class T>
void step_engine<T>::advance_cpu_free(domain<T>& d, const launch_shape& launch, const run_options& options,
                                      run_result& result) {
  cpu_free_arguments<T> a;
  configure(a, d, options);
  a.f = d.memory;
  a.first_message = d.messages + 1;
  d.messages += options.steps + 1;
  a.interior = launch.interior;
  a.packets = face_bytes<T>(d.memory.shape) <= most_packet_bytes(options, d.machine.kind());
  cut_faces(a, launch);
  role_plan roles;
  if (launch.boundary_blocks == 0) {
    a.boundary_role = a.interior_role = roles.add("boundary and interior", launch.blocks);
  } else {
    a.boundary_role = roles.add("boundary", launch.boundary_blocks);
    a.interior_role = roles.add("interior", launch.blocks - launch.boundary_blocks);
  }
  const launch_options shape{launch.threads, scratch_of(a.chunks_per_block), options.deadline};
  run_persistent(d, program{roles, cpu_free_kernel(a), shape}, options, result);
}

template <class T>
prepared_run step_engine<T>::prepare_graph(domain<T>& d, const launch_shape& launch, const run_options& options) {
  struct recorded {
    launch_shape launch;
    flagged_graph<T> steps;
    recorded(domain<T>& of, const launch_shape& l, const run_options& o)
        : launch(l), steps(of.machine, of.memory, of.main, o, launch) {}
  };
  make_room_for_changes(d, launch.blocks);
  const auto graph = std::make_shared<recorded>(d, launch, options);
  graph->steps.announce(d.time_level);
  return {launch.blocks, launch.threads, [this, &d, &options, graph](run_result& result) {
            between_checks(d, options, graph->launch.blocks, result,
                           [&](index_t to, bool check_now) { graph->steps.issue(to - d.time_level, check_now); });
          }};
}

template <class T>
void step_engine<T>::advance_from_host(domain<T>& d, const launch_shape& launch, const run_options& options,
                                       run_result& result) {
  make_room_for_changes(d, 2 * launch.blocks);
  host_controlled<T> host(d.machine, d.memory, d.main, d.side, options, launch);
  between_checks(d, options, host.blocks_with_changes(), result,
                 [&](index_t to, bool check_now) { host.issue(d.time_level, to, check_now); });
}

template <class T>
void step_engine<T>::make_room_for_changes(domain<T>& d, index_t elements) {
  if (changes_.size() < elements) changes_ = d.machine.template allocate<T>(elements);
  d.memory.changes = changes_.data();
}

// Issues the steps from one convergence check to the next: issue(to, whether to check then).
template <class T>
template <class F>
void step_engine<T>::between_checks(domain<T>& d, const run_options& options, int blocks_with_changes,
                                    run_result& result, const F& issue) {
  const index_t end = d.time_level + options.steps;
  const index_t every = options.check_every > 0 ? options.check_every : options.steps;
  while (d.time_level < end) {
    const index_t to = std::min(d.time_level + every, end);
    const bool check_now = options.check_every > 0 && to - d.time_level == every;
    issue(to, check_now);
    d.synchronize();
    d.time_level = to;
    if (!check_now) continue;
    result.change = largest_change(d, blocks_with_changes);
    if (result.change <= options.tolerance) break;
  }
}

template <class T>
double step_engine<T>::largest_change(domain<T>& d, int blocks) {
  std::vector<T> seen(static_cast<std::size_t>(blocks));
  T largest = 0;
  for (int pe = 0; pe < d.machine.size(); ++pe) {
    d.machine.copy(seen.data(), changes_.on(pe), seen.size() * sizeof(T));
    for (const T change : seen) largest = maximum{}(largest, change);
  }
  return static_cast<double>(largest);
}

template class step_engine<float>;
template class step_engine<double>;

}  // namespace starling::stencil
