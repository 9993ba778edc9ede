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
  if (options.how == variant::automatic) return advance_chosen(options);
  if (options.how == variant::resident || options.how == variant::temporal) return advance_planned(options);
  return timed(options, steps_.prepare(domain_, options));
}

// Where the cells do not fit on chip, the variant does what comes nearest to it.
template <class T>
run_result solver<T>::advance_planned(const run_options& options) {
  const cell_plan plan = plan_cells<T>(domain_.memory.shape, limits_of(domain_.machine), options);
  if (const auto* tiles = std::get_if<tile_choice>(&plan))
    return timed(options, tiles_.prepare(domain_, *tiles, options));
  if (const auto* passes = std::get_if<temporal_choice>(&plan))
    return timed(options, temporal_.prepare(domain_, *passes, options));
  run_options taken = options;
  taken.how = variant::cpu_free;
  taken.depth = 0;
  run_result result = advance(taken);
  result.why = std::get<plain_steps>(plan).why;
  return result;
}

template <class T>
variant_choice solver<T>::chosen(const run_options& options) const {
  check(options);
  const step_costs costs =
      costs_of(domain_.machine.kind(), tuned_device(domain_.machine), domain_.machine.device(0).pes_on_gpu);
  return choose_variant<T>(domain_.memory.shape, limits_of(domain_.machine), costs, options);
}

// What is chosen may need more memory than cpu_free does.
template <class T>
run_result solver<T>::advance_chosen(const run_options& options) {
  const variant_choice& choice = kept_choice(options);
  run_options taken = options;
  taken.how = choice.how;
  taken.depth = choice.depth;
  try {
    run_result result = advance(taken);
    result.why = choice.why;
    return result;
  } catch (const memory_error&) {
    if (!loaded_ || choice.how == variant::cpu_free) throw;
  }
  temporal_.release();
  chosen_->choice.why += message("; ran cpu_free, since the memory left is not enough for ", name(choice.how));
  chosen_->choice.how = variant::cpu_free;
  chosen_->choice.depth = 0;
  return advance_chosen(options);
}

// The choice depends on these options alone; runs come in many calls.
template <class T>
const variant_choice& solver<T>::kept_choice(const run_options& o) {
  const auto uniform_weights = [&](const run_options& other) {
    return o.check_every == other.check_every && o.blocks == other.blocks && o.threads == other.threads &&
           o.depth == other.depth && o.shared_bytes == other.shared_bytes;
  };
  if (!chosen_ || !uniform_weights(chosen_->options)) chosen_ = choice_made{o, chosen(o)};
  return chosen_->choice;
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
