// What conjugate gradients on devices are compared with: products and solves written plainly, on the host, in double.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cg/options.hpp"
#include "support/random.hpp"

namespace starling::test {

using vector = std::vector<double>;

inline double dot(const vector& x, const vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
inline double norm(const vector& x) { return std::sqrt(dot(x, x)); }

template <class T>
vector doubles(const std::vector<T>& x) {
  return vector(x.begin(), x.end());
}
template <class T>
std::vector<T> as(const vector& x) {
  return std::vector<T>(x.begin(), x.end());
}

template <class T, class F>
void each_entry(const cg::csr<T>& a, index_t row, const F& f) {
  for (index_t e = a.row_start[static_cast<std::size_t>(row)]; e < a.row_start[static_cast<std::size_t>(row) + 1]; ++e)
    f(index_t{a.column[static_cast<std::size_t>(e)]}, static_cast<double>(a.value[static_cast<std::size_t>(e)]));
}

// A x.
template <class T>
vector product(const cg::csr<T>& a, const vector& x) {
  vector y(static_cast<std::size_t>(a.rows()), 0.0);
  for (index_t row = 0; row < a.rows(); ++row)
    each_entry(a, row,
               [&](index_t c, double v) { y[static_cast<std::size_t>(row)] += v * x[static_cast<std::size_t>(c)]; });
  return y;
}

// b - A x.
template <class T>
vector residual(const cg::csr<T>& a, const vector& b, const vector& x) {
  vector r = product(a, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return r;
}

// ---- matrices ----

// Rows as they are written down: entries by column.
using loose_rows = std::vector<std::map<index_t, double>>;

template <class T>
cg::csr<T> compressed(const loose_rows& rows) {
  cg::csr<T> a;
  a.columns = static_cast<index_t>(rows.size());
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) {
      a.column.push_back(static_cast<std::int32_t>(column));
      a.value.push_back(static_cast<T>(value));
    }
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  return a;
}

inline void set_pair(loose_rows& rows, index_t i, index_t j, double value) {
  rows[static_cast<std::size_t>(i)][j] = value;
  rows[static_cast<std::size_t>(j)][i] = value;
}

// Symmetric, `pairs` random pairs a row, and a diagonal that dominates: positive definite.
inline loose_rows random_system(index_t n, index_t pairs, std::uint64_t seed) {
  random r(seed);
  loose_rows rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < pairs * n; ++i) {
    const index_t row = r.below(n);
    const index_t column = r.below(n);
    if (row != column) set_pair(rows, row, column, r.real());
  }
  for (index_t i = 0; i < n; ++i) {
    double sum = 0.05;
    for (const auto& [column, value] : rows[static_cast<std::size_t>(i)]) sum += std::abs(value);
    rows[static_cast<std::size_t>(i)][i] = sum;
  }
  return rows;
}

// -(k u')' on n points, k between neighbours: tridiagonal, positive definite.
inline loose_rows chain(const vector& k) {
  const auto n = static_cast<index_t>(k.size()) - 1;
  loose_rows rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)][i] = k[static_cast<std::size_t>(i)] + k[static_cast<std::size_t>(i) + 1];
    if (i + 1 < n) set_pair(rows, i, i + 1, -k[static_cast<std::size_t>(i) + 1]);
  }
  return rows;
}

inline vector random_vector(index_t n, std::uint64_t seed) {
  random r(seed);
  vector v(static_cast<std::size_t>(n));
  for (double& x : v) x = r.real();
  return v;
}

// ---- the solve ----

