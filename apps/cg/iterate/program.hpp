// The persistent program of conjugate gradients: what a block that works does, and what the one that gathers sums does.
#pragma once

#include <cmath>

#include "cg/iterate/cg_kernels.hpp"
#include "cg/iterate/phases.hpp"

namespace starling::cg {

// No (r, r) is negative: this part of a sum says that its block needs no more sums.
inline constexpr double shutdown_rho = -1;

// One block's run through the iterations of a persistent program, column by column.
template <class T, method How>
class iterating {
 public:
  STARLING_HD iterating(block& b, const program_arguments<T>& a)
      : a_(a),
        k_(b, a.s, true, a.kept, a.s.state.on(b.pe())->products),
        sums_(new_sum_state(b, a.s.sums, a.s.state.on(b.pe())->sums)),
        state_(b.scratch<iteration_state>(1)),
        goal_(b.scratch<goal>(1)) {
    if (b.member() == 0) {
      *state_ = *a.s.state.on(b.pe());
      state_->history_at = -state_->iteration;
    }
    b.sync();
  }

  STARLING_HD void run() {
    bool begin = a_.begin;
    do {
      open_column(begin);
      action what = action::replace;
      if (!begin) {
        get_ready(true);
        what = action::step;
      }
      while (what != action::leave) what = what == action::step ? iterate() : start_from_x(what);
      copy_part(k_, k_[vec_x], k_.part_of(a_.solution + state_->column * a_.s.stride));
      begin = true;
    } while (next_column());
    end();
  }

 private:
  // Everything for the column that the state names; at its begin x too.
  STARLING_HD void open_column(bool begin) {
    const index_t place = state_->column * a_.s.stride;
    if (k_.all().member() == 0) {
      *goal_ = a_.goals.on(k_.all().pe())[state_->column];
      const index_t last = a_.history_entries - 1 - state_->history_at;
      goal_->final_launch = goal_->last_iteration <= last;
      if (!goal_->final_launch) goal_->last_iteration = last;
    }
    k_.look_at(vec_b, a_.right + place);
    if (begin) copy_part(k_, k_.part_of(a_.solution + place), k_[vec_x]);
  }

  // When a column has ended: whether the next one is begun in this launch.
  STARLING_HD bool next_column() {
    const index_t at = state_->history_at + state_->iteration + 1;
    constexpr index_t least_entries = 2;  // its start and an iteration
    if (state_->stopped == 0 || has_broken_down(*state_) || state_->column + 1 == a_.columns ||
        at + least_entries > a_.history_entries)
      return false;
    const block_threads& t = k_.all();
    t.sync();
    if (t.member() == 0) {
      const index_t column = state_->column;
      if (t.pe() == 0 && t.index() == 0) a_.s.state.on(0)[1 + column] = *state_;
      *state_ = {};
      state_->column = column + 1;
      state_->history_at = at;
    }
    t.sync();
    return true;
  }

  // Computes the residual from x, and what follows from it; of a direction that is kept all that the recurrences need.
  // Returns `step`, or `leave` where the solve ends.
  STARLING_HD action start_from_x(action why) {
    publish_vector(vec_x);
    k_.product(vec_w);
    post(residual_from_product(k_));
    const decision d = collect([&](const dots& sum) {
      note(sum.word[sum_rho]);
      return decide_on_true_residual(*state_, *goal_, sum.word[sum_rho], why);
    });
    if (d.what == action::leave) return d.what;
    if (!k_.pointwise()) precondition(vec_r, vec_u, false);
    const bool keeps_direction = why != action::restart && state_->replacements > 1;
    if (How == method::pipelined && keeps_direction) renew_recurrences();
    get_ready(false);
    return action::step;
  }

  // s, q and z from p, so that the recurrences go on from exact values.
  STARLING_HD void renew_recurrences() {
    publish_vector(vec_p);
    k_.product(vec_s);
    if (k_.pointwise()) {
      publish_q(k_);
      k_.count_product();
    } else {
      precondition(vec_s, vec_q, true);
    }
    k_.product(vec_z);
  }

  // From x, r and u, for the pipelined method also w, to the start of an iteration: standard and pipelined have posted
  // the sum that it begins with, fused has published u.
  STARLING_HD void get_ready(bool w_is_there) {
    if constexpr (How == method::standard) {
      post(residual_products(k_));
    } else {
      if (How == method::fused || !w_is_there) publish_vector(vec_u);
      if constexpr (How == method::pipelined) {
        if (!w_is_there) k_.product(vec_w);
        post(all_products(k_));
      }
    }
  }

  STARLING_HD action iterate() {
    if constexpr (How == method::standard) return iterate_standard();
    if constexpr (How == method::fused) return iterate_fused();
    return iterate_pipelined();
  }

