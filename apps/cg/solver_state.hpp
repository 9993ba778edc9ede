// What a solver owns on the devices besides the matrix, and what it does with it.
#pragma once

#include <chrono>
#include <memory>

#include "cg/cg_kernels.hpp"
#include "cg/host_controlled.hpp"
#include "cg/matrix.hpp"
#include "cg/solver.hpp"

namespace starling::cg {

// How a solve is launched.
struct launch_shape {
  int blocks = 1;  // per PE, that work
  int threads = 256;
  kept_data kept;
  std::size_t kept_bytes = 0;
  std::size_t scratch_bytes = 0;
};

template <class T>
class solver<T>::state {
 public:
  state(machine m, const csr_view<T>& a, const matrix_options& options);

  solve_result solve(const T* b, T* x, const solve_options& options, const std::function<bool(const progress&)>& watch,
                     bool each);
  void multiply(const T* x, T* y);
  std::vector<double> time_multiply(int products, int repetitions);

  const matrix_facts& facts() const { return matrix_.facts(); }
  machine& device() { return machine_; }

 private:
  void check(const T* b, const T* x, const solve_options& o) const;
  void allocate_boxes(int blocks);
  void store_preconditioner(const solve_options& o);
  launch_shape choose_launch(const solve_options& o);
  std::uint32_t vectors_to_keep(const solve_options& o) const;
  program_arguments<T> arguments(const solve_options& o, const launch_shape& shape);
  void copy_vector(vector_name v, T* host, bool in);
  void iterate(const solve_options& o, solve_result& result, T* x, const std::function<bool(const progress&)>& watch,
               bool each);
  iteration_state run_stretch(program_arguments<T>& a, const launch_shape& shape, const solve_options& o,
                              solve_result& result);
  std::unique_ptr<host_controlled<T>> new_host_controlled(launch_shape& shape, const solve_options& o);
  double residual_of(const T* b);
  void forget_messages();
  void publish(vector_name v);
  void product(vector_name out);
  void synchronize();
  machine machine_;
  matrix<T> matrix_;
  bool products_only_;
  index_t block_size_;
  std::vector<T> diagonal_;
  std::vector<T> inverse_blocks_;
  double highest_eigenvalue_ = 0;
  system_data<T> data_;
  symmetric_array<T> vectors_;
  symmetric_array<T> published_;
  symmetric_array<packet> boxes_;
  symmetric_array<signal> ready_;
  symmetric_array<signal> taken_;
  symmetric_array<packet> parts_;
  symmetric_array<packet> totals_;
  symmetric_array<iteration_state> state_;
  symmetric_array<double> history_;
  symmetric_array<T> m_values_;
  std::vector<stream> streams_;                  // by PE
  std::vector<event> events_;                    // by PE: published
  std::unique_ptr<host_controlled<T>> on_host_;  // of this solve, if the host controls it
  launch_shape product_shape_;
  std::uint64_t launched_product_ = 2;  // number of the last product by launches
  std::uint64_t products_ = 0;          // numbers used so far
  std::uint64_t sums_ = 0;
};

}  // namespace starling::cg
