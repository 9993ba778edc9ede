// Jacobi's method for linear systems on the devices of a machine: x' = (b - (A - D) x) / D, D the diagonal of A. It
// converges where every row's diagonal outweighs the rest of the row. x is a region, which every PE has whole, or as
// far as its rows read it.
//
//   jacobi::solver<double> s(m, off_diagonal.view(), diagonal);
//   const jacobi::result r = s.solve(b, x, {.target = 1e-6});    // x holds the start, then the solution
#pragma once

#include <functional>
#include <memory>

#include "sparse/csr.hpp"
#include "sparse/region_rows.hpp"

namespace starling::jacobi {

struct solve_options {
  double target = 0;  // ends when |b - A x| is not above it
  index_t max_iterations = 1000;
  bool fixed = false;  // do max_iterations, whatever the residual is
};

struct result {
  bool converged = false;
  index_t iterations = 0;
  double residual = 0;              // |b - A x| of the x returned
  sparse::iteration_report report;  // history: the residuals, from the start on
};

struct progress {
  index_t iterations;
  double residual;
};
// Returning false ends the solve.
using watcher = std::function<bool(const progress&)>;

// A matrix by its diagonals: element (i, i + offset) of row i at values[row i]. Borrowed.
template <class T>
struct diagonals {
  index_t rows = 0;
  std::vector<index_t> offsets;  // but 0
  std::vector<const T*> values;  // of each offset [rows]; beyond the matrix' edges not looked at
};

template <class T>
class solver {
 public:
  // `off_diagonal`: the matrix without its diagonal; `diagonal`: no zero (the caller's to check). Throws argument_error
  // for options, memory_error when it does not fit.
  solver(const machine& m, const sparse::csr_view<T>& off_diagonal, const T* diagonal,
         const sparse::iteration_options& options = {});
  solver(const machine& m, const diagonals<T>& off_diagonal, const T* diagonal,
         const sparse::iteration_options& options = {});
  ~solver();
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;

  result solve(const T* b, T* x, const solve_options& options = {}, const watcher& watch = {});

 private:
  class engine;
  class rows_engine;
  class band_engine;
  std::unique_ptr<engine> engine_;
};

}  // namespace starling::jacobi
