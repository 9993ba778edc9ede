// Sums over all blocks of all PEs, without a barrier: blocks post their part, one block of each PE gathers those of its
// PE and sends the sum to all PEs, and blocks collect when they need it. All of it travels as packets, so what it
// costs is flights. Parts are added in a fixed order: threads, warps, blocks, PEs.
#pragma once

#include "starling/device/block.hpp"

namespace starling::cg {

// What one sum carries.
inline constexpr int sum_words = 3;
struct dots {
  double word[sum_words] = {};

  // Adds to a word known only at run time, without an index, so that words stay in registers.
  STARLING_HD void add(int which, double value) {
    unrolled<sum_words>([&](auto i) { word[i] += i == which ? value : 0.0; });
  }
  friend STARLING_HD dots operator+(dots a, const dots& b) {
    unrolled<sum_words>([&](auto i) { a.word[i] += b.word[i]; });
    return a;
  }
};

// Symmetric memory of the sums, and how many there have been.
struct sum_slots {
  sym<packet> parts;   // [2][blocks][sum_words]
  sym<packet> totals;  // [2][n_pes][sum_words]
  int blocks = 0;
};

namespace detail {

// The sum over the lanes of a warp; lanes 8 i to 8 i + 7 hold word i. Words cross in pairs, so that few values move.
STARLING_HD inline double sum_over_warp(const dots& mine) {
  if constexpr (!target::on_gpu) return 0;
  // Words are chosen by conditions, not by an index, so that they stay in registers.
  const auto cross = [](bool upper, double low, double high, int mask) {
    const double keep = upper ? high : low;
    const double give = upper ? low : high;
    return keep + target::shuffle_xor(give, mask);
  };
  const int lane = target::thread_index() % target::warp_size;
  const bool upper = (lane & 16) != 0;
  const double first = cross(upper, mine.word[0], mine.word[2], 16);
  const double second = cross(upper, mine.word[1], 0.0, 16);
  double sum = cross((lane & 8) != 0, first, second, 8);
  for (int mask = 4; mask > 0; mask /= 2) sum += target::shuffle_xor(sum, mask);
  return sum;
}

}  // namespace detail

// What a block needs for sums, in shared memory.
struct sum_state {
  static constexpr int answer_bytes = 32;

