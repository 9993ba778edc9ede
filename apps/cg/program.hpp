// The persistent program of conjugate gradients: what a block that works does, and what the one that gathers sums does.
#pragma once

#include <cmath>

#include "cg/cg_kernels.hpp"
#include "cg/phases.hpp"

namespace starling::cg {

// One block's run through the iterations of a persistent program.
template <class T, method How>
class iterating {
 public:
  STARLING_HD iterating(block& b, const program_arguments<T>& a)
      : a_(a),
        k_(b, a.s, true, a.kept, a.s.state.on(b.pe())->products),
        sums_(b, a.s.sums, a.s.state.on(b.pe())->sums + 1),
        state_(b.scratch<iteration_state>(1)) {
    if (b.member() == 0) *state_ = *a.s.state.on(b.pe());
    b.sync();
  }

  STARLING_HD void run() {
    decision d{};
    if (a_.begin)
      d = start_from_x(action::replace, false);
    else
      get_ready(true);
    while (d.what != action::leave) {
      d = iterate();
      if (d.what != action::leave && d.what != action::step) d = start_from_x(d.what, d.what != action::restart);
    }
    end();
  }

 private:
  // Computes the residual from x, and what follows from it: with a direction kept, all that the recurrences need.
  // Decides whether the solve ends.
  STARLING_HD decision start_from_x(action why, bool keep_direction) {
    publish(k_, vec_x);
    k_.product(vec_w);
    sums_.post(b(), residual_from_product(k_));
    const decision d = sums_.collect(b(), [&](const dots& sum) {
      const double rho = sum.word[sum_rho];
      const decision made = decide_on_true_residual(*state_, a_.g, rho > 0 ? std::sqrt(rho) : rho, why);
      note(state_->residual);
      return made;
    });
    if (d.what == action::leave) return d;
    if (!k_.pointwise()) precondition(vec_r, vec_u, false);
    if (How == method::pipelined && keep_direction) renew_recurrences();
    get_ready(false);
    return d;
  }

  // s, q and z from p, so that the recurrences go on from exact values.
  STARLING_HD void renew_recurrences() {
    publish(k_, vec_p);
    k_.product(vec_s);
    if (k_.pointwise()) {
      const T* s = k_[vec_s];
      T *q = k_[vec_q], *next = k_.next_published();
      b().for_each(k_.rows(), [&](index_t i) { q[i] = next[i] = k_.scaled(i, s[i]); });
      k_.announce();
    } else {
      precondition(vec_s, vec_q, true);
    }
    k_.product(vec_z);
  }

  // From x, r and u, for the pipelined method also w, to the start of an iteration: standard and pipelined have posted
  // the sum that it begins with, fused has published u.
  STARLING_HD void get_ready(bool w_is_there) {
    if constexpr (How == method::standard) return sums_.post(b(), residual_products(k_));
    if (How == method::fused || !w_is_there) publish(k_, vec_u);
    if constexpr (How == method::pipelined) {
      if (!w_is_there) k_.product(vec_w);
      sums_.post(b(), all_products(k_));
    }
  }

  STARLING_HD decision iterate() {
    if constexpr (How == method::standard) return iterate_standard();
    if constexpr (How == method::fused) return iterate_fused();
    return iterate_pipelined();
  }

  STARLING_HD decision iterate_standard() {
    decision d = sums_.collect(b(), [&](const dots& sum) {
      const decision go_on = decide(sum);
      return go_on.what == action::step ? decide_direction(*state_, sum.word[sum_gamma]) : go_on;
    });
    if (d.what != action::step) return d;
    standard_direction(k_, d.beta);
    k_.product(vec_s);
    sums_.post(b(), standard_curvature(k_));
    d = sums_.collect(b(), [&](const dots& sum) { return decide_step(*state_, sum.word[sum_delta]); });
    if (d.what != action::step) return d;
    standard_step(k_, d.alpha);
    if (!k_.pointwise()) precondition(vec_r, vec_u, false);
    sums_.post(b(), residual_products(k_));
    return d;
  }

  STARLING_HD decision iterate_fused() {
    k_.product(vec_w);
    sums_.post(b(), all_products(k_));
    const decision d = decide_iteration();
    if (d.what != action::step) return d;
    fused_step(k_, d, k_.next_published());
    if (k_.pointwise())
      k_.announce();
    else
      precondition(vec_r, vec_u, true);
    return d;
  }

  STARLING_HD decision iterate_pipelined() {
    if (k_.pointwise())
      publish_m(k_);
    else
      precondition(vec_w, vec_m, true);
    k_.product(vec_n);
    const decision d = decide_iteration();
    if (d.what != action::step) return d;
    sums_.post(b(), pipelined_step(k_, d));
    return d;
  }

  STARLING_HD decision decide_iteration() {
    return sums_.collect(b(), [&](const dots& sum) {
      const decision go_on = decide(sum);
      return go_on.what == action::step ? decide_both(*state_, sum.word[sum_gamma], sum.word[sum_delta]) : go_on;
    });
  }

  STARLING_HD decision decide(const dots& sum) {
    const decision d = decide_to_go_on(*state_, a_.g, sum.word[sum_rho]);
    note(state_->residual);
    return d;
  }

  // The residual norm of the current iteration, by one thread of the machine.
  STARLING_HD void note(double norm) const {
    if (b().pe() == 0 && b().index() == 0) a_.s.history.on(0)[state_->iteration - a_.first_iteration] = norm;
  }

  // out = M in for an M that is not pointwise; published if asked for. Whoever publishes goes on with the product: see
  // system.hpp on slots.
  STARLING_HD void precondition(vector_name in, vector_name out, bool published) {
    if (a_.s.m == preconditioner::block_jacobi) {
      k_.multiply_blocks(in, out);
      if (published) publish(k_, out);
      return;
    }
    chebyshev_numbers c(a_.s.lowest, a_.s.highest);
    chebyshev_begin(k_, in, out, c);
    for (int i = 1; i <= a_.s.degree; ++i) {
      k_.product(vec_n);
      const publishing at_end = published ? publishing::result : publishing::nothing;
      chebyshev_step(k_, out, c, i == a_.s.degree ? at_end : publishing::step);
    }
  }

  // Sends the gathering block home and leaves everything for the next launch.
  STARLING_HD void end() {
    dots farewell{};
    farewell.word[sum_farewell] = 1;
    sums_.post(b(), farewell);
    k_.write_back(a_.kept.vectors);
    if (b().index() != 0 || b().member() != 0) return;
    state_->products = k_.products();
    state_->sums = sums_.number();
    *a_.s.state.on(b().pe()) = *state_;
  }

  STARLING_HD block& b() const { return k_.b(); }

  const program_arguments<T>& a_;
  worker<T> k_;
  summation sums_;
  iteration_state* state_;  // of the block's first thread
};

// The block of a PE that gathers sums: until all working blocks say farewell.
template <class T>
STARLING_HD void gather_sums(block& b, const program_arguments<T>& a) {
  summation sums(b, a.s.sums, a.s.state.on(b.pe())->sums + 1);
  while (!sums.serve(b, sum_farewell)) continue;
}

template <class T, method How>
struct cg_program {
  static constexpr int max_threads = most_block_threads;
  program_arguments<T> a;

  STARLING_HD void operator()(block& b) const {
    if (b.role() == summing_role) return gather_sums(b, a);
    iterating<T, How>(b, a).run();
  }
};

}  // namespace starling::cg
