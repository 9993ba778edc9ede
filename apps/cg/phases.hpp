// The iterations of conjugate gradients in pieces between which blocks depend on each other: after a product, after a
// sum. One source for the persistent programs and for the kernels that the host launches, so both compute the same
// bits.
//
// Sums: word 0 (r, u), word 1 the curvature, word 2 (r, r).
#pragma once

#include "cg/decide.hpp"
#include "cg/worker.hpp"

namespace starling::cg {

enum sum_word : int { sum_gamma, sum_delta, sum_rho, sum_farewell };

// Adds (x, y) of one row.
template <class T>
STARLING_HD void add_product(dots& d, sum_word word, T x, T y) {
  d.word[word] += static_cast<double>(x) * static_cast<double>(y);
}

// r = b - w, where w = A x; and (r, r). With a pointwise M also u = M r.
template <class T>
STARLING_HD dots residual_from_product(const worker<T>& k) {
  dots sum{};
  const T *b = k[vec_b], *w = k[vec_w];
  T *r = k[vec_r], *u = k[vec_u];
  const bool pointwise = k.pointwise();
  k.b().for_each(k.rows(), [&](index_t i) {
    const T value = b[i] - w[i];
    r[i] = value;
    if (pointwise) u[i] = k.scaled(i, value);
    add_product(sum, sum_rho, value, value);
  });
  return sum;
}

// Publishes a vector as it is.
template <class T>
STARLING_HD void publish(worker<T>& k, vector_name v) {
  const T* from = k[v];
  T* next = k.next_published();
  k.b().sync();
  k.b().for_each(k.rows(), [&](index_t i) { next[i] = from[i]; });
  k.announce();
}

// ---- standard ----

// p = u + beta p, published.
template <class T>
STARLING_HD void standard_direction(worker<T>& k, double beta) {
  const T* u = k[vec_u];
  T* p = k[vec_p];
  T* next = k.next_published();
  const T b = static_cast<T>(beta);
  k.b().for_each(k.rows(), [&](index_t i) {
    const T value = b == T{0} ? u[i] : u[i] + b * p[i];
    p[i] = value;
    next[i] = value;
  });
  k.announce();
}

// (p, s) after s = A p.
template <class T>
STARLING_HD dots standard_curvature(const worker<T>& k) {
  dots sum{};
  const T *p = k[vec_p], *s = k[vec_s];
  k.b().for_each(k.rows(), [&](index_t i) { add_product(sum, sum_delta, p[i], s[i]); });
  return sum;
}

// x += alpha p, r -= alpha s; with a pointwise M also u = M r.
template <class T>
STARLING_HD void standard_step(const worker<T>& k, double alpha) {
  const T *p = k[vec_p], *s = k[vec_s];
  T *x = k[vec_x], *r = k[vec_r], *u = k[vec_u];
  const T a = static_cast<T>(alpha);
  const bool pointwise = k.pointwise();
  k.b().for_each(k.rows(), [&](index_t i) {
    x[i] += a * p[i];
    const T value = r[i] - a * s[i];
    r[i] = value;
    if (pointwise) u[i] = k.scaled(i, value);
  });
}

// (r, u) and (r, r).
template <class T>
STARLING_HD dots residual_products(const worker<T>& k) {
  dots sum{};
  const T *r = k[vec_r], *u = k[vec_u];
  k.b().for_each(k.rows(), [&](index_t i) {
    add_product(sum, sum_gamma, r[i], u[i]);
    add_product(sum, sum_rho, r[i], r[i]);
  });
  return sum;
}

// ---- fused ----

// (r, u), (w, u) and (r, r), where w = A u.
template <class T>
STARLING_HD dots all_products(const worker<T>& k) {
  dots sum{};
  const T *r = k[vec_r], *u = k[vec_u], *w = k[vec_w];
  k.b().for_each(k.rows(), [&](index_t i) {
    add_product(sum, sum_gamma, r[i], u[i]);
    add_product(sum, sum_delta, w[i], u[i]);
    add_product(sum, sum_rho, r[i], r[i]);
  });
  return sum;
}

// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s; with a pointwise M also u = M r, written to `next` too.
template <class T>
STARLING_HD void fused_step(const worker<T>& k, const decision& d, T* next) {
  const T* w = k[vec_w];
  T *x = k[vec_x], *r = k[vec_r], *p = k[vec_p], *s = k[vec_s], *u = k[vec_u];
  const T alpha = static_cast<T>(d.alpha);
  const T beta = static_cast<T>(d.beta);
  const bool pointwise = k.pointwise();
  k.b().for_each(k.rows(), [&](index_t i) {
    const T new_p = beta == T{0} ? u[i] : u[i] + beta * p[i];
    const T new_s = beta == T{0} ? w[i] : w[i] + beta * s[i];
    p[i] = new_p;
    s[i] = new_s;
    x[i] += alpha * new_p;
    const T new_r = r[i] - alpha * new_s;
    r[i] = new_r;
    if (pointwise) {
      const T new_u = k.scaled(i, new_r);
      u[i] = new_u;
      next[i] = new_u;
    }
  });
}

// ---- pipelined ----

// With a pointwise M: m = M w, published.
template <class T>
STARLING_HD void publish_m(worker<T>& k) {
  const T* w = k[vec_w];
  T *m = k[vec_m], *next = k.next_published();
  k.b().for_each(k.rows(), [&](index_t i) {
    const T value = k.scaled(i, w[i]);
    m[i] = value;
    next[i] = value;
  });
  k.announce();
}

// All the recurrences, after n = A m; returns what the next iteration sums.
template <class T>
STARLING_HD dots pipelined_step(const worker<T>& k, const decision& d) {
  dots sum{};
  const T alpha = static_cast<T>(d.alpha);
  const T beta = static_cast<T>(d.beta);
  const bool with_m = k.system().m != preconditioner::none;
  const T *n = k[vec_n], *m = k[vec_m];
  T *x = k[vec_x], *r = k[vec_r], *u = k[vec_u], *w = k[vec_w];
  T *p = k[vec_p], *s = k[vec_s], *q = k[vec_q], *z = k[vec_z];
  const auto renew = [beta](T with, T old) { return beta == T{0} ? with : with + beta * old; };
  k.b().for_each(k.rows(), [&](index_t i) {
    const T new_z = renew(n[i], z[i]);
    const T new_s = renew(w[i], s[i]);
    const T new_p = renew(u[i], p[i]);
    const T new_q = with_m ? renew(m[i], q[i]) : new_s;
    const T new_r = r[i] - alpha * new_s;
    const T new_u = with_m ? u[i] - alpha * new_q : new_r;
    const T new_w = w[i] - alpha * new_z;
    x[i] += alpha * new_p;
    z[i] = new_z;
    s[i] = new_s;
    p[i] = new_p;
    r[i] = new_r;
    w[i] = new_w;
    if (with_m) {
      q[i] = new_q;
      u[i] = new_u;
    }
    add_product(sum, sum_gamma, new_r, new_u);
    add_product(sum, sum_delta, new_w, new_u);
    add_product(sum, sum_rho, new_r, new_r);
  });
  return sum;
}

// ---- Chebyshev's polynomial: out = p(A) in, as steps between products (Saad, Iterative Methods, algorithm 12.1) ----

struct chebyshev_numbers {
  double theta, delta, sigma, rho;

