// The lanes of GPUs' warps, played by threads of the host: what one says the lanes beside it hear.
#pragma once

#include <barrier>
#include <vector>

#include "stencil/tiles/register_tile.hpp"

namespace starling::test {

template <class T>
struct played_warp {
  T said[stencil::band_vectors] = {};
  std::barrier<> meeting{stencil::band_vectors};
};

// Those of one thread of a block whose warps are `warps`.
template <class T>
class played_lanes {
 public:
  played_lanes(std::vector<played_warp<T>>& warps, int member)
      : warp_(warps[static_cast<std::size_t>(member / stencil::band_vectors)]), lane_(member % stencil::band_vectors) {}
  T from_before(T value) const { return from(value, lane_ - 1); }
  T from_after(T value) const { return from(value, lane_ + 1); }
  void sync() const { warp_.meeting.arrive_and_wait(); }
  template <class Value>
  Value uniform(Value value) const {
    return value;
  }

 private:
  T from(T value, int lane) const {
    warp_.said[lane_] = value;
    sync();
    const T heard = lane < 0 || lane == stencil::band_vectors ? value : warp_.said[lane];
    sync();
    return heard;
  }

  played_warp<T>& warp_;
  int lane_;
};

}  // namespace starling::test
