// Jacobi's method for linear systems on the devices of a machine: x' = (b - (A - D) x) / D, D the diagonal of A. It
// converges where every row's diagonal outweighs the rest of the row. x is a region, which every PE has whole, or, for
// banded matrices, as far as its rows reach.
//
//   jacobi::solver<double> s(m, off_diagonal.view(), diagonal);
//   const jacobi::result r = s.solve(b, x, {.rtol = 1e-6});    // x holds the start, then the solution
#pragma once

#include <functional>
#include <memory>

#include "sparse/csr.hpp"
#include "sparse/region_rows.hpp"

namespace starling::jacobi {

struct solve_options {
  double rtol = 1e-5;  // ends when |b - A x| <= rtol |b|
  index_t max_iterations = 1000;
  bool fixed = false;  // do max_iterations, whatever the residual is
};

struct result {
  bool converged = false;
  index_t iterations = 0;
  double residual = 0;  // |b - A x| of the x returned
  double target = 0;
  double seconds = 0;  // of the iterations alone
  region_report moved;
};

struct progress {
  index_t iterations;
  double residual;
  double target;
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
  // `halo_only`: a PE gets only what its rows read of others.
  solver(const machine& m, const diagonals<T>& off_diagonal, const T* diagonal, bool halo_only,
         const sparse::iteration_options& options = {});
  ~solver();
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;

  // A b of zeros has the solution 0, whatever the start.
  result solve(const T* b, T* x, const solve_options& options = {}, const watcher& watch = {});

 private:
  class engine;
  class rows_engine;
  class band_engine;
  std::unique_ptr<engine> engine_;
};

}  // namespace starling::jacobi
