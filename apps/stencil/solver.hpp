// A stencil solver: owns the domain's cells in the symmetric memory of a machine, and advances them step by step.
//
//   stencil::solver<float> s(machine::best(), problem);
//   s.load(u);                              // whole array, C order
//   auto r = s.advance({.steps = 1000});
//   s.store(u);
#pragma once

#include <optional>
#include <vector>

#include "starling/machine/machine.hpp"
#include "stencil/cost_model.hpp"
#include "stencil/fields.hpp"
#include "stencil/launch_shape.hpp"
#include "stencil/march_choice.hpp"
#include "stencil/problem.hpp"
#include "stencil/stencil_kernels.hpp"
#include "stencil/tile_choice.hpp"

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

  // What the variant `automatic` would take on this machine. Throws argument_error for a bad file of measured costs.
  variant_choice chosen(const run_options& options) const;

  machine& device() { return machine_; }
  const geometry& shape() const { return fields_.shape; }

 private:
  struct choice_made {
    run_options options;
    variant_choice choice;
  };

  const variant_choice& kept_choice(const run_options& options);
  run_result advance_chosen(const run_options& options);
  void copy_cells(T* u, bool in);
  void publish();
  int blocks_that_fit(const launch_options& launch, variant how, bool in_turn) const;
  void advance_cpu_free(const run_options& options, const launch_shape& launch, run_result& result);
  void prepare(const tile_choice& tiles, const run_options& options);
  void tell(persistent_run& run, const run_options& options) const;
  template <class Element>
  void make_zeroed(symmetric_array<Element>& array, index_t elements);
  void run_persistent(const program& p, const run_options& options, run_result& result);
  void advance_resident(const run_options& options, const tile_choice& tiles, run_result& result);
  launch_options prepare(const march_choice& march, const run_options& options);
  void advance_marching(const run_options& options, const march_choice& march, const launch_options& launch,
                        run_result& result);
  template <class F>
  run_result timed(const run_options& options, int blocks, int threads, const F& work);
  void advance_from_host(const run_options& options, const launch_shape& launch, run_result& result);
  template <class F>
  void in_looks(const run_options& options, int blocks_with_changes, run_result& result, const F& issue);
  double largest_change(int blocks);
  void equal_slots();
  void begin_taking();
  void synchronize();

  machine machine_;
  std::vector<int> own_pes_;  // of this process
  fields<T> fields_;
  symmetric_array<T> u_[2];
  symmetric_array<T> inbox_;
  symmetric_array<packet> mail_;
  symmetric_array<packet> tile_mail_;
  symmetric_array<T> tile_memory_;
  symmetric_array<T> march_cells_[2];
  symmetric_array<T> outbox_;
  symmetric_array<T> changes_;
  symmetric_array<signal> arrived_;
  symmetric_array<box> boxes_;
  symmetric_array<program_status> status_;
  symmetric_array<std::uint32_t> pieces_taken_;
  std::vector<stream> main_;  // by own PE
  std::vector<stream> side_;  // faces of the overlapping variants
  bool loaded_ = false;
  index_t generation_ = 0;  // of the cells
  index_t messages_ = 0;    // the last number that packets may carry
  index_t reached_ = 0;     // no signal and no slot carries a later one
  std::optional<choice_made> chosen_;
};

}  // namespace starling::stencil
