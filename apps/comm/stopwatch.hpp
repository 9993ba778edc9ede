// Times that blocks take of themselves: when each repetition began and ended, for the host to look at afterwards.
#pragma once

#include <algorithm>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::comm {

struct lap {
  std::uint64_t begin;
  std::uint64_t end;
};

// For kernels: laps of block i, repetition r, at [i * repetitions + r].
struct lap_writer {
  sym<lap> laps;
  int repetitions;

  template <class Group>
  STARLING_HD void begin(const Group& b, int block, int r) const {
    b.sync();
    if (b.member() == 0 && r >= 0) place(b, block, r).begin = target::now_ns();
  }
  template <class Group>
  STARLING_HD void end(const Group& b, int block, int r) const {
    b.sync();
    if (b.member() == 0 && r >= 0) place(b, block, r).end = target::now_ns();
  }

 private:
  template <class Group>
  STARLING_HD lap& place(const Group& b, int block, int r) const {
    return laps.on(b.pe())[static_cast<index_t>(block) * repetitions + r];
  }
};

class stopwatch {
 public:
  stopwatch(machine& m, int blocks, int repetitions)
      : machine_(m),
        blocks_(blocks),
        repetitions_(repetitions),
        laps_(m.allocate<lap>(static_cast<index_t>(blocks) * repetitions)) {}

  lap_writer writer() const { return {laps_.data(), repetitions_}; }

  // Microseconds of each repetition, from the first block's begin to the last one's end, over `parts`.
  std::vector<double> us(int pe, double parts) const {
    std::vector<lap> laps(static_cast<std::size_t>(laps_.size()));
    machine_.copy(laps.data(), laps_.on(pe), laps.size() * sizeof(lap));
    std::vector<double> times;
    for (int r = 0; r < repetitions_; ++r) {
      lap whole = laps[static_cast<std::size_t>(r)];
      for (int i = 1; i < blocks_; ++i) {
        const lap& one = laps[static_cast<std::size_t>(i * repetitions_ + r)];
        whole = {std::min(whole.begin, one.begin), std::max(whole.end, one.end)};
      }
      times.push_back(static_cast<double>(whole.end - whole.begin) / 1e3 / parts);
    }
    return times;
  }

 private:
  machine& machine_;
  int blocks_;
  int repetitions_;
  symmetric_array<lap> laps_;
};

}  // namespace starling::comm
