#include "stencil/solver.hpp"

#include <chrono>
#include <cmath>

#include "starling/base/error.hpp"
#include "stencil/plan/cost_file.hpp"
#include "stencil/plan/tune.hpp"

namespace starling::stencil {
namespace {

void check(const run_options& o) {
  expect<argument_error>(o.steps >= 1, "stencil: steps = ", o.steps, "; must be at least 1");
  expect<argument_error>(o.check_every >= 0, "stencil: check_every = ", o.check_every,
                         "; must be at least 1, or 0 for never");
  expect<argument_error>(std::isfinite(o.tolerance) && o.tolerance >= 0, "stencil: tolerance = ", o.tolerance,
                         "; must be finite and at least 0");
  expect<argument_error>(o.tolerance == 0 || o.check_every > 0, "stencil: tolerance = ", o.tolerance,
                         " without check_every; say after how many steps to check");
  expect<argument_error>(o.boundary_blocks >= -1, "stencil: boundary_blocks = ", o.boundary_blocks,
                         "; must be at least 0, or -1 to choose");
  expect<argument_error>(o.packet_bytes >= -1, "stencil: packet_bytes = ", o.packet_bytes,
                         "; must be at least 0, or -1 to choose");
  expect<argument_error>(o.depth >= 0 && o.depth <= most_depth, "stencil: depth = ", o.depth, "; must be from 1 to ",
                         most_depth, ", or 0 to choose");
  expect<argument_error>(o.depth <= 1 || o.how == variant::temporal || o.how == variant::automatic,
                         "stencil: depth = ", o.depth, " with the variant ", name(o.how),
                         ", which exchanges in every step; choose the variant temporal");
}

}  // namespace

template <class T>
solver<T>::solver(machine m, const problem<T>& p) : domain_(std::move(m), p) {}

template <class T>
void solver<T>::load(const T* u) {
  expect<argument_error>(u != nullptr, "stencil: load from a null pointer");
  domain_.load(u);
  loaded_ = true;
}

template <class T>
void solver<T>::store(T* u) {
  expect<argument_error>(u != nullptr, "stencil: store to a null pointer");
  expect<argument_error>(loaded_, "stencil: nothing to store; load() first, and again after an error");
  domain_.store(u);
}

template <class T>
run_result solver<T>::advance(const run_options& options) {
  check(options);
  expect<argument_error>(loaded_, "stencil: nothing to advance; load() first, and again after an error");
  return options.how == variant::automatic ? advance_chosen(options) : run(plan(options), options);
}

template <class T>
run_plan solver<T>::plan(const run_options& options) const {
  check(options);
  const machine& m = domain_.machine;
  const auto fit = [&](variant how, int threads, bool dynamic) {
    return step_engine<T>::blocks_that_fit(domain_, how, threads, options.deadline, dynamic);
  };
  const auto costs = [&m] { return costs_of(m.kind(), tuned_device(m), m.device(0).pes_on_gpu); };
  const device_info& d = m.device(0);
  const int most_blocks = d.pes_on_gpu > 1 && !d.partitioned ? d.multiprocessors : 0;
  return make_plan<T>(domain_.memory.shape, {limits_of(m), m.processes(), fit, costs, most_blocks}, options);
}

// What is chosen may need more memory than cpu_free does.
template <class T>
run_result solver<T>::advance_chosen(const run_options& options) {
  const run_plan& chosen = kept_plan(options);
  try {
    return run(chosen, options);
  } catch (const memory_error&) {
    if (!loaded_ || chosen.how == variant::cpu_free) throw;
  }
  temporal_.release();
  const std::string why =
      message(chosen.why, "; ran cpu_free, since the memory left is not enough for ", name(chosen.how));
  run_options taken = options;
  taken.how = variant::cpu_free;
  taken.depth = 0;
  kept_->plan = plan(taken);
  kept_->plan.why = why;
  return run(kept_->plan, options);
}

// The plan depends on these options alone; runs come in many calls.
template <class T>
const run_plan& solver<T>::kept_plan(const run_options& o) {
  const auto same_plan = [&](const run_options& other) {
    return o.check_every == other.check_every && o.blocks == other.blocks && o.threads == other.threads &&
           o.boundary_blocks == other.boundary_blocks && o.depth == other.depth &&
           o.shared_bytes == other.shared_bytes && o.deadline == other.deadline;
  };
  if (!kept_ || !same_plan(kept_->options)) kept_ = made_plan{o, plan(o)};
  return kept_->plan;
}

template <class T>
run_result solver<T>::run(const run_plan& plan, const run_options& options) {
  run_options taken = options;
  taken.how = plan.how;
  taken.depth = plan.depth;
  run_result result;
  if (const auto* tiles = std::get_if<tile_choice>(&plan.engine))
    result = timed(taken, tiles_.prepare(domain_, *tiles, taken));
  else if (const auto* passes = std::get_if<temporal_choice>(&plan.engine))
    result = timed(taken, temporal_.prepare(domain_, *passes, taken));
  else
    result = timed(taken, steps_.prepare(domain_, std::get<launch_shape>(plan.engine), taken));
  result.why = plan.why;
  return result;
}

// What went well is in the result; after an error the cells are lost.
template <class T>
run_result solver<T>::timed(const run_options& options, const prepared_run& run) {
  run_result result;
  result.how = options.how;
  result.blocks = run.blocks;
  result.threads = run.threads;
  loaded_ = false;
  const index_t before = domain_.time_level;
  domain_.reached = before + options.steps;
  const auto start = std::chrono::steady_clock::now();
  try {
    run.work(result);
  } catch (...) {
    domain_.settle();  // the machine is to be usable afterwards
    throw;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.steps = domain_.time_level - before;
  result.converged = options.check_every > 0 && result.change <= options.tolerance;
  loaded_ = true;
  return result;
}

template class solver<float>;
template class solver<double>;

}  // namespace starling::stencil
