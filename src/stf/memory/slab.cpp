#include "slab.hpp"

#include <utility>

#include "starling/base/error.hpp"

namespace starling::stf {

local_memory allocate_on(machine& m, int pe, const slab_wish& w) {
  if (w.wanted == w.least) return m.allocate_on(pe, w.least);
  try {
    return m.allocate_on(pe, w.wanted);
  } catch (const memory_error&) {
    return m.allocate_on(pe, w.least);
  }
}

slab_source memory_of_machine(machine m, int pe) {
  return {[m = std::move(m), pe](const slab_wish& w) mutable {
    auto memory = std::make_shared<local_memory>(allocate_on(m, pe, w));
    return slab{memory->data(), memory->size(), memory, {}};
  }};
}

}  // namespace starling::stf