  STARLING_HD action iterate_standard() {
    decision d = collect([&](const dots& sum) {
      const decision go_on = decide(sum);
      return go_on.what == action::step ? decide_direction(*state_, sum.word[sum_gamma]) : go_on;
    });
    if (d.what != action::step) return d.what;
    standard_direction(k_, d.beta);
    k_.count_product();
    k_.product(vec_s);
    post(standard_curvature(k_));
    d = collect([&](const dots& sum) { return decide_step(*state_, sum.word[sum_delta]); });
    if (d.what != action::step) return d.what;
    const dots sum = standard_step(k_, d.alpha);
    if (k_.pointwise()) {
      post(sum);
    } else {
      precondition(vec_r, vec_u, false);
      post(residual_products(k_));
    }
    return d.what;
  }

  STARLING_HD action iterate_fused() {
    k_.product(vec_w);
    post(all_products(k_));
    const decision d = decide_iteration();
    if (d.what != action::step) return d.what;
    fused_step(k_, d);
    if (k_.pointwise())
      k_.count_product();
    else
      precondition(vec_r, vec_u, true);
    return d.what;
  }

  STARLING_HD action iterate_pipelined() {
    if (k_.pointwise()) {
      publish_m(k_);
      k_.count_product();
    } else {
      precondition(vec_w, vec_m, true);
    }
    k_.product(vec_n);
    const decision d = decide_iteration();
    if (d.what == action::step) post(pipelined_step(k_, d));
    return d.what;
  }

  STARLING_HD decision decide_iteration() {
    return collect([&](const dots& sum) {
      const decision go_on = decide(sum);
      return go_on.what == action::step
                 ? decide_both(*state_, *goal_, sum.word[sum_gamma], sum.word[sum_delta], How == method::fused)
                 : go_on;
    });
  }

  STARLING_HD decision decide(const dots& sum) const {
    note(sum.word[sum_rho]);
    return decide_to_go_on(*state_, *goal_, sum.word[sum_rho]);
  }

  // (r, r) of the current iteration, by one thread of the machine.
  STARLING_HD void note(double rho) const {
    const block_threads& t = k_.all();
    if (t.pe() == 0 && t.index() == 0) a_.s.history.on(0)[state_->history_at + state_->iteration] = rho;
  }

  // ---- pieces ----

  STARLING_HD void post(const dots& mine) { sums::post(k_.all(), sums_, mine); }
  template <class Decide>
  STARLING_HD decision collect(const Decide& decide_on) const {
    return sums::collect(k_.all(), sums_, decide_on);
  }

  STARLING_HD void publish_vector(vector_name v) {
    publish(k_, v);
    k_.count_product();
  }

  // out = M in for an M that is not pointwise; published if asked for. Whoever publishes goes on with the product: see
  // system.hpp on slots.
  STARLING_HD void precondition(vector_name in, vector_name out, bool published) {
    if (a_.s.m == preconditioner::block_jacobi) {
      k_.multiply_blocks(in, out);
      if (published) publish_vector(out);
      return;
    }
    chebyshev_numbers c(a_.s.lowest, a_.s.highest);
    chebyshev_begin(k_, in, out, c.theta);
    k_.count_product();
    const publishing at_end = published ? publishing::result : publishing::nothing;
    for (int i = 1; i <= a_.s.degree; ++i) {
      k_.product(vec_n);
      const publishing what = i == a_.s.degree ? at_end : publishing::step;
      chebyshev_step(k_, out, c, what);
      if (what != publishing::nothing) k_.count_product();
      c.rho = c.next_rho();
    }
  }

  // Sends the gathering block home and leaves everything for the next launch.
  STARLING_HD void end() {
    dots shutdown{};
    if (k_.all().member() == 0) shutdown.word[sum_rho] = shutdown_rho;
    post(shutdown);
    k_.write_back(a_.s, a_.kept.vectors);
    const block_threads& t = k_.all();
    if (t.index() != 0 || t.member() != 0) return;
    state_->products = k_.product_number();
    state_->sums = sums_->number + 1;  // the shutdown has not been collected
    *a_.s.state.on(t.pe()) = *state_;
  }

  const program_arguments<T>& a_;
  block_context<T> k_;
  sum_state* sums_;
  iteration_state* state_;  // written by the block's first thread
  goal* goal_;              // the same
};

// The block of a PE that gathers sums: until all working blocks have sent their shutdown.
template <class T>
STARLING_HD void gather_sums(block& b, const program_arguments<T>& a) {
  std::uint64_t number = a.s.state.on(b.pe())->sums;
  const sum_state* d = new_sum_state(b, a.s.sums, number);
  ++number;
  const auto shutdown = [](int word, double part) { return word == sum_rho && part == shutdown_rho; };
  while (!sums::serve(b.all_threads(), d, number, shutdown)) ++number;
}

template <class T, method How>
struct cg_program {
  static constexpr int max_threads = most_block_threads;
  static constexpr int least_blocks = 1;
  program_arguments<T> a;

  STARLING_HD void operator()(block& b) const {
    if (b.role() == summing_role) return gather_sums(b, a);
    iterating<T, How>(b, a).run();
  }
};

}  // namespace starling::cg
