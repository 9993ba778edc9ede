// A run that an engine has made ready: memory, recorded graphs and first exchanges are there, and what is left is
// timed.
#pragma once

#include <functional>

#include "stencil/problem.hpp"

namespace starling::stencil {

struct prepared_run {
  int blocks = 0;   // per PE
  int threads = 0;  // per block
  // Advances the domain and fills in the change and the depth. To be called once, while the engine, the domain and the
  // options that it was made for are as they were.
  std::function<void(run_result&)> work;
};

}  // namespace starling::stencil