// M of conjugate gradients, as apps/cg defines it.
template <class T>
class oracle_preconditioner {
 public:
  oracle_preconditioner(const cg::csr<T>& a, const cg::solve_options& o, index_t block_size,
                        const std::vector<index_t>& first_rows)
      : a_(a), o_(o) {
    for (std::size_t pe = 0; pe + 1 < first_rows.size(); ++pe)
      for (index_t row = first_rows[pe]; row < first_rows[pe + 1]; ++row) {
        const index_t size = o.m == cg::preconditioner::block_jacobi ? block_size : 1;
        block_.push_back(row - (row - first_rows[pe]) % size);
        end_.push_back(std::min(block_.back() + size, first_rows[pe + 1]));
        double sum = 0;
        each_entry(a, row, [&](index_t, double v) { sum += std::abs(v); });
        highest_ = std::max(highest_, sum);
      }
  }

  vector operator()(const vector& r) const {
    if (o_.m == cg::preconditioner::none) return r;
    return o_.m == cg::preconditioner::chebyshev ? polynomial(r) : blocks(r);
  }

 private:
  // By elimination, block after block; without pivots, since blocks are positive definite.
  vector blocks(const vector& r) const {
    vector u = r;
    for (index_t first = 0; first < a_.rows(); first = end_[static_cast<std::size_t>(first)]) {
      const index_t n = end_[static_cast<std::size_t>(first)] - first;
      std::vector<vector> m(static_cast<std::size_t>(n), vector(static_cast<std::size_t>(n), 0.0));
      for (index_t i = 0; i < n; ++i)
        each_entry(a_, first + i, [&](index_t c, double v) {
          if (c >= first && c < first + n) m[static_cast<std::size_t>(i)][static_cast<std::size_t>(c - first)] = v;
        });
      double* at = u.data() + first;
      for (std::size_t k = 0; k < m.size(); ++k)
        for (std::size_t i = k + 1; i < m.size(); ++i) {
          const double factor = m[i][k] / m[k][k];
          for (std::size_t j = k; j < m.size(); ++j) m[i][j] -= factor * m[k][j];
          at[i] -= factor * at[k];
        }
      for (std::size_t i = m.size(); i-- > 0;) {
        for (std::size_t j = i + 1; j < m.size(); ++j) at[i] -= m[i][j] * at[j];
        at[i] /= m[i][i];
      }
    }
    return u;
  }

  // Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1.
  vector polynomial(const vector& r) const {
    const double high = 1.0001 * highest_, low = highest_ / 30;
    const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
    double rho = 1 / sigma;
    vector d = r, u(r.size(), 0.0), left = r;
    for (double& x : d) x /= theta;
    for (int k = 0;; ++k) {
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += d[i];
      if (k == o_.degree) return u;
      const vector ad = product(a_, d);
      const double next = 1 / (2 * sigma - rho);
      for (std::size_t i = 0; i < u.size(); ++i) {
        left[i] -= ad[i];
        d[i] = next * rho * d[i] + 2 * next / delta * left[i];
      }
      rho = next;
    }
  }

  const cg::csr<T>& a_;  // outlives this
  const cg::solve_options o_;
  std::vector<index_t> block_, end_;  // of each row
  double highest_ = 0;
};

struct oracle_result {
  index_t iterations = 0;
  vector x;
  vector history;
};

// Hestenes and Stiefel, until |r| <= target or `most` iterations are done.
template <class T, class M>
oracle_result oracle_solve(const cg::csr<T>& a, const vector& b, vector x, const M& m, double target, index_t most) {
  vector r = residual(a, b, x);
  vector u = m(r), p = u;
  double gamma = dot(r, u);
  oracle_result result{0, std::move(x), {norm(r)}};
  while (result.history.back() > target && result.iterations < most) {
    const vector s = product(a, p);
    const double alpha = gamma / dot(p, s);
    for (std::size_t i = 0; i < r.size(); ++i) {
      result.x[i] += alpha * p[i];
      r[i] -= alpha * s[i];
    }
    u = m(r);
    const double next = dot(r, u);
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = u[i] + next / gamma * p[i];
    gamma = next;
    ++result.iterations;
    result.history.push_back(norm(r));
  }
  return result;
}

}  // namespace starling::test
