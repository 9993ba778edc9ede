// Sums over all blocks of all PEs between kernels that the host launches, whose order stands for the waits: each block
// leaves its part with all PEs, and every block of a later kernel adds up all parts. They are added in the order and
// shape of reduction.hpp, so the bits are the same.
#pragma once

#include "cg/iterate/reduction.hpp"

namespace starling::cg::host_sums {

// Scratch of a block for add_up, in doubles. `warps`: of a block of a GPU; 0 on virtual devices.
constexpr index_t words(int warps, int n_pes) { return index_t{sum_words} * warps * n_pes; }

// This block's part, a value per thread; parts: [PEs][blocks][sum_words]. A collective of the block.
__attribute__((noinline)) STARLING_HD inline void leave(block_threads t, const sum_state* d, dots mine,
                                                        sym<double> parts) {
  const sym<double> receive_slot = parts + (index_t{t.pe()} * d->blocks + t.index()) * sum_words;
  sums::detail::sum_over_block(t, *d, mine, [&](int word, double sum, int j) {
    constexpr int givers = target::on_gpu ? 8 : 1;
    for (int to = j; to < t.n_pes(); to += givers) t.thread().p(receive_slot + word, sum, to);
  });
}

namespace detail {

// What warps make of the parts of some PEs: a sum of each warp into of_warps, [PEs][warps][sum_words].
STARLING_HD inline void add_up_in_warps(const block_threads& t, int n, const double* parts, double* of_warps) {
  constexpr int at_once = 4;  // PEs whose parts are on their way together
  const warp w = t.warp();
  const int word = w.member() / 8;
  for (int first = 0; first < t.n_pes(); first += at_once) {
    double value[at_once];
    unrolled<at_once>([&](auto k) {
      const bool there = first + k < t.n_pes() && t.member() < n;
      value[k] = there ? parts[index_t{first + k} * n + t.member()] : 0.0;
    });
    unrolled<at_once>([&](auto k) {
      const int pe = first + k;
      if (pe >= t.n_pes()) return;
      dots mine{};
      mine.add(t.member() % sum_words, value[k]);
      for (int i = t.member() + t.members(); i < n; i += t.members())
        mine.add(i % sum_words, parts[index_t{pe} * n + i]);
      const double sum = cg::detail::sum_over_warp(mine);
      if (w.member() % 8 == 0 && word < sum_words) of_warps[(pe * w.count() + w.rank()) * sum_words + word] = sum;
    });
  }
}

}  // namespace detail

// The sums of all PEs from their parts. A collective of the block; its first thread may then call sums::total().
__attribute__((noinline)) STARLING_HD inline void add_up(block_threads t, const sum_state* d, sym<double> all_parts,
                                                         double* of_warps) {
  const double* parts = all_parts.on(t.pe());
  const int n = d->blocks * sum_words;
  if constexpr (target::on_gpu) {
    detail::add_up_in_warps(t, n, parts, of_warps);
    t.sync();
    const warp w = t.warp();
    const int word = w.member() / 8;
    for (int pe = w.rank(); pe < t.n_pes(); pe += w.count()) {
      dots all{};
      if (w.member() < w.count())
        unrolled<sum_words>([&](auto i) { all.word[i] = of_warps[(pe * w.count() + w.member()) * sum_words + i]; });
      const double sum = cg::detail::sum_over_warp(all);
      if (w.member() % 8 == 0 && word < sum_words) d->of_pes[pe * sum_words + word] = sum;
    }
  } else {
    for (int pe = t.member(); pe < t.n_pes(); pe += t.members()) {
      dots sum{};
      for (int i = 0; i < n; ++i) sum.add(i % sum_words, parts[index_t{pe} * n + i]);
      unrolled<sum_words>([&](auto word) { d->of_pes[pe * sum_words + word] = sum.word[word]; });
    }
  }
  t.any(false);
}

}  // namespace starling::cg::host_sums
