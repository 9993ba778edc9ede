// What is asked of a conjugate gradient solver, and what it answers.
#pragma once

#include <string>
#include <vector>

#include "cg/names.hpp"
#include "starling/base/index.hpp"

namespace starling::cg {

struct matrix_options {
  row_split split = row_split::nonzeros;
  std::vector<index_t> first_rows = {};  // [PEs + 1] given split; empty: by `split`
  storage how = storage::automatic;
  index_t block_size = 0;      // rows of the blocks on the diagonal that block_jacobi inverts; divides 96; 0: none kept
  bool products_only = false;  // any square matrix; solve() then refuses
};

enum class method {
  standard,   // Hestenes and Stiefel: two reductions an iteration
  fused,      // Chronopoulos and Gear: one
  pipelined,  // Ghysels and Vanroose: one, hidden behind the product with the matrix
};

// Who controls the iterations. The numbers are the same, bit for bit.
enum class control {
  cpu_free,  // one persistent program
  streams,   // the host launches kernels; events order them
  graph,     // the same from a recorded graph
};

// M is about the inverse of the matrix.
enum class preconditioner {
  none,
  jacobi,        // the inverse of the diagonal
  block_jacobi,  // the inverses of the blocks on the diagonal
  chebyshev,     // a polynomial of the matrix
};

struct solve_options {
  method how = method::fused;
  control who = control::cpu_free;
  preconditioner m = preconditioner::none;
  int degree = 3;      // chebyshev: products with the matrix per application, 1 to 16
  double rtol = 1e-5;  // ends when |b - A x| <= max(rtol |b|, atol)
  double atol = 0;
  index_t max_iterations = 0;  // 0: ten times the rows
  bool fixed = false;          // do max_iterations, whatever the residual is
  index_t replace_every = 0;   // pipelined: iterations between two residual replacements; 0: chosen as it goes
  int blocks = 0;              // per PE; 0: chosen
  int threads = 0;             // per block on GPUs; 0: chosen
  index_t keep_bytes = -1;     // of shared memory for what stays there between iterations; -1: chosen
  double deadline = 0;         // seconds a wait may last; 0: the machine's
};

enum class stop {
  converged,
  iterations,             // max_iterations done
  stagnated,              // the residual does not become smaller any more
  not_positive_definite,  // a product that must be positive is not: breakdown_value at breakdown
  not_finite,             // a scalar is NaN or infinite
};

struct solve_result {
  stop why = stop::iterations;
  index_t iterations = 0;
  double residual = 0;  // |b - A x|, computed from x
  double target = 0;    // max(rtol |b|, atol)
  double breakdown_value = 0;
  std::vector<double> history;  // residual norm by iteration, from the recurrence; [0] at the start
  index_t replacements = 0;     // times the residual was computed anew from x
  double seconds = 0;           // of the iterations alone
  int blocks = 0;               // per PE, that compute
  int threads = 0;
  std::size_t kept_bytes = 0;  // of a block's data, in shared memory
};

// The names that users write; those that are not known throw argument_error with the list.
const char* name(method m);
const char* name(control c);
const char* name(preconditioner p);
const char* name(stop s);
method method_named(const std::string& text);
control control_named(const std::string& text);
preconditioner preconditioner_named(const std::string& text);

}  // namespace starling::cg
