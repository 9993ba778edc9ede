// A loop over rows whose loads come first: a thread asks for all that several rows need before it stores anything for
// the first of them. A compiler does not do that by itself, since a store may change what is loaded next.
#pragma once

#include "starling/device/block.hpp"

namespace starling::sparse {

// use(i, load(i)) for the elements of a range, over the threads of a group; `AtOnce` of a thread's are loaded together.
// `use` changes nothing that `load` reads for another element.
template <int AtOnce, class Group, class Load, class Use>
STARLING_HD void each_loaded(const Group& g, index_range r, const Load& load, const Use& use) {
  if constexpr (target::on_gpu) {
    const index_t step = g.members();
    for (index_t i = r.begin + g.member(); i < r.end; i += AtOnce * step) {
      decltype(load(i)) some[AtOnce];
      unrolled<AtOnce>([&](auto k) { some[k] = load(i + k * step < r.end ? i + k * step : i); });
      unrolled<AtOnce>([&](auto k) {
        if (i + k * step < r.end) use(i + k * step, some[k]);
      });
    }
  } else {
    g.for_each(r, [&](index_t i) { use(i, load(i)); });
  }
}

}  // namespace starling::sparse
