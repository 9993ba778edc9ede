// The pipelined method written plainly, one row after another, in double, without a preconditioner or with a diagonal
// one: with the bits of one block of one PE, and with residual replacement that decides by the same estimate.
#pragma once

#include <algorithm>
#include <limits>

#include "support/cg_oracle.hpp"

namespace starling::test {

struct pipelined_run {
  bool converged = false;
  index_t iterations = 0;
  vector x;
  vector history;
  std::vector<index_t> replaced;  // iterations before which the residual was computed from x, but for the start
  vector estimated, truth;        // by iteration: the gap between the residuals, and what it was thought to be
};

class pipelined_oracle {
 public:
  // `inverse`: the diagonal of M; empty for none. `every`: iterations between replacements; 0: by the estimate.
  pipelined_oracle(const cg::csr<double>& a, vector inverse, index_t every)
      : a_(a), inverse_(std::move(inverse)), every_(every) {
    for (index_t row = 0; row < a.rows(); ++row) {
      double sum = 0;
      each_entry(a, row, [&](index_t, double v) { sum += std::abs(v); });
      norm_a_ = std::max(norm_a_, sum);
    }
    if (!inverse_.empty()) norm_m_ = *std::max_element(inverse_.begin(), inverse_.end());
  }

  pipelined_run solve(const vector& b, vector start, double target, index_t most) {
    const std::size_t n = b.size();
    pipelined_run run;
    vector& x = run.x = std::move(start);
    norm_b_ = norm(b);
    norm_x_ = norm(x);
    vector r, u, w, p(n), s(n), q(n), z(n);
    const auto from_x = [&](bool keep) {
      r = residual(a_, b, x);
      u = scaled(r);
      if (keep) {
        s = product(a_, p);
        q = scaled(s);
        z = product(a_, q);
      }
      w = product(a_, u);
      forget_gaps();
    };
    from_x(false);
    run.history.push_back(norm(r));
    double gamma_before = 0, curvature_before = 0;
    bool alone = true;
    index_t since = 0;
    for (double rho = dot(r, r);; rho = dot(r, r)) {
      const bool arrived = rho <= target * target;
      if (arrived || (run.iterations < most && (every_ > 0 ? since >= every_ : is_due(std::sqrt(rho))))) {
        from_x(true);
        run.replaced.push_back(run.iterations);
        since = 0;
        alone = alone || dot(r, r) > 4 * rho;
        run.history.back() = norm(r);
        if (arrived && dot(r, r) <= target * target) {
          run.converged = true;
          return run;
        }
        continue;
      }
      if (run.iterations == most) return run;
      const double gamma = dot(r, u), delta = dot(w, u);
      const double beta = alone ? 0 : gamma / gamma_before;
      const double curvature = alone ? delta : delta - beta * beta * curvature_before;
      if (gamma < 0 || !(curvature > 0)) {  // rounding errors: begins anew
        from_x(false);
        run.replaced.push_back(run.iterations);
        since = 0;
        alone = true;
        run.history.back() = norm(r);
        continue;
      }
      const double alpha = gamma / curvature;
      const vector m = scaled(w), image = product(a_, m);
      for (std::size_t i = 0; i < n; ++i) {
        z[i] = alone ? image[i] : image[i] + beta * z[i];
        s[i] = alone ? w[i] : w[i] + beta * s[i];
        p[i] = alone ? u[i] : u[i] + beta * p[i];
        q[i] = alone ? m[i] : m[i] + beta * q[i];
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        u[i] = inverse_.empty() ? r[i] : u[i] - alpha * q[i];
        w[i] -= alpha * z[i];
      }
      estimate(alpha, beta, std::sqrt(rho), std::sqrt(norm_m_ * gamma), std::sqrt(norm_a_ * delta));
      gamma_before = gamma;
      curvature_before = curvature;
      alone = false;
      ++since;
      ++run.iterations;
      run.history.push_back(norm(r));
      vector difference = residual(a_, b, x);
      for (std::size_t i = 0; i < n; ++i) difference[i] -= r[i];
      run.truth.push_back(norm(difference));
      run.estimated.push_back(f_);
    }
  }

 private:
  static constexpr double eps_ = std::numeric_limits<double>::epsilon() / 2;

  vector scaled(const vector& v) const {
    vector result = v;
    for (std::size_t i = 0; i < inverse_.size(); ++i) result[i] *= inverse_[i];
    return result;
  }

  // Gaps as in the paper: f of r, g of s, h of w, j of z.
  double left() const { return eps_ * (norm_a_ * norm_x_ + norm_b_); }
  bool small(double r) const { return f_ <= std::sqrt(eps_) * r; }
  bool is_due(double r) const { return was_small_ && !small(r) && f_ > 10 * left(); }
  void forget_gaps() {
    f_ = left();
    g_ = 2 * eps_ * norm_a_ * norm_p_;
    j_ = 2 * eps_ * norm_a_ * norm_q_;
    h_ = -1;  // not known yet
    was_small_ = false;
  }
  void estimate(double alpha, double beta, double r, double u, double w) {
    if (h_ < 0) h_ = eps_ * norm_a_ * u;
    was_small_ = small(r);
    const double m = w * u / r;
    norm_p_ = std::sqrt(u * u + beta * beta * norm_p_ * norm_p_);
    norm_q_ = std::sqrt(m * m + beta * beta * norm_q_ * norm_q_);
    norm_x_ += alpha * norm_p_;
    j_ = beta * j_ + eps_ * norm_a_ * (m + norm_q_);
    g_ = beta * g_ + h_ + 2 * eps_ * norm_a_ * norm_p_;
    f_ += alpha * g_ + eps_ * (norm_a_ * norm_x_ + r);
    h_ += alpha * j_ + eps_ * (w + norm_a_ * u + 2 * alpha * norm_a_ * norm_q_);
  }

  const cg::csr<double>& a_;  // outlives this
  const vector inverse_;
  const index_t every_;
  double norm_a_ = 0, norm_m_ = 1, norm_b_ = 0;
  double norm_x_ = 0, norm_p_ = 0, norm_q_ = 0;
  double f_ = 0, g_ = 0, h_ = 0, j_ = 0;
  bool was_small_ = false;
};

}  // namespace starling::test
