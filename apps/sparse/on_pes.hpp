// Tables that the host makes for each PE, on the devices. Each process brings those of its own PEs.
#pragma once

#include <algorithm>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::sparse {

// `list` of each PE's tables, in an array as long as the longest needs.
template <class Element, class Tables>
symmetric_array<Element> on_pes(machine& m, const std::vector<Tables>& all, std::vector<Element> Tables::* list) {
  std::size_t most = 1;
  for (const Tables& one : all) most = std::max(most, (one.*list).size());
  auto array = m.allocate<Element>(static_cast<index_t>(most));
  for (std::size_t pe = 0; pe < all.size(); ++pe)
    if (m.is_local(static_cast<int>(pe)))
      m.copy(array.on(static_cast<int>(pe)), (all[pe].*list).data(), (all[pe].*list).size() * sizeof(Element));
  return array;
}

template <class Element>
sym<const Element> table(const symmetric_array<Element>& a) {
  return {a.data().on(0), a.data().stride_bytes()};
}

}  // namespace starling::sparse
