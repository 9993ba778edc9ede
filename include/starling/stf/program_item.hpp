// item_code: a kernel of a task as one item of a persistent program, its type erased. On a virtual device it is a
// function of the host. On a GPU it is a function of the device, whose address only code of the device can tell: a
// kernel of one block writes it down.
//
// Each translation unit is a module of its own on a GPU. A kernel has enough registers for the functions whose
// addresses are taken in its module, and for no others: so each item brings the interpreter of its own unit.
#pragma once

#include <cstddef>
#include <memory>

#include "starling/machine/kernel.hpp"
#include "starling/stf/program_kernel.hpp"

namespace starling::stf {

template <class F>
STARLING_HD void run_item(const void* closure, block& b) {
  (*static_cast<const F*>(closure))(b);
}

// Writes down where run_item<F> is on the device that runs this.
template <class F>
struct find_item {
  static constexpr int max_threads = 32;
  item_function* into;
  STARLING_HD void operator()(block& b) const {
    if (b.member() == 0) *into = &run_item<F>;
  }
};

struct item_code {
  item_function on_host = nullptr;
  kernel (*finder)(item_function* into) = nullptr;
  kernel (*interpreter)(const program_tables& tables) = nullptr;
  // Bytes that a device may have a copy of, as launches copy them.
  std::shared_ptr<const void> closure;
  std::size_t bytes = 0;
  // Whether it touches no shared memory of a block, so that any unit's interpreter has room for it.
  bool plain = false;
  // Whether it gives the same values with another number of threads: F::any_threads.
  bool any_threads = false;
};

namespace {
// Another type in each translation unit, and so are the kernels made of it.
struct this_unit {};
}  // namespace

template <class Unit, kernel_function F>
item_code make_item(const F& f) {
  static_assert(alignof(F) <= 256, "what a kernel carries is aligned to up to 256 bytes");
  item_code c;
  c.on_host = &run_item<F>;
  c.finder = [](item_function* into) { return make_kernel(find_item<F>{into}); };
  c.interpreter = [](const program_tables& tables) { return make_kernel(program_kernel<Unit>{tables}); };
  c.closure = std::make_shared<const F>(f);
  c.bytes = sizeof(F);
  if constexpr (requires { F::any_threads; }) c.any_threads = F::any_threads;
  return c;
}

}  // namespace starling::stf