  sym<packet> parts[2];  // by parity of the sum's number
  sym<packet> totals[2];
  int blocks = 0;
  std::uint64_t number = 0;  // of the last sum that was collected; here, since registers are few
  double* words = nullptr;   // sum_words of each warp, on GPUs
  double* of_pes = nullptr;  // sum_words of each PE
  alignas(16) std::byte answer[answer_bytes];
};

// Scratch that a block needs for it. `warps`: of a block of a GPU; 0 on virtual devices.
constexpr std::size_t sum_scratch(int warps, int n_pes) {
  return sizeof(sum_state) + sizeof(double) * static_cast<std::size_t>(sum_words * (warps + n_pes)) + 48;
}

// By every block of the kernel; `number`: of the last sum.
STARLING_HD inline sum_state* new_sum_state(block& b, const sum_slots& receive_slots, std::uint64_t number) {
  auto* d = b.scratch<sum_state>(1);
  double* words = b.scratch<double>(target::on_gpu ? index_t{sum_words} * b.warp().count() : 0);
  double* of_pes = b.scratch<double>(index_t{sum_words} * b.n_pes());
  if (b.member() == 0) {
    *d = {};
    for (index_t slot = 0; slot < 2; ++slot) {
      d->parts[slot] = receive_slots.parts + slot * receive_slots.blocks * sum_words;
      d->totals[slot] = receive_slots.totals + slot * b.n_pes() * sum_words;
    }
    d->blocks = receive_slots.blocks;
    d->number = number;
    d->words = words;
    d->of_pes = of_pes;
  }
  b.sync();
  return d;
}

// Sums are numbered, and counted alike by all blocks. A block posts to each and collects it, in turn.
namespace sums {
namespace detail {

using cg::detail::sum_over_warp;

template <class Group>
STARLING_HD void send(const Group& g, sym<packet> receive_slot, double value, std::uint64_t number, int pe) {
  g.thread().template put_packets<double>(
      receive_slot, [&](index_t) { return packet_content<double>{{value}}; }, 1, number, pe);
}

STARLING_HD inline double take(const block_threads& t, sym<packet> receive_slot, std::uint64_t number, int from) {
  return t.thread().take_packet<double>(receive_slot, number, from).element[0];
}

// give(word, sum, j) by eight threads of the block for each word, j from 0 to 7; on a virtual device by one, for j = 0.
template <class Give>
STARLING_HD void sum_over_block(const block_threads& t, const sum_state& d, const dots& mine, const Give& give) {
  if constexpr (target::on_gpu) {
    const warp w = t.warp();
    t.any(false);  // all threads are there, and the words of the sum before have been read
    const double part = sum_over_warp(mine);
    const int word = w.member() / 8;
    if (w.member() % 8 == 0 && word < sum_words) d.words[w.rank() * sum_words + word] = part;
    t.sync();
    if (w.rank() > 0) return;
    dots all{};
    if (w.member() < w.count()) unrolled<sum_words>([&](auto i) { all.word[i] = d.words[w.member() * sum_words + i]; });
    const double sum = sum_over_warp(all);
    if (word < sum_words) give(word, sum, w.member() % 8);
  } else {
    const dots all = t.reduce(mine, plus{});
    if (t.member() > 0) return;
    for (int word = 0; word < sum_words; ++word) give(word, all.word[word], 0);
  }
}

}  // namespace detail

// Adds this block's part, a value per thread, to the next sum. A collective of the block.
STARLING_HD inline void post(block_threads t, const sum_state* d, dots mine) {
  const std::uint64_t number = d->number + 1;
  const sym<packet> receive_slot = d->parts[number % 2] + index_t{t.index()} * sum_words;
  detail::sum_over_block(t, *d, mine, [&](int word, double sum, int j) {
    if (j == 0) detail::send(t, receive_slot + word, sum, number, t.pe());
  });
}

// By the gathering block of each PE: sums up the parts of its PE and sends the sum to all. Returns whether `last` held
// for some part's word, by last(number of the word, its value).
template <class Last>
STARLING_HD bool serve(block_threads t, const sum_state* d, std::uint64_t number, const Last& last) {
  dots mine{};
  bool found = false;
  const sym<packet> parts = d->parts[number % 2];
  // Neighbouring threads wait for the words of one block, all at the same time.
  for (int i = t.member(); i < d->blocks * sum_words; i += t.members()) {
    const double value = detail::take(t, parts + i, number, t.pe());
    const int word = i % sum_words;
    mine.add(word, value);
    found = found || last(word, value);
  }
  const sym<packet> receive_slot = d->totals[number % 2] + index_t{t.pe()} * sum_words;
  detail::sum_over_block(t, *d, mine, [&](int word, double sum, int j) {
    constexpr int senders = target::on_gpu ? 8 : 1;
    for (int to = j; to < t.n_pes(); to += senders) detail::send(t, receive_slot + word, sum, number, to);
  });
  return t.any(found);
}

STARLING_HD inline dots total(const sum_state& d, int n_pes) {
  dots sum{};
  for (int pe = 0; pe < n_pes; ++pe)
    unrolled<sum_words>([&](auto word) { sum.word[word] += d.of_pes[pe * sum_words + word]; });
  return sum;
}

// Waits for the sum that was posted to last, by one warp; then decide(sum), by one thread, to every thread. A
// collective of the block.
template <class Decide>
STARLING_HD auto collect(block_threads t, sum_state* d, const Decide& decide) {
  using answer = decltype(decide(dots{}));
  static_assert(sizeof(answer) <= sum_state::answer_bytes);
  auto* given = reinterpret_cast<answer*>(d->answer);
  const warp w = t.warp();
  if (w.rank() == 0) {
    const std::uint64_t number = d->number + 1;
    const sym<packet> totals = d->totals[number % 2];
    for (int i = w.member(); i < t.n_pes() * sum_words; i += w.members())
      d->of_pes[i] = detail::take(t, totals + i, number, i / sum_words);
    w.any(false);
    w.sync();  // what all its lanes have taken
    if (w.member() == 0) {
      d->number = number;
      *given = decide(total(*d, t.n_pes()));
    }
  }
  t.any(false);
  return *given;
}

}  // namespace sums
}  // namespace starling::cg
