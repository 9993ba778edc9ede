#include "cg/host/host_steps.hpp"

#include "cg/iterate/phases.hpp"

namespace starling::cg {

// The kernel that the next piece belongs to; another one than the last if that cannot be.
planned_step& step_planner::open(bool other) {
  if (steps_.empty() || other || steps_.back().step.count == host_step::most_pieces) {
    planned_step next;
    next.step.slots = slots_;
    next.step.starting = starting_;
    steps_.push_back(next);
  }
  return steps_.back();
}

void step_planner::add(const piece& p) {
  host_step& s = open(false).step;
  s.pieces[s.count++] = p;
}

void step_planner::add_publishing(const piece& p) {
  (void)open(!steps_.empty() && steps_.back().publishes);
  add(p);
  steps_.back().publishes = true;
  slots_.products ^= 1;
}

void step_planner::add_posting(const piece& p) {
  add(p);
  steps_.back().posts = true;
  slots_.sums ^= 1;
}

// Needs the sums of all blocks.
void step_planner::add_deciding(const piece& p) {
  planned_step& s = open(!steps_.empty() && (steps_.back().posts || steps_.back().step.decides));
  s.needs_sums = true;
  s.step.decides = true;
  add(p);
  slots_.states ^= 1;
}

// Needs what all blocks have published.
void step_planner::product(vector_name out) {
  open(!steps_.empty() && steps_.back().publishes).needs_values = true;
  add({piece::product, vec_x, out, 0});
}

void step_planner::precondition(vector_name in, vector_name out, bool published) {
  if (m_ == preconditioner::block_jacobi) {
    add({piece::multiply_blocks, in, out, 0});
    if (published) add_publishing({piece::publish, out, vec_x, 0});
    return;
  }
  chebyshev_numbers c(lowest_, highest_);
  add_publishing({piece::chebyshev_begin, in, out, 0});
  for (int i = 1; i <= degree_; ++i) {
    product(vec_n);
    const publishing at_end = published ? publishing::result : publishing::nothing;
    const publishing shown = i == degree_ ? at_end : publishing::step;
    const piece step{piece::chebyshev_step, vec_n, out, static_cast<std::int32_t>(shown)};
    if (shown == publishing::nothing)
      add(step);
    else
      add_publishing(step);
    steps_.back().step.rho = c.rho;
    c.rho = c.next_rho();
  }
}

void step_planner::publish_m_and_multiply() {
  if (pointwise())
    add_publishing({piece::publish_m, vec_w, vec_m, 0});
  else
    precondition(vec_w, vec_m, true);
  product(vec_n);
}

// As iterating::get_ready of the persistent program, then what an iteration does before it decides.
void step_planner::get_ready() {
  if (how_ == method::standard) return add_posting({piece::residual_sums, vec_r, vec_u, 0});
  add_publishing({piece::publish, vec_u, vec_x, 0});
  product(vec_w);
  add_posting({piece::all_sums, vec_r, vec_w, 0});
  if (how_ == method::pipelined) publish_m_and_multiply();
}

void step_planner::start(bool keep_direction) {
  starting_ = true;
  add_publishing({piece::publish, vec_x, vec_x, 0});
  product(vec_w);
  add_posting({piece::residual, vec_w, vec_r, 0});
  add_deciding({piece::judge, vec_r, vec_r, 0});
  starting_ = false;
  if (!pointwise()) precondition(vec_r, vec_u, false);
  if (how_ == method::pipelined && keep_direction) {
    add_publishing({piece::publish, vec_p, vec_x, 0});
    product(vec_s);
    if (pointwise())
      add_publishing({piece::publish_q, vec_s, vec_q, 0});
    else
      precondition(vec_s, vec_q, true);
    product(vec_z);
  }
  get_ready();
}

void step_planner::iteration() {
  add_deciding({piece::decide, vec_x, vec_x, 0});
  if (how_ == method::standard) {
    add_publishing({piece::direction, vec_u, vec_p, 0});
    product(vec_s);
    add_posting({piece::curvature, vec_p, vec_s, 0});
    add_deciding({piece::decide_alpha, vec_x, vec_x, 0});
    if (pointwise()) return add_posting({piece::step, vec_p, vec_x, 0});
    add({piece::step, vec_p, vec_x, 0});
    precondition(vec_r, vec_u, false);
    add_posting({piece::residual_sums, vec_r, vec_u, 0});
  } else if (how_ == method::fused) {
    if (pointwise()) {
      add_publishing({piece::step, vec_u, vec_x, 0});
    } else {
      add({piece::step, vec_u, vec_x, 0});
      precondition(vec_r, vec_u, true);
    }
    product(vec_w);
    add_posting({piece::all_sums, vec_r, vec_w, 0});
  } else {
    add_posting({piece::step, vec_n, vec_x, 0});
    publish_m_and_multiply();
  }
}

void step_planner::check() { add_deciding({piece::check, vec_x, vec_x, 0}); }

}  // namespace starling::cg
