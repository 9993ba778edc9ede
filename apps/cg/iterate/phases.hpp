// The iterations of conjugate gradients in pieces between which blocks depend on each other: after a product, after a
// sum. One source for the persistent programs and for the kernels that the host launches, so both compute the same
// bits.
//
// Each is a function of its own, not inlined, that gets the block context by value: so what one of them needs takes no
// registers of the others. Those that publish leave it to the caller to count the product.
//
// Sums: word 0 (r, u), word 1 the curvature, word 2 (r, r).
#pragma once

#include "cg/iterate/block_context.hpp"
#include "cg/iterate/decide.hpp"
#include "sparse/row_pack.hpp"

namespace starling::cg {

enum sum_word : int { sum_gamma, sum_delta, sum_rho };

// Adds (x, y) of some rows.
template <class T>
STARLING_HD void add_product(dots& d, sum_word word, const pack<T>& x, const pack<T>& y) {
  unrolled<rows_at_once>(
      [&](auto e) { d.word[word] += static_cast<double>(x.row[e]) * static_cast<double>(y.row[e]); });
}

// with + factor * old; without a look at `old` when the factor is zero: there may be anything.
template <class T>
STARLING_HD pack<T> renewed(const pack<T>& with, T factor, const pack<T>& old) {
  return factor == T{0} ? with : with + factor * old;
}

// r = b - w, where w = A x; and (r, r). With a pointwise M also u = M r.
template <class T>
__attribute__((noinline)) STARLING_HD dots residual_from_product(block_context<T> k) {
  dots sum{};
  const T *b = k[vec_b], *w = k[vec_w];
  T *r = k[vec_r], *u = k[vec_u];
  const bool with_u = k.pointwise() && k.with_m();
  k.each_pack([&](const row_place& at) {
    const pack<T> value = at.load(b) - at.load(w);
    at.store(r, value);
    if (with_u) at.store(u, k.scaled(at, value));
    add_product(sum, sum_rho, value, value);
  });
  return sum;
}

// The block's rows of a vector, to another place; all threads of the block see them there. A barrier must be between
// the last use of either and this, since other threads than in each_pack have a row.
template <class T>
__attribute__((noinline)) STARLING_HD void copy_part(block_context<T> k, const T* from, T* to) {
  if (from != to) k.each_row([&](index_t i) { to[i] = from[i]; });
  k.all().sync();
}

// Publishes a vector as it is: each thread what it has written by each_pack, or what was there before a barrier.
template <class T>
__attribute__((noinline)) STARLING_HD void publish(block_context<T> k, vector_name v) {
  const T* from = k[v];
  T* next = k.next_published();
  k.each_pack([&](const row_place& at) { at.store(next, at.load(from)); });
  k.announce(v);
}

// ---- standard ----

// p = u + beta p, published.
template <class T>
__attribute__((noinline)) STARLING_HD void standard_direction(block_context<T> k, double beta) {
  const T* u = k[vec_u];
  T *p = k[vec_p], *next = k.next_published();
  k.each_pack([&](const row_place& at) {
    const pack<T> value = renewed(at.load(u), static_cast<T>(beta), at.load(p));
    at.store(p, value);
    at.store(next, value);
  });
  k.announce(vec_p);
}

// (p, s) after s = A p.
template <class T>
__attribute__((noinline)) STARLING_HD dots standard_curvature(block_context<T> k) {
  dots sum{};
  const T *p = k[vec_p], *s = k[vec_s];
  k.each_pack([&](const row_place& at) { add_product(sum, sum_delta, at.load(p), at.load(s)); });
  return sum;
}

// x += alpha p, r -= alpha s; with a pointwise M also u = M r, and the sums (r, u) and (r, r).
template <class T>
__attribute__((noinline)) STARLING_HD dots standard_step(block_context<T> k, double step) {
  dots sum{};
  const T *p = k[vec_p], *s = k[vec_s];
  T *x = k[vec_x], *r = k[vec_r], *u = k[vec_u];
  const T alpha = static_cast<T>(step);
  const bool with_u = k.pointwise() && k.with_m();
  k.each_pack([&](const row_place& at) {
    const pack<T> new_x = at.load(x) + alpha * at.load(p);
    const pack<T> new_r = at.load(r) - alpha * at.load(s);
    const pack<T> new_u = k.scaled(at, new_r);
    at.store(x, new_x);
    at.store(r, new_r);
    if (with_u) at.store(u, new_u);
    add_product(sum, sum_gamma, new_r, new_u);
    add_product(sum, sum_rho, new_r, new_r);
  });
  return sum;
}

// (r, u) and (r, r).
template <class T>
__attribute__((noinline)) STARLING_HD dots residual_products(block_context<T> k) {
  dots sum{};
  const T *r = k[vec_r], *u = k[vec_u];
  k.each_pack([&](const row_place& at) {
    const pack<T> some_r = at.load(r);
    add_product(sum, sum_gamma, some_r, at.load(u));
    add_product(sum, sum_rho, some_r, some_r);
  });
  return sum;
}

// ---- fused ----

// (r, u), (w, u) and (r, r), where w = A u.
template <class T>
__attribute__((noinline)) STARLING_HD dots all_products(block_context<T> k) {
  dots sum{};
  const T *r = k[vec_r], *u = k[vec_u], *w = k[vec_w];
  k.each_pack([&](const row_place& at) {
    const pack<T> some_r = at.load(r), some_u = at.load(u), some_w = at.load(w);
    add_product(sum, sum_gamma, some_r, some_u);
    add_product(sum, sum_delta, some_w, some_u);
    add_product(sum, sum_rho, some_r, some_r);
  });
  return sum;
}

// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s; with a pointwise M also u = M r, published.
template <class T>
__attribute__((noinline)) STARLING_HD void fused_step(block_context<T> k, decision d) {
  const T* w = k[vec_w];
  T *x = k[vec_x], *r = k[vec_r], *p = k[vec_p], *s = k[vec_s], *u = k[vec_u], *next = k.next_published();
  const T alpha = static_cast<T>(d.alpha);
  const T beta = static_cast<T>(d.beta);
  const bool pointwise = k.pointwise();
  const bool with_m = k.with_m();
  k.each_pack([&](const row_place& at) {
    const pack<T> old_u = at.load(u), old_r = with_m ? at.load(r) : old_u;
    const pack<T> new_p = renewed(old_u, beta, at.load(p));
    const pack<T> new_s = renewed(at.load(w), beta, at.load(s));
    const pack<T> new_x = at.load(x) + alpha * new_p;
    const pack<T> new_r = old_r - alpha * new_s;
    const pack<T> new_u = k.scaled(at, new_r);
    at.store(p, new_p);
    at.store(s, new_s);
    at.store(x, new_x);
    at.store(r, new_r);
    if (!pointwise) return;
    if (with_m) at.store(u, new_u);
    at.store(next, new_u);
  });
  if (pointwise) k.announce(vec_u);
}

// ---- pipelined ----

// With a pointwise M: m = M w, published.
template <class T>
__attribute__((noinline)) STARLING_HD void publish_m(block_context<T> k) {
  const T* w = k[vec_w];
  T *m = k[vec_m], *next = k.next_published();
  const bool with_m = k.with_m();
  k.each_pack([&](const row_place& at) {
    const pack<T> value = k.scaled(at, at.load(w));
    if (with_m) at.store(m, value);
    at.store(next, value);
  });
  k.announce(vec_m);
}

// All the recurrences, after n = A m; returns what the next iteration sums. With a pointwise M also m = M w, published.
template <class T>
__attribute__((noinline)) STARLING_HD dots pipelined_step(block_context<T> k, decision d) {
  dots sum{};
  const T alpha = static_cast<T>(d.alpha);
  const T beta = static_cast<T>(d.beta);
  const bool with_m = k.with_m();
  const T *n = k[vec_n], *m = k[vec_m];
  T *x = k[vec_x], *r = k[vec_r], *u = k[vec_u], *w = k[vec_w];
  T *p = k[vec_p], *s = k[vec_s], *q = k[vec_q], *z = k[vec_z];
  k.each_pack([&](const row_place& at) {
    const pack<T> old_r = at.load(r), old_u = with_m ? at.load(u) : old_r, old_w = at.load(w);
    const pack<T> new_z = renewed(at.load(n), beta, at.load(z));
    const pack<T> new_s = renewed(old_w, beta, at.load(s));
    const pack<T> new_p = renewed(old_u, beta, at.load(p));
    const pack<T> new_q = with_m ? renewed(at.load(m), beta, at.load(q)) : new_s;
    const pack<T> new_x = at.load(x) + alpha * new_p;
    const pack<T> new_r = old_r - alpha * new_s;
    const pack<T> new_u = with_m ? old_u - alpha * new_q : new_r;
    const pack<T> new_w = old_w - alpha * new_z;
    at.store(x, new_x);
    at.store(z, new_z);
    at.store(s, new_s);
    at.store(p, new_p);
    at.store(r, new_r);
    at.store(w, new_w);
    if (with_m) {
      at.store(q, new_q);
      at.store(u, new_u);
    }
    add_product(sum, sum_gamma, new_r, new_u);
    add_product(sum, sum_delta, new_w, new_u);
    add_product(sum, sum_rho, new_r, new_r);
  });
  return sum;
}

// q = M s for a pointwise M, published.
template <class T>
__attribute__((noinline)) STARLING_HD void publish_q(block_context<T> k) {
  const T* s = k[vec_s];
  T *q = k[vec_q], *next = k.next_published();
  k.each_pack([&](const row_place& at) {
    const pack<T> value = k.scaled(at, at.load(s));
    at.store(q, value);
    at.store(next, value);
  });
  k.announce(vec_q);
}

// ---- Chebyshev's polynomial: out = p(A) in, as steps between products (Saad, Iterative Methods, algorithm 12.1) ----

struct chebyshev_numbers {
  double theta, delta, sigma, rho;

