// Sums over all PEs: that of block::all_reduce, and one in levels, to be simulated beside it.
#pragma once

#include "starling/machine/machine.hpp"

namespace starling::bench {

struct two_sums {
  double word[2];
  STARLING_HD friend two_sums operator+(const two_sums& a, const two_sums& b) {
    return {{a.word[0] + b.word[0], a.word[1] + b.word[1]}};
  }
};

struct shipped_sums {
  index_t steps;
  STARLING_HD void operator()(block& b) const {
    two_sums sum{};
    for (index_t i = 0; i < steps; ++i) sum = b.all_reduce(two_sums{{1.0 + sum.word[0], 2.0}}, plus{});
  }
};

// In each level groups of `radix` PEs, whose numbers differ in one digit, exchange what they have, and each adds it in
// the order of the digit: all have the same bits.
struct sums_by_levels {
  static constexpr int radix = 8;
  static constexpr int words = 2;
  static constexpr int most_levels = 4;
  static constexpr index_t boxes = 2 * most_levels * radix * words;

  index_t steps;
  sym<packet> box;     // [2][most_levels][radix][words], by parity of the step
  sym<double> result;  // [1]

  STARLING_HD void operator()(block& b) const {
    double total = 0;
    for (index_t i = 1; i <= steps; ++i) total = sum(b, 1.0, i);
    if (b.member() == 0) *result.on(b.pe()) = total;
  }

  STARLING_HD double sum(block& b, double value, index_t number) const {
    const auto one = b.thread();
    const auto numbered = static_cast<std::uint64_t>(number);
    for (int level = 0, width = 1; width < b.n_pes(); ++level, width *= radix) {
      const int digit = b.pe() / width % radix;
      const int first = b.pe() - digit * width;
      const sym<packet> mine = box + ((number % 2 * most_levels + level) * radix + digit) * words;
      const sym<packet> all = box + (number % 2 * most_levels + level) * radix * words;
      const auto content = [&](index_t) { return packet_content<double>{{value}}; };
      for (int k = 0; k < radix && first + k * width < b.n_pes(); ++k)
        one.put_packets<double>(mine, content, words, numbered, first + k * width);
      double total = 0;
      for (int k = 0; k < radix && first + k * width < b.n_pes(); ++k)
        for (int w = 0; w < words; ++w) {
          const double part = one.take_packet<double>(all + (k * words + w), numbered, first + k * width).element[0];
          total += w == 0 ? part : 0;
        }
      value = total;
    }
    return value;
  }
};

}  // namespace starling::bench
