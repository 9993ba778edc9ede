// One step at a time over cells in memory: `cpu_free`, one persistent program, and what it is compared with, the steps
// that the host launches: `copy`, `overlap`, `p2p` and `graph`.
#pragma once

#include "stencil/core/domain.hpp"
#include "stencil/core/prepared_run.hpp"
#include "stencil/plan/launch_shape.hpp"

namespace starling::stencil {

template <class T>
class step_engine {
 public:
  // How many blocks of so many threads a PE holds of each kernel that the variant may run; see plan_device. Throws
  // argument_error for threads and a deadline that no launch may have.
  static int blocks_that_fit(const domain<T>& d, variant how, int threads, double deadline, bool dynamic);

  prepared_run prepare(domain<T>& d, const launch_shape& launch, const run_options& options);

 private:
  prepared_run prepare_graph(domain<T>& d, const launch_shape& launch, const run_options& options);
  void advance_cpu_free(domain<T>& d, const launch_shape& launch, const run_options& options, run_result& result);
  void advance_from_host(domain<T>& d, const launch_shape& launch, const run_options& options, run_result& result);
  template <class F>
  void between_checks(domain<T>& d, const run_options& options, int blocks_with_changes, run_result& result,
                      const F& issue);
  double largest_change(domain<T>& d, int blocks);
  void make_room_for_changes(domain<T>& d, index_t elements);

  symmetric_array<T> changes_;  // the largest of each block
};

}  // namespace starling::stencil
