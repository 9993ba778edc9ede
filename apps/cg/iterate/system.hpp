// A linear system in symmetric memory as kernels see it: the matrix, the vectors, the receive slots for what travels,
// and the state that goes from one launch to the next. Plain data.
//
// Products are numbered; each vector that is published is multiplied once, before the next is. Product number e reads
// the vector that its blocks have published in slot e % 2; values of other PEs come in receive slots of the same slot,
// from where blocks of the PE take them into the vector. Why two slots: a block that publishes e + 2 has done product e
// + 1, for which it had what all blocks that it reads published for e + 1, after their product e. The matrix has a
// symmetric pattern, so these are the blocks that read this one's values, on its PE or on others: none of them still
// reads slot e, and what it sent for e has been taken.
#pragma once

#include "cg/iterate/goal.hpp"
#include "cg/iterate/reduction.hpp"
#include "cg/options.hpp"
#include "sparse/rows.hpp"

namespace starling::cg {

// The vectors of the methods, named as in the papers. All have a place for each own row of a PE.
enum vector_name : int {
  vec_x,  // the solution
  vec_b,  // the right-hand side
  vec_r,  // residual
  vec_p,  // direction
  vec_s,  // A p (standard: q of Hestenes and Stiefel)
  vec_w,  // A u; also what a product is written to
  vec_u,  // M r; the same memory as r without a preconditioner
  vec_n,  // pipelined: A m
  vec_z,  // pipelined: A q
  vec_q,  // pipelined: M s; the same as s without a preconditioner
  vec_m,  // pipelined: M w; the same as w without a preconditioner
  vec_d,  // Chebyshev: the step of the polynomial
  vec_e,  // Chebyshev: what is left to solve
  vector_count
};

// Where the iterations are; one on each PE, all alike.
struct iteration_state {
  index_t iteration = 0;
  double gamma = 0;      // (r, u) of the iteration before
  double curvature = 0;  // (p, A p) of the iteration before
  double rho = 0;        // (r, r) by the recurrence
  double true_rho = 0;   // (r, r) when it was last computed from x
  double breakdown_value = 0;
  index_t replacements = 0;
  index_t since_replacement = 0;  // iterations
  std::uint64_t products = 0;     // numbers of the last ones
  std::uint64_t sums = 0;
  std::int32_t stopped = 0;        // 1 + the reason; 0: goes on
  std::int32_t restart = 1;        // the next direction is the residual alone
  std::int32_t stalls = 0;         // restarts that brought little
  std::int32_t new_direction = 1;  // since the last replacement: it began with the residual alone
  residual_gap gap;                // pipelined, if it decides when to replace the residual
  index_t column = 0;              // of the right-hand sides that are solved for, one after another
  index_t history_at = 0;          // history[history_at + i] is of its iteration i
};

template <class T>
struct system_data {
  matrix_data<T> a;
  index_t stride = 0;  // between vectors, in elements
  sym<T> vectors;      // [vector_count][stride]
  sym<T> published;    // [2][columns]
  index_t columns = 0;
  sym<packet> receive_slots;  // [2][halo]
  index_t halo = 0;
  sym<signal> ready;  // [blocks] number of the product that a block has published for
  sym<signal> taken;  // [blocks] number of the product that it has taken values of other PEs for
  sum_slots sums;
  sym<iteration_state> state;  // [1 + columns] where the launch has come to; how columns have ended, on PE 0
  sym<double> history;         // (r, r) of the iterations of this launch, column by column; of PE 0

  // The preconditioner.
  preconditioner m = preconditioner::none;
  int block_size = 1;
  int degree = 1;
  double lowest = 0, highest = 0;  // eigenvalues that the polynomial is made for
  sym<T> m_values;                 // [rows] inverse diagonal, or [rows][block_size] rows of inverse blocks
};

}  // namespace starling::cg
