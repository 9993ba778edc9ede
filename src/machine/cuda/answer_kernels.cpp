#include "answer.hpp"

namespace starling::on_cuda {
namespace {

struct answer {
  sym<signal> heard;

  STARLING_HD void operator()(block& b) const {
    constexpr std::uint64_t rounds = 4;
    const int next = (b.pe() + 1) % b.n_pes();
    const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      b.signal_set(heard, i, next);
      b.wait(heard, i, before);
    }
  }
};

struct nothing {
  STARLING_HD void operator()(block&) const {}
};

}  // namespace

kernel answer_kernel(sym<signal> heard) { return make_kernel(answer{heard}); }
kernel empty_kernel() { return make_kernel(nothing{}); }

}  // namespace starling::on_cuda
