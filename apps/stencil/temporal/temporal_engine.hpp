// Several steps in one pass over memory (`temporal` in two dimensions, where cells do not fit on chip): one persistent
// program whose blocks stream down a strip of columns each.
#pragma once

#include "stencil/core/domain.hpp"
#include "stencil/core/prepared_run.hpp"
#include "stencil/plan/temporal_choice.hpp"

namespace starling::stencil {

template <class T>
class temporal_engine {
 public:
  // Throws launch_error when the blocks do not fit.
  prepared_run prepare(domain<T>& d, const temporal_choice& choice, const run_options& options);
  // Gives the memory back.
  void release();

 private:
  void advance(domain<T>& d, const temporal_choice& choice, const launch_options& launch, const run_options& options,
               run_result& result);

  symmetric_array<T> cells_[2];
};

}  // namespace starling::stencil
