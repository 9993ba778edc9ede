// The same call at each granularity: by the whole block, by its first warp, by its first thread.
#pragma once

#include "starling/device/block.hpp"

namespace starling::test {

enum class level : int { block, warp, thread };
inline constexpr level all_levels[] = {level::block, level::warp, level::thread};

// Calls f with the group. Threads outside the group skip it.
template <class F>
STARLING_HD void at_level(block& b, level l, const F& f) {
  if (l == level::block) {
    f(b);
  } else if (l == level::warp) {
    const warp w = b.warp();
    if (w.rank() == 0) f(w);
  } else if (b.member() == 0) {
    f(b.thread());
  }
}

}  // namespace starling::test
