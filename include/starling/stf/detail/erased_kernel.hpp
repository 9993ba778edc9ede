// erased_kernel: a kernel of a task as an operation of persistent programs, its type erased. On GPUs each kernel has a
// program of its own, in which it is called like any function: a pointer to a function of the device would mean
// something only to kernels of the same translation unit, and each of these would hold a copy of every function that
// has one.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>

#include "starling/machine/kernel.hpp"
#include "starling/stf/detail/program_kernel.hpp"

namespace starling::stf {

// A kernel whose values are the same for any number of blocks that share it says how many would have something to do.
template <class F>
concept divisible_kernel = requires(const F& f) {
  { f.most_blocks() } -> std::same_as<index_t>;
};

struct erased_kernel {
  operation_function on_host = nullptr;
  // The program that does such operations; on virtual devices any program does any operation.
  kernel (*program)(const program_tables& tables) = nullptr;
  // Bytes that a GPU may have a copy of, as launches copy them.
  std::shared_ptr<const void> closure;
  std::size_t bytes = 0;
  index_t most_blocks = 0;  // of a divisible kernel; 0: the values are those of as many blocks as the launch has
  // See kernel.
  bool accesses_seen = false;
  int threads_in_check = 0;
  bool whole_warps = false;
};

template <kernel_function F>
erased_kernel erase_kernel(const F& f) {
  static_assert(alignof(F) <= 256, "what a kernel carries is aligned to up to 256 bytes");
  erased_kernel c;
  c.on_host = [](const void* closure, block& b) { (*static_cast<const F*>(closure))(b); };
  c.program = [](const program_tables& tables) { return make_kernel(program_kernel<F>{tables}); };
  c.closure = std::make_shared<const F>(f);
  c.bytes = sizeof(F);
  if constexpr (divisible_kernel<F>) c.most_blocks = f.most_blocks();
  c.accesses_seen = target::checked;
  c.threads_in_check = target::threads_in_check(f);
  c.whole_warps = target::for_whole_warps<F>;
  return c;
}

}  // namespace starling::stf