  STARLING_HD chebyshev_numbers(double lowest, double highest)
      : theta((highest + lowest) / 2), delta((highest - lowest) / 2), sigma(theta / delta), rho(1 / sigma) {}
};

template <class T>
STARLING_HD void chebyshev_begin(worker<T>& k, vector_name in, vector_name out, const chebyshev_numbers& c) {
  const T scale = static_cast<T>(1 / c.theta);
  const T* r = k[in];
  T *e = k[vec_e], *d = k[vec_d], *o = k[out], *next = k.next_published();
  k.b().sync();
  k.b().for_each(k.rows(), [&](index_t i) {
    e[i] = r[i];
    d[i] = o[i] = next[i] = scale * r[i];
  });
  k.announce();
}

// After n = A d. What is published for the next product: d, or after the last step `out`, or nothing.
enum class publishing { step, result, nothing };
template <class T>
STARLING_HD void chebyshev_step(worker<T>& k, vector_name out, chebyshev_numbers& c, publishing what) {
  const double rho = 1 / (2 * c.sigma - c.rho);
  const T keep = static_cast<T>(rho * c.rho);
  const T add = static_cast<T>(2 * rho / c.delta);
  c.rho = rho;
  const T* n = k[vec_n];
  T *e = k[vec_e], *d = k[vec_d], *o = k[out], *next = k.next_published();
  k.b().for_each(k.rows(), [&](index_t i) {
    const T left = e[i] - n[i];
    e[i] = left;
    const T step = keep * d[i] + add * left;
    d[i] = step;
    o[i] += step;
    if (what != publishing::nothing) next[i] = what == publishing::result ? o[i] : step;
  });
  if (what != publishing::nothing) k.announce();
}

}  // namespace starling::cg