  STARLING_HD chebyshev_numbers(double lowest, double highest)
      : theta((highest + lowest) / 2), delta((highest - lowest) / 2), sigma(theta / delta), rho(1 / sigma) {}
  STARLING_HD double next_rho() const { return 1 / (2 * sigma - rho); }
};

template <class T>
__attribute__((noinline)) STARLING_HD void chebyshev_begin(block_context<T> k, vector_name in, vector_name out,
                                                           double theta) {
  const T scale = static_cast<T>(1 / theta);
  const T* r = k[in];
  T *e = k[vec_e], *d = k[vec_d], *o = k[out], *next = k.next_published();
  k.each_pack([&](const row_place& at) {
    const pack<T> left = at.load(r);
    const pack<T> step = scale * left;
    at.store(e, left);
    at.store(d, step);
    at.store(o, step);
    at.store(next, step);
  });
  k.announce(vec_d);
}

// After n = A d. What is published for the next product: d, or after the last step `out`, or nothing.
enum class publishing { step, result, nothing };
template <class T>
__attribute__((noinline)) STARLING_HD void chebyshev_step(block_context<T> k, vector_name out, chebyshev_numbers c,
                                                          publishing what) {
  const double rho = c.next_rho();
  const T keep = static_cast<T>(rho * c.rho);
  const T add = static_cast<T>(2 * rho / c.delta);
  const T* n = k[vec_n];
  T *e = k[vec_e], *d = k[vec_d], *o = k[out], *next = k.next_published();
  k.each_pack([&](const row_place& at) {
    const pack<T> left = at.load(e) - at.load(n);
    const pack<T> step = keep * at.load(d) + add * left;
    const pack<T> result = at.load(o) + step;
    at.store(e, left);
    at.store(d, step);
    at.store(o, result);
    if (what != publishing::nothing) at.store(next, what == publishing::result ? result : step);
  });
  if (what != publishing::nothing) k.announce(what == publishing::result ? out : vec_d);
}

}  // namespace starling::cg
