#include "slab.hpp"

#include <utility>

#include "starling/base/error.hpp"

namespace starling::stf {

slab_source memory_of_machine(machine m, int pe) {
  return {[m = std::move(m), pe](const slab_wish& w) mutable {
    const auto take = [&](std::size_t bytes) {
      auto memory = std::make_shared<local_memory>(m.allocate_on(pe, bytes));
      return slab{memory->data(), memory->size(), memory, {}};
    };
    if (w.wanted == w.least) return take(w.least);
    try {
      return take(w.wanted);
    } catch (const memory_error&) {
      return take(w.least);
    }
  }};
}

}  // namespace starling::stf
