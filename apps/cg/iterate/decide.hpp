// What follows from the sums of an iteration: the steps, or the end. One thread of each block works it out from the
// same numbers, so all blocks of all PEs agree.
#pragma once

#include <cmath>

#include "cg/iterate/system.hpp"
#include "cg/options.hpp"

namespace starling::cg {

enum class action : std::int32_t {
  step,     // do the iteration
  replace,  // compute the residual from x and all that follows from it, keep the direction, check again
  verify,   // the same, because the residual of the recurrence has reached the target
  restart,  // the same, and forget the direction
  leave,    // pause, or stop
};

struct decision {
  double alpha = 0;
  double beta = 0;
  action what = action::step;
  std::int32_t reserved = 0;
};

namespace detail {

STARLING_HD inline bool finite(double x) { return x - x == 0; }

STARLING_HD inline bool stopped_by(const iteration_state& st, stop why) {
  return st.stopped == 1 + static_cast<std::int32_t>(why);
}

STARLING_HD inline decision stop_with(iteration_state& st, stop why, double value) {
  st.stopped = 1 + static_cast<std::int32_t>(why);
  st.breakdown_value = value;
  return {0, 0, action::leave, 0};
}

// Whether a curvature that is not positive, the difference of (A u, u) and `taken_off`, tells of the matrix, or perhaps
// of rounding errors only.
STARLING_HD inline bool is_verdict(const iteration_state& st, double curvature, double taken_off, bool alone,
                                   bool w_is_product) {
  constexpr double clearly = 1e-3;
  constexpr index_t few_iterations = 10;  // of recurrences that begin from exact values
  if (alone) return w_is_product || st.since_replacement == 0;
  return st.new_direction != 0 && curvature < -clearly * taken_off &&
         (w_is_product || st.since_replacement < few_iterations);
}

}  // namespace detail

// Whether the solve has ended because the numbers of A or M do not allow it: others with them would end so too.
STARLING_HD inline bool has_broken_down(const iteration_state& st) {
  return detail::stopped_by(st, stop::not_positive_definite) || detail::stopped_by(st, stop::not_finite);
}

// After the residual has been computed from x because of `why`, rho = (r, r): whether the solve has converged,
// or can get no further.
STARLING_HD inline decision decide_on_true_residual(iteration_state& st, const goal& g, double rho, action why) {
  // The recurrence may be ahead of the truth a few times, but not without progress.
  constexpr int most_stalls = 3;
  const bool stalled = why != action::replace && st.replacements > 0 && rho > 0.25 * st.true_rho;
  if (why != action::replace) st.stalls = stalled ? st.stalls + 1 : 0;
  // With a residual that is larger than the recurrence had it, the old direction is not conjugate to what follows.
  if (why == action::restart || rho > 4 * st.rho) st.restart = 1;
  st.new_direction = st.restart;
  if (g.scales.epsilon > 0) st.gap.begin(g.scales, st.replacements == 0);
  ++st.replacements;
  st.true_rho = rho;
  st.rho = rho;
  st.since_replacement = 0;
  if (!detail::finite(rho)) return detail::stop_with(st, stop::not_finite, rho);
  if (g.fixed) return {};
  if (rho <= g.target_rho) return detail::stop_with(st, stop::converged, 0);
  if (st.stalls >= most_stalls) return detail::stop_with(st, stop::stagnated, std::sqrt(rho));
  return {};
}

// Whether the iterations end or pause here; `rho` = (r, r) by the recurrence.
STARLING_HD inline decision decide_to_go_on(iteration_state& st, const goal& g, double rho) {
  if (!detail::finite(rho)) return detail::stop_with(st, stop::not_finite, rho);
  st.rho = rho;
  // So far ahead of the truth a recurrence means nothing; some time later its sums would underflow.
  constexpr double furthest_ahead = 1e-80;
  if ((!g.fixed && rho <= g.target_rho) || rho < furthest_ahead * st.true_rho) return {0, 0, action::verify, 0};
  if (st.iteration >= g.last_iteration) {
    if (g.final_launch) st.stopped = 1 + static_cast<std::int32_t>(stop::iterations);
    return {0, 0, action::leave, 0};
  }
  const bool due = g.replace_every > 0    ? st.since_replacement >= g.replace_every
                   : g.scales.epsilon > 0 ? st.gap.is_due(g.scales, std::sqrt(rho))
                                          : false;
  if (due) return {0, 0, action::replace, 0};
  return {0, 0, action::step, 0};
}

// Standard: beta from gamma = (r, u).
STARLING_HD inline decision decide_direction(iteration_state& st, double gamma) {
  if (!detail::finite(gamma)) return detail::stop_with(st, stop::not_finite, gamma);
  if (gamma < 0) return detail::stop_with(st, stop::not_positive_definite, gamma);
  decision d;
  d.beta = st.restart != 0 || st.gamma == 0 ? 0 : gamma / st.gamma;
  st.gamma = gamma;
  st.restart = 0;
  return d;
}

// Standard: alpha from delta = (p, A p).
STARLING_HD inline decision decide_step(iteration_state& st, double delta) {
  if (!detail::finite(delta)) return detail::stop_with(st, stop::not_finite, delta);
  decision d;
  if (st.gamma != 0) {
    if (!(delta > 0)) return detail::stop_with(st, stop::not_positive_definite, delta);
    d.alpha = st.gamma / delta;
  }
  ++st.iteration;
  ++st.since_replacement;
  return d;
}

// Fused and pipelined: both, from gamma = (r, u) and delta = (A u, u). `w_is_product`: A u does not come from a
// recurrence.
STARLING_HD inline decision decide_both(iteration_state& st, const goal& g, double gamma, double delta,
                                        bool w_is_product) {
  if (!detail::finite(gamma) || !detail::finite(delta))
    return detail::stop_with(st, stop::not_finite, detail::finite(gamma) ? delta : gamma);
  // Whether it is the matrix, or rounding errors of the recurrences (pipelined), shows what is computed from x.
  if (gamma < 0 && st.since_replacement > 0) return {0, 0, action::restart, 0};
  if (gamma < 0) return detail::stop_with(st, stop::not_positive_definite, gamma);
  decision d;
  const bool alone = st.restart != 0 || st.gamma == 0;
  d.beta = alone ? 0 : gamma / st.gamma;
  // (p, A p), which is delta - beta gamma / alpha of the iteration before (Chronopoulos and Gear), without alpha.
  const double curvature = alone ? delta : delta - d.beta * d.beta * st.curvature;
  if (gamma != 0) {
    if (!(curvature > 0)) {
      if (detail::is_verdict(st, curvature, alone ? 0 : d.beta * d.beta * st.curvature, alone, w_is_product))
        return detail::stop_with(st, stop::not_positive_definite, curvature);
      return {0, 0, action::restart, 0};
    }
    d.alpha = gamma / curvature;
  }
  st.gamma = gamma;
  st.curvature = curvature;
  if (g.scales.epsilon > 0) st.gap.advance(g.scales, {d.alpha, d.beta, st.rho, gamma, delta});
  st.restart = 0;
  ++st.iteration;
  ++st.since_replacement;
  return d;
}

}  // namespace starling::cg
