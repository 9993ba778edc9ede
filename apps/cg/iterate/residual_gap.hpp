// How far the residual of the pipelined method's recurrences has come away from b - A x: an estimate from the scalars
// that every iteration has anyway, so that no PE asks another for it and all come to the same.
//
// Recurrences add a rounding error to each vector in each iteration, and hand on what came before: the gaps of w = A u
// and of z = A q go into that of s = A p, and this into the residual's (Cools, Yetkin, Agullo, Giraud, Vanroose,
// "Analyzing the effect of local rounding error propagation on the maximal attainable accuracy of the pipelined
// conjugate gradient method", 2018). Norms that nobody adds up are bounded by what is: |A u|^2 <= |A| (A u, u),
// |M r|^2 <= |M| (r, M r).
//
// When to compute the residual anew (van der Vorst and Ye, "Residual replacement strategies for Krylov subspace
// iterative methods", 2000): when the gap comes to sqrt(epsilon) times the residual from below. Earlier would cost
// products for nothing; later, the iterations would notice that the residual has changed and lose what they know of the
// matrix.
#pragma once

#include <cmath>

#include "starling/device/target.hpp"

namespace starling::cg {

// What the estimate needs to know of a system; the same for a whole solve.
struct gap_scales {
  double epsilon = 0;  // of the element type: half of the distance from 1 to the next number; 0: no estimate
  double norm_a = 0;   // at least the largest eigenvalue
  double norm_m = 0;   // the same of the preconditioner
  double norm_b = 0;
  double norm_x = 0;  // of the start
};

// Of one iteration, from its sums.
struct gap_step {
  double alpha, beta;
  double rho;    // (r, r)
  double gamma;  // (r, u)
  double delta;  // (A u, u)
};

struct residual_gap {
  double x = 0, p = 0, q = 0;  // norms, at most
  double of_r = 0, of_s = 0;   // gaps of these vectors, as norms
  double of_w = 0, of_z = 0;   // the same
  int small = 0;               // it was, before the last iteration
  int fresh = 0;               // no iteration since the residual was computed from x

  // What is left after r, s, q, z and w have been computed from x and p: rounding errors of these products.
  STARLING_HD double least(const gap_scales& c) const { return c.epsilon * (c.norm_a * x + c.norm_b); }

  STARLING_HD void begin(const gap_scales& c, bool first) {
    if (first) x = c.norm_x;
    of_r = least(c);
    of_s = 2 * c.epsilon * c.norm_a * p;
    of_z = 2 * c.epsilon * c.norm_a * q;
    fresh = 1;
    small = 0;
  }

  // An iteration that begins with these sums.
  STARLING_HD void advance(const gap_scales& c, const gap_step& now) {
    const double eps_a = c.epsilon * c.norm_a;
    const double r = std::sqrt(now.rho);
    const double u = std::sqrt(c.norm_m * now.gamma);
    const double w = now.delta > 0 ? std::sqrt(c.norm_a * now.delta) : 0;
    const double m = r > 0 ? w * u / r : 0;
    if (fresh != 0) of_w = eps_a * u;
    fresh = 0;
    small = is_small(c, r) ? 1 : 0;
    // Directions are nearly orthogonal to residuals.
    p = std::sqrt(u * u + now.beta * now.beta * p * p);
    q = std::sqrt(m * m + now.beta * now.beta * q * q);
    x += now.alpha * p;
    of_z = now.beta * of_z + eps_a * (m + q);
    of_s = now.beta * of_s + of_w + 2 * eps_a * p;
    of_r += now.alpha * of_s + eps_a * x + c.epsilon * r;
    of_w += now.alpha * of_z + c.epsilon * w + eps_a * (u + 2 * now.alpha * q);
  }

  // Whether to compute the residual, whose norm is r, from x now.
  STARLING_HD bool is_due(const gap_scales& c, double r) const {
    constexpr double worthwhile = 10;  // times what a replacement leaves
    return small != 0 && !is_small(c, r) && of_r > worthwhile * least(c);
  }

 private:
  STARLING_HD bool is_small(const gap_scales& c, double r) const { return of_r <= std::sqrt(c.epsilon) * r; }
};

}  // namespace starling::cg
