// What a solve for one right-hand side is to reach. Plain data.
#pragma once

#include "cg/iterate/residual_gap.hpp"
#include "starling/base/index.hpp"

namespace starling::cg {

struct goal {
  index_t last_iteration = 0;  // pauses there
  bool final_launch = true;    // of the solve: at the last iteration it stops
  bool fixed = false;
  double target_rho = 0;      // square of the norm to be reached
  index_t replace_every = 0;  // iterations; 0: when the estimate of the gap says so
  gap_scales scales;          // of that estimate; without an epsilon the residual is never replaced
};

}  // namespace starling::cg
