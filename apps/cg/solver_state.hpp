// What a solver owns on the devices besides the matrix, and what it does with it.
#pragma once

#include <chrono>
#include <memory>

#include "cg/host/host_controlled.hpp"
#include "cg/host/launched_products.hpp"
#include "cg/solver.hpp"
#include "sparse/matrix.hpp"

namespace starling::cg {

inline constexpr index_t most_history = 16385;  // entries that a launch may write: its iterations, and their start

template <class T>
class solver<T>::state {
 public:
  state(machine m, const csr_view<T>& a, const matrix_options& options);

  std::vector<solve_result> solve(const T* b, T* x, index_t columns, const solve_options& options,
                                  const std::function<bool(const progress&)>& watch, bool each);
  void multiply(const T* x, T* y);
  std::vector<double> time_multiply(int products, int repetitions) {
    return products_by_launch_.time(data_, products, repetitions);
  }

  const matrix_facts& facts() const { return matrix_.facts(); }
  machine& device() { return machine_; }

 private:
  void allocate_receive_slots(int blocks);
  double store_preconditioner(const solve_options& o);
  sym<T> vector_at(vector_name v) const { return data_.vectors + v * data_.stride; }
  void copy_rows(sym<T> there, T* host, bool in);
  void forget_messages();

  // ---- solve.cpp ----
  struct job;  // one call of solve
  goal goal_of(const solve_options& o, const T* b, const T* x, double norm_m, solve_result& result) const;
  void place_columns(index_t columns);
  void iterate(job& j);
  launch_shape choose_shape(const solve_options& o);
  void begin_column(const job& j, iteration_state& now, index_t column);
  iteration_state run_stretch(job& j, program_arguments<T>& a, const launch_shape& shape, const iteration_state& from);
  void note_columns(job& j, const iteration_state& from, const iteration_state& now, double seconds);
  void note_column(solve_result& result, const iteration_state& st, index_t from, const std::vector<double>& history);
  std::unique_ptr<host_controlled<T>> new_host_controlled(launch_shape& shape, const solve_options& o);
  double residual_of(const T* b);

  machine machine_;
  std::vector<int> own_pes_;  // of this process
  matrix<T> matrix_;
  bool products_only_;
  index_t block_size_;
  std::vector<T> diagonal_;
  std::vector<T> inverse_blocks_;
  double highest_eigenvalue_ = 0;
  system_data<T> data_;
  symmetric_array<T> vectors_;
  symmetric_array<T> published_;
  symmetric_array<packet> receive_slots_;
  symmetric_array<signal> ready_;
  symmetric_array<signal> taken_;
  symmetric_array<packet> parts_;
  symmetric_array<packet> totals_;
  symmetric_array<iteration_state> state_;
  symmetric_array<double> history_;
  symmetric_array<goal> goals_;
  symmetric_array<T> columns_;  // right-hand sides, then solutions, if there are several
  sym<T> right_, solution_;     // where those of this solve lie
  symmetric_array<T> m_values_;
  std::vector<stream> streams_;                  // by own PE
  std::unique_ptr<host_controlled<T>> on_host_;  // of this solve, if the host controls it
  launched_products<T> products_by_launch_;
  std::uint64_t products_ = 0;  // numbers used so far
  std::uint64_t sums_ = 0;
};

}  // namespace starling::cg
