#include "stencil/plan/plan.hpp"

#include <utility>

#include "starling/base/error.hpp"

namespace starling::stencil {
namespace {

run_options with(run_options options, variant how, int depth) {
  options.how = how;
  options.depth = depth;
  return options;
}

template <class T>
run_plan plan_steps(const geometry& g, const plan_device& device, const run_options& options) {
  expect<unsupported_error>(options.how == variant::cpu_free || device.processes == 1, "stencil: the variant ",
                            name(options.how),
                            " is for one process, since the host controls it; take cpu_free, "
                            "resident or temporal, or machine::host(n)");
  const auto fits = [&](int threads, bool dynamic) { return device.blocks_that_fit(options.how, threads, dynamic); };
  return {
      options.how, options.depth, choose_launch<T>(g, device.limits.kind, options, fits, device.most_blocks), 0, {}};
}

// Where the cells do not fit on chip, the variant does what comes nearest to it.
template <class T>
run_plan plan_on_chip(const geometry& g, const plan_device& device, const run_options& options) {
  cell_plan cells = plan_cells<T>(g, device.limits, options);
  if (auto* tiles = std::get_if<tile_choice>(&cells)) return {options.how, options.depth, std::move(*tiles), 0, {}};
  if (auto* passes = std::get_if<temporal_choice>(&cells))
    return {options.how, options.depth, std::move(*passes), 0, {}};
  run_plan plain = plan_steps<T>(g, device, with(options, variant::cpu_free, 0));
  plain.why = std::get<plain_steps>(cells).why;
  return plain;
}

}  // namespace

template <class T>
run_plan make_plan(const geometry& g, const plan_device& device, const run_options& options) {
  if (options.how == variant::resident || options.how == variant::temporal) return plan_on_chip<T>(g, device, options);
  if (options.how != variant::automatic) return plan_steps<T>(g, device, options);
  const variant_choice choice = choose_variant<T>(g, device.limits, device.costs(), options);
  run_plan plan = make_plan<T>(g, device, with(options, choice.how, choice.depth));
  plan.us = choice.us;
  plan.why = choice.why;
  return plan;
}

template run_plan make_plan<float>(const geometry&, const plan_device&, const run_options&);
template run_plan make_plan<double>(const geometry&, const plan_device&, const run_options&);

}  // namespace starling::stencil
