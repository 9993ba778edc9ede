// A linear system on the devices of a machine: owns the rows of a symmetric positive definite matrix, partitioned among
// PEs, and solves for right-hand sides by conjugate gradients.
//
//   cg::solver<double> s(machine::best(), A.view());
//   cg::solve_result r = s.solve(b, x, {.rtol = 1e-8});   // x holds the start, then the solution
//   std::vector<cg::solve_result> all = s.solve_columns(B, X, 8, {.rtol = 1e-8});
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cg/options.hpp"
#include "sparse/csr.hpp"
#include "starling/machine/machine.hpp"

namespace starling::cg {

// Where a solve is, between two stretches of iterations.
struct progress {
  index_t iterations;
  double residual;  // from the recurrence
  double target;
  index_t column = 0;  // of the right-hand side
};

template <class T>
class solver {
 public:
  // Throws argument_error for what cannot be the matrix of such a system: not square, not symmetric, a diagonal entry
  // that is not positive, NaN or infinity (with the row); memory_error with the bytes needed and free.
  solver(machine m, const csr_view<T>& a, const matrix_options& options = {});
  ~solver();
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;

  // Solves A x = b; x holds the start and receives the solution, [rows] each, in the host's memory. `watch` is called
  // between stretches of iterations (with the x so far in `x` when `each`: then after every iteration); returning false
  // ends the solve. A b of zeros has the solution 0, whatever the start. Throws argument_error for options or values
  // (NaN in b) that are not allowed.
  solve_result solve(const T* b, T* x, const solve_options& options = {},
                     const std::function<bool(const progress&)>& watch = {}, bool each = false);

  // Solves for several right-hand sides one after another, each as solve() would, bit for bit: `b` and `x` are columns
  // of [rows] one behind the other. A persistent program goes from one to the next by itself. A breakdown, and a watch
  // that returns false, end it: the columns behind keep their start, and their results are empty. Seconds of a launch
  // are assigned to its columns by iterations.
  std::vector<solve_result> solve_columns(const T* b, T* x, index_t columns, const solve_options& options = {},
                                          const std::function<bool(const progress&)>& watch = {}, bool each = false);

  // y = A x, host arrays. The second one is for measurements: `repetitions` products in a row of what lies on the
  // devices, seconds for each.
  void multiply(const T* x, T* y);
  std::vector<double> time_multiply(int products, int repetitions);

  const matrix_facts& facts() const;
  machine& device();

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace starling::cg
