// Solves by conjugate gradients in tests: what they leave behind, what holds for all that converge, and systems whose
// plain solve is known.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include "cg/solver.hpp"
#include "support/cg_choices.hpp"
#include "support/cg_oracle.hpp"

namespace starling::test {

// What a solve left behind.
template <class T>
struct outcome {
  cg::solve_result result;
  std::vector<T> x;

  bool same_as(const outcome& other) const {
    return x == other.x && result.why == other.result.why && result.iterations == other.result.iterations &&
           result.residual == other.result.residual && result.history == other.result.history &&
           result.replacements == other.result.replacements;
  }
};

template <class T>
outcome<T> solved(cg::solver<T>& s, const vector& b, const cg::solve_options& o, std::vector<T> x = {},
                  const std::function<bool(const cg::progress&)>& watch = {}, bool each = false) {
  x.resize(b.size(), T{0});
  const auto rhs = as<T>(b);
  cg::solve_result r = s.solve(rhs.data(), x.data(), o, watch, each);
  return {std::move(r), std::move(x)};
}

// What holds for every solve that has converged.
template <class T>
void check_converged(const cg::csr<T>& a, const vector& b, const outcome<T>& got) {
  const cg::solve_result& r = got.result;
  CHECK(std::string(name(r.why)) == "converged");
  CHECK(r.history.size() == static_cast<std::size_t>(r.iterations) + 1);
  CHECK(r.residual <= r.target * (1 + 1e-6));
  CHECK(r.history.back() <= r.target);
  const double truth = norm(residual(a, doubles(as<T>(b)), doubles(got.x)));
  const double rounding = sizeof(T) == 4 ? 0.05 * r.target : 1e-3 * r.target;
  CHECK(truth <= r.target + rounding);
  CHECK(std::abs(truth - r.residual) <= rounding);
  CHECK(r.seconds > 0);
  CHECK(r.blocks >= 1);
  CHECK(r.threads >= 1);
}

inline void check_iterations(index_t got, index_t wanted) {
  CHECK(static_cast<double>(std::abs(got - wanted)) <= 0.05 * static_cast<double>(wanted) + 2);
}

// A system, solved plainly with each preconditioner once for each way of dealing rows.
template <class T>
class known_system {
 public:
  known_system(cg::csr<T> matrix, index_t size, double tolerance)
      : a(std::move(matrix)), block_size(size), rtol(tolerance), b(doubles(as<T>(random_vector(a.rows(), 3)))) {}

  const oracle_result& wanted(const cg::solve_options& o, const std::vector<index_t>& first_rows) {
    const std::vector<index_t> of_blocks =
        o.m == cg::preconditioner::block_jacobi ? first_rows : std::vector<index_t>{0, a.rows()};
    const auto [at, is_new] = known_.try_emplace({o.m, of_blocks});
    if (is_new) {
      const oracle_preconditioner<T> m(a, o, block_size, of_blocks);
      at->second = oracle_solve(a, b, vector(b.size(), 0.0), m, rtol * norm(b), 5000);
    }
    return at->second;
  }

  const cg::csr<T> a;
  const index_t block_size;
  const double rtol;
  const vector b;

 private:
  std::map<std::pair<cg::preconditioner, std::vector<index_t>>, oracle_result> known_;
};

}  // namespace starling::test
