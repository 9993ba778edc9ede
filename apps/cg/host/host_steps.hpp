// Conjugate gradients as kernels that the host launches: which phases each of them has, and what goes from one to the
// next. The host does not know what the devices decide; a decision other than to step stays in the state and makes
// the kernels that were issued after it do nothing, until the host has read the state.
#pragma once

#include <vector>

#include "cg/iterate/decide.hpp"
#include "cg/iterate/system.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::cg {

// Where the iterations are and where they are to go; one on each PE, all alike.
struct host_state {
  iteration_state st;
  goal g;
  index_t first_iteration = 0;  // history[0] is of this one
  action what = action::step;   // the last decision
  std::int32_t reserved = 0;
};

// What a kernel does, piece by piece; each needs other blocks' work of earlier kernels only.
struct piece {
  enum kind : std::int32_t {
    publish,          // in
    product,          // out = A times what was published
    residual,         // r = b - w, and its sum
    judge,            // the true residual
    check,            // whether the iterations end, pause or renew the residual here; a step is not begun
    decide,           // how to step; standard: the direction
    decide_alpha,     // standard: the step
    direction,        // standard
    curvature,        // standard, and its sum
    step,             // of the method, with what follows from it at once: sums, the next vector published
    residual_sums,    // (r, u) and (r, r)
    all_sums,         // these and (w, u)
    publish_m,        // pipelined, with a pointwise M
    publish_q,        // the same
    multiply_blocks,  // out = M in
    chebyshev_begin,  // out = M in; publishes
    chebyshev_step,   // of out; publishes what `shows` says
  };
  kind what = publish;
  vector_name in = vec_x;
  vector_name out = vec_x;
  std::int32_t shows = 0;
};

// Which of two slots is in use, for what is published, summed up and decided.
struct slot_numbers {
  int products = 0;
  int sums = 0;
  int states = 0;

  int all() const { return products + 2 * sums + 4 * states; }
};

// One kernel.
struct host_step {
  static constexpr int most_pieces = 6;

  piece pieces[most_pieces];
  int count = 0;
  slot_numbers slots;     // before it
  bool starting = false;  // runs when the residual is to be computed from x; others, when iterations go on
  bool decides = false;   // hands the state from one slot to the other
  double rho = 0;         // of Chebyshev's step
};

// The same for the host: what of other PEs the kernel needs, and what it has for them.
struct planned_step {
  host_step step;
  bool needs_values = false;
  bool needs_sums = false;
  bool publishes = false;
  bool posts = false;

  bool sends() const { return publishes || posts; }
};

// A piece of the solve as a list of kernels, as few as can be.
class step_planner {
 public:
  step_planner(method how, preconditioner m, int degree, double lowest, double highest, slot_numbers slots)
      : how_(how), m_(m), degree_(degree), lowest_(lowest), highest_(highest), slots_(slots) {}

  // From x to the start of an iteration: the sums that it begins with are there.
  void start(bool keep_direction);
  void iteration();
  void check();

  const std::vector<planned_step>& steps() const { return steps_; }
  slot_numbers slots() const { return slots_; }

 private:
  bool pointwise() const { return m_ == preconditioner::none || m_ == preconditioner::jacobi; }
  planned_step& open(bool other);
  void add(const piece& p);
  void add_publishing(const piece& p);
  void add_posting(const piece& p);
  void add_deciding(const piece& p);
  void product(vector_name out);
  void precondition(vector_name in, vector_name out, bool published);
  void publish_m_and_multiply();
  void get_ready();

  method how_;
  preconditioner m_;
  int degree_;
  double lowest_, highest_;
  slot_numbers slots_;
  bool starting_ = false;
  std::vector<planned_step> steps_;
};

template <class T>
struct host_step_arguments {
  system_data<T> s;
  sym<host_state> state;  // [2]
  sym<double> parts;      // [2][PEs][blocks][sum_words]
  host_step step;
};

template <class T>
kernel host_step_kernel(const host_step_arguments<T>& a, method how);

// Bytes of scratch that such a kernel's blocks need.
template <class T>
std::size_t host_step_scratch(int threads, bool on_gpu, bool compressed, int n_pes);

}  // namespace starling::cg
