#include "cg/host/host_steps.hpp"
#include "cg/host/host_sums.hpp"
#include "cg/iterate/cg_kernels.hpp"
#include "cg/iterate/phases.hpp"

namespace starling::cg {
namespace {

// One block's run through the pieces of a kernel.
template <class T, method How>
class host_stepping {
 public:
  STARLING_HD host_stepping(block& b, const host_step_arguments<T>& a)
      : a_(a),
        state_(read_state(b, a)),
        given_(b.scratch<decision>(1)),
        k_(b, a.s, false, {}, static_cast<std::uint64_t>(a.step.slots.products)),
        sums_(new_sum_state(b, a.s.sums, 0)),
        of_warps_(b.scratch<double>(host_sums::words(target::on_gpu ? b.warp().count() : 0, b.n_pes()))) {}

  STARLING_HD void run() {
    const action what = state_->what;
    const bool wanted = a_.step.starting ? what != action::step && what != action::leave : what == action::step;
    if (!wanted) {
      if (a_.step.decides && k_.all().member() == 0) hand_on_state();
      return;
    }
    for (int i = 0; i < a_.step.count; ++i)
      if (!do_piece(a_.step.pieces[i])) return;
  }

 private:
  // Whether the kernel goes on.
  STARLING_HD bool do_piece(const piece& p) {
    switch (p.what) {
      case piece::publish:
        publish(k_, p.in);
        k_.count_product();
        break;
      case piece::product:
        k_.product(p.out);
        break;
      case piece::residual:
        post(residual_from_product(k_));
        break;
      case piece::residual_sums:
        post(residual_products(k_));
        break;
      case piece::judge:
        return collect([&](const dots& sum) {
          note(sum.word[sum_rho]);
          return decide_on_true_residual(state_->st, state_->g, sum.word[sum_rho], state_->what);
        });
      case piece::check:
        return collect([&](const dots& sum) { return decide_where(sum); });
      case piece::decide:
        return collect([&](const dots& sum) {
          const decision go_on = decide_where(sum);
          if (go_on.what != action::step) return go_on;
          if constexpr (How == method::standard) return decide_direction(state_->st, sum.word[sum_gamma]);
          return decide_both(state_->st, state_->g, sum.word[sum_gamma], sum.word[sum_delta], How == method::fused);
        });
      case piece::step:
        step();
        break;
      case piece::multiply_blocks:
        k_.multiply_blocks(p.in, p.out);
        break;
      case piece::chebyshev_begin:
        chebyshev_begin(k_, p.in, p.out, chebyshev_numbers(a_.s.lowest, a_.s.highest).theta);
        k_.count_product();
        break;
      case piece::chebyshev_step: {
        chebyshev_numbers c(a_.s.lowest, a_.s.highest);
        c.rho = a_.step.rho;
        const auto shows = static_cast<publishing>(p.shows);
        chebyshev_step(k_, p.out, c, shows);
        if (shows != publishing::nothing) k_.count_product();
        break;
      }
      default:
        return do_piece_of_method(p);
    }
    return true;
  }

  STARLING_HD bool do_piece_of_method(const piece& p) {
    if constexpr (How == method::standard) {
      if (p.what == piece::direction) {
        standard_direction(k_, given_->beta);
        k_.count_product();
      } else if (p.what == piece::curvature) {
        post(standard_curvature(k_));
      } else if (p.what == piece::decide_alpha) {
        return collect([&](const dots& sum) { return decide_step(state_->st, sum.word[sum_delta]); });
      }
      return true;
    }
    if (p.what == piece::all_sums) post(all_products(k_));
    if constexpr (How == method::pipelined) {
      if (p.what == piece::publish_m) {
        publish_m(k_);
        k_.count_product();
      } else if (p.what == piece::publish_q) {
        publish_q(k_);
        k_.count_product();
      }
    }
    return true;
  }

  STARLING_HD void step() {
    if constexpr (How == method::standard) {
      const dots sum = standard_step(k_, given_->alpha);
      if (k_.pointwise()) post(sum);
    } else if constexpr (How == method::fused) {
      fused_step(k_, *given_);
      if (k_.pointwise()) k_.count_product();
    } else {
      post(pipelined_step(k_, *given_));
    }
  }

  STARLING_HD decision decide_where(const dots& sum) const {
    note(sum.word[sum_rho]);
    return decide_to_go_on(state_->st, state_->g, sum.word[sum_rho]);
  }

  // (r, r) of the current iteration, by one thread of the machine.
  STARLING_HD void note(double rho) const {
    const block_threads& t = k_.all();
    if (t.pe() == 0 && t.index() == 0) a_.s.history.on(0)[state_->st.iteration - state_->first_iteration] = rho;
  }

  STARLING_HD sym<double> parts(int number) const {
    return a_.parts + index_t{number % 2} * k_.all().n_pes() * a_.s.sums.blocks * sum_words;
  }
  STARLING_HD void post(const dots& mine) const {
    host_sums::leave(k_.all(), sums_, mine, parts(a_.step.slots.sums + 1));
  }

  // Every block decides the same; the first one of each PE leaves it for the next kernels.
  template <class Decide>
  STARLING_HD bool collect(const Decide& decide_on) const {
    const block_threads& t = k_.all();
    host_sums::add_up(t, sums_, parts(a_.step.slots.sums), of_warps_);
    if (t.member() == 0) {
      *given_ = decide_on(sums::total(*sums_, t.n_pes()));
      state_->what = given_->what;
      hand_on_state();
    }
    t.sync();
    return given_->what == action::step;
  }

  STARLING_HD void hand_on_state() const {
    const block_threads& t = k_.all();
    if (t.index() == 0) a_.state.on(t.pe())[1 - a_.step.slots.states] = *state_;
  }

  // The block context's making is a barrier after it.
  STARLING_HD static host_state* read_state(block& b, const host_step_arguments<T>& a) {
    auto* state = b.scratch<host_state>(1);
    if (b.member() == 0) *state = a.state.on(b.pe())[a.step.slots.states];
    return state;
  }

  const host_step_arguments<T>& a_;
  host_state* state_;
  decision* given_;
  block_context<T> k_;
  sum_state* sums_;
  double* of_warps_;
};

template <class T, method How>
struct host_step_program {
  static constexpr int max_threads = most_block_threads;
  static constexpr int least_blocks = 1;
  host_step_arguments<T> a;

  STARLING_HD void operator()(block& b) const { host_stepping<T, How>(b, a).run(); }
};

}  // namespace

template <class T>
kernel host_step_kernel(const host_step_arguments<T>& a, method how) {
  if (how == method::standard) return make_kernel(host_step_program<T, method::standard>{a});
  if (how == method::fused) return make_kernel(host_step_program<T, method::fused>{a});
  return make_kernel(host_step_program<T, method::pipelined>{a});
}

template <class T>
std::size_t host_step_scratch(int threads, bool on_gpu, bool compressed, int n_pes) {
  const int warps = on_gpu ? static_cast<int>(ceil_div(threads, 32)) : 0;
  return block_context<T>::scratch_bytes(warps, compressed) + sum_scratch(warps, n_pes) + sizeof(host_state) +
         sizeof(decision) + sizeof(double) * static_cast<std::size_t>(host_sums::words(warps, n_pes)) + 48;
}

template kernel host_step_kernel(const host_step_arguments<float>&, method);
template kernel host_step_kernel(const host_step_arguments<double>&, method);
template std::size_t host_step_scratch<float>(int, bool, bool, int);
template std::size_t host_step_scratch<double>(int, bool, bool, int);

}  // namespace starling::cg
