// Steps that the host launches many at a time, as one recorded graph on each PE. Nothing of the host's orders the PEs:
// the kernel of a step waits itself for the signals that the neighbours' kernels raise.
//
// Why three slots of the receive buffer are enough: the kernel that stores time level g has the neighbour's signal of
// g - 1, so the neighbour's kernel of step g - 1 runs, and that of step g - 2, the last that reads g - 3, has ended.
#pragma once

#include <vector>

#include "starling/machine/machine.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/plan/launch_shape.hpp"
#include "stencil/step/stencil_kernels.hpp"

namespace starling::stencil {

template <class T>
class flagged_graph {
 public:
  // Records the graphs. One stream for each PE.
  flagged_graph(machine& m, const fields<T>& f, std::vector<stream>& streams, const run_options& options,
                const launch_shape& launch);

  // Puts the faces of the time level that the arrays hold into the neighbours' receive buffers, with their signals.
  void announce(index_t time_level);

  // Issues so many steps from where the last ones ended; each block of the last one leaves its largest change in
  // fields::changes if `check`.
  void issue(index_t steps, bool check);

 private:
  // n steps, then the note that they were done.
  void launch(int pe, index_t n, bool check);

  std::vector<stream>& streams_;
  const run_options& options_;
  const launch_shape& launch_;
  symmetric_array<index_t> reached_;
  flagged_step_arguments<T> arguments_;
  index_t length_ = 0;         // steps of a graph; 0: there is none
  std::vector<graph> graphs_;  // by PE
};

}  // namespace starling::stencil
