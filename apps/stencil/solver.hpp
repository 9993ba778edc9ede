// A stencil solver: owns the domain's cells in the symmetric memory of a machine, and advances them step by step, by
// the engine that make_plan names: that of the variant asked for, or of the one that a model of costs says is fastest.
//
//   stencil::solver<float> s(machine::best(), problem);
//   s.load(u);                              // whole array, C order
//   auto r = s.advance({.steps = 1000});
//   s.store(u);
#pragma once

#include <optional>

#include "starling/machine/machine.hpp"
#include "stencil/core/domain.hpp"
#include "stencil/plan/plan.hpp"
#include "stencil/problem.hpp"
#include "stencil/step/step_engine.hpp"
#include "stencil/temporal/temporal_engine.hpp"
#include "stencil/tiles/tile_engine.hpp"

namespace starling::stencil {

template <class T>
class solver {
 public:
  // Throws argument_error for a problem that is none, memory_error when it does not fit.
  solver(machine m, const problem<T>& p);

  // Copies the whole array in: C order, in memory of the host or of a GPU of the machine.
  void load(const T* u);
  // Copies the whole array out.
  void store(T* u);

  // Goes on from where the cells are. After an error they are lost: load() again. The variant `automatic` chooses once,
  // and again for other options.
  run_result advance(const run_options& options);

  // What advance would do. Throws what make_plan throws, and argument_error for a bad file of measured costs.
  run_plan plan(const run_options& options) const;

  machine& device() { return domain_.machine; }
  const geometry& shape() const { return domain_.memory.shape; }

 private:
  struct made_plan {
    run_options options;
    run_plan plan;
  };

  const run_plan& kept_plan(const run_options& options);
  run_result advance_chosen(const run_options& options);
  run_result run(const run_plan& plan, const run_options& options);
  run_result timed(const run_options& options, const prepared_run& run);

  domain<T> domain_;
  step_engine<T> steps_;
  tile_engine<T> tiles_;
  temporal_engine<T> temporal_;
  bool loaded_ = false;
  std::optional<made_plan> kept_;  // of the variant `automatic`
};

}  // namespace starling::stencil
