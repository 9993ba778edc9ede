// Sums over all blocks of all PEs, without a barrier: blocks post their part, one block of each PE gathers those of its
// PE and sends the sum to all PEs, and blocks collect when they need it. All of it travels as packets, so what it
// costs is flights. Parts are added in a fixed order: threads, warps, blocks, PEs.
#pragma once

#include "starling/device/block.hpp"

namespace starling::cg {

// What one sum carries.
inline constexpr int sum_words = 4;
struct dots {
  double word[sum_words] = {};

  STARLING_HD dots& operator+=(const dots& other) {
    for (int i = 0; i < sum_words; ++i) word[i] += other.word[i];
    return *this;
  }
};

// Symmetric memory of the sums, and how many there have been.
struct sum_boxes {
  sym<packet> parts;   // [2][blocks][sum_words]
  sym<packet> totals;  // [2][n_pes][sum_words]
  int blocks = 0;
};

namespace detail {

// The sum over the lanes of a warp; lane 8 i holds word i. Two words cross at once, so that few values move.
STARLING_HD inline double sum_over_warp(const dots& mine) {
  if constexpr (!target::on_gpu) return 0;
  const int lane = target::thread_index() % target::warp_size;
  double pair[2];
  for (int i = 0; i < 2; ++i) {
    const double keep = mine.word[lane & 16 ? i + 2 : i];
    const double give = mine.word[lane & 16 ? i : i + 2];
    pair[i] = keep + target::shuffle_xor(give, 16);
  }
  const double keep = pair[lane & 8 ? 1 : 0];
  const double give = pair[lane & 8 ? 0 : 1];
  double sum = keep + target::shuffle_xor(give, 8);
  for (int mask = 4; mask > 0; mask /= 2) sum += target::shuffle_xor(sum, mask);
  return sum;
}

}  // namespace detail

class summation {
 public:
  // `first`: greater than the numbers of all earlier sums in these boxes. All blocks of all PEs begin alike.
  STARLING_HD summation(block& b, const sum_boxes& boxes, std::uint64_t first)
      : boxes_(boxes), number_(first), words_(b.scratch<double>(warps_and_pes(b.members(), b.n_pes()) * sum_words)) {}

  // Scratch that a block needs.
  STARLING_HD static constexpr index_t scratch_doubles(int threads, int n_pes) {
    return warps_and_pes(threads, n_pes) * sum_words;
  }

  // Adds this block's part, a value per thread, to the next sum. A collective of the block.
  STARLING_HD void post(block& b, const dots& mine) {
    const sym<packet> box = boxes_.parts + (static_cast<index_t>(number_ % 2) * boxes_.blocks + b.index()) * sum_words;
    sum_over_block(b, mine, [&](int word, double sum) { send(b, box + word, sum, b.pe()); });
  }

  // By the gathering block of each PE: sums up the parts of its PE and sends the sum to all. Returns whether some part
  // had anything in word `last`.
  STARLING_HD bool serve(block& b, int last) {
    dots mine{};
    const sym<packet> parts = boxes_.parts + static_cast<index_t>(number_ % 2) * boxes_.blocks * sum_words;
    for (int i = b.member(); i < boxes_.blocks; i += b.members())
      for (int word = 0; word < sum_words; ++word)
        mine.word[word] += take(b, parts + (index_t{i} * sum_words + word), b.pe());
    const sym<packet> box = boxes_.totals + (static_cast<index_t>(number_ % 2) * b.n_pes() + b.pe()) * sum_words;
    sum_over_block(b, mine, [&](int word, double sum) {
      for (int to = 0; to < b.n_pes(); ++to) send(b, box + word, sum, to);
    });
    ++number_;
    return b.any(mine.word[last] != 0);
  }

  // Waits for the sum that was posted last; then decide(sum), by one thread, to every thread. A collective of the
  // block.
  template <class Decide>
  STARLING_HD auto collect(block& b, const Decide& decide) {
    const sym<packet> totals = boxes_.totals + static_cast<index_t>(number_ % 2) * b.n_pes() * sum_words;
    double* of_pes = words_ + warps(b.members()) * sum_words;
    for (int i = b.member(); i < b.n_pes() * sum_words; i += b.members())
      of_pes[i] = take(b, totals + i, i / sum_words);
    b.any(false);
    ++number_;
    using answer = decltype(decide(dots{}));
    answer made{};
    if (b.member() == 0) {
      dots sum{};
      for (int pe = 0; pe < b.n_pes(); ++pe)
        for (int word = 0; word < sum_words; ++word) sum.word[word] += of_pes[pe * sum_words + word];
      made = decide(sum);
    }
    return b.first(made);
  }

  // Of the sum posted or served last, when it was not collected; of the next one otherwise.
  STARLING_HD std::uint64_t number() const { return number_; }

 private:
  STARLING_HD static constexpr int warps(int threads) { return (threads + target::warp_size - 1) / target::warp_size; }
  STARLING_HD static constexpr index_t warps_and_pes(int threads, int n_pes) { return warps(threads) + n_pes; }

  // give(word, sum) once for each word, by one thread of the block.
  template <class Give>
  STARLING_HD void sum_over_block(block& b, const dots& mine, const Give& give) {
    if constexpr (target::on_gpu) {
      const warp w = b.warp();
      b.any(false);  // all threads are there, and the words of the sum before have been read
      const double part = detail::sum_over_warp(mine);
      if (w.member() % 8 == 0) words_[w.rank() * sum_words + w.member() / 8] = part;
      b.sync();
      if (w.rank() > 0) return;
      dots all{};
      if (w.member() < w.count())
        for (int word = 0; word < sum_words; ++word) all.word[word] = words_[w.member() * sum_words + word];
      const double sum = detail::sum_over_warp(all);
      if (w.member() % 8 == 0) give(w.member() / 8, sum);
    } else {
      for (int word = 0; word < sum_words; ++word) give(word, mine.word[word]);
    }
  }

  STARLING_HD void send(block& b, sym<packet> box, double value, int pe) const {
    b.thread().put_packets<double>(box, [&](index_t) { return packet_content<double>{{value}}; }, 1, number_, pe);
  }
  STARLING_HD double take(block& b, sym<packet> box, int from) const {
    return b.thread().take_packet<double>(box, number_, from).element[0];
  }

  sum_boxes boxes_;
  std::uint64_t number_;
  double* words_;
};

}  // namespace starling::cg
