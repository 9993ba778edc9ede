// A kernel with its type erased: what a launch needs to run it on either kind of device. Owns a copy of the closure.
#pragma once

#include <concepts>
#include <memory>
#include <typeinfo>

#include "starling/device/block.hpp"

namespace starling {

struct kernel {
  void (*on_host)(const void* closure, block& b) = nullptr;
  const void* on_gpu = nullptr;         // null: the source was compiled for virtual devices only
  const void* on_gpu_traced = nullptr;  // the same kernel, with blocks that record
  // The same two for machines of several hosts; null: its source has none, see starling_kernels(... NETWORK).
  const void* on_gpu_networked = nullptr;
  const void* on_gpu_networked_traced = nullptr;
  int threads_beside = 0;  // of a block on a GPU, in addition to those that launch_options name
  const char* name = "";   // of its type, as the compiler writes it
  std::shared_ptr<const void> closure;
  std::size_t closure_bytes = 0;
  bool accesses_seen = false;  // by check mode
  bool can_launch = false;     // other kernels: thread::launch
  int threads_in_check = 0;    // of a block in check mode; 0: any number
  bool whole_warps = false;    // in check mode it has warps of 32, or one thread
};

template <class F>
concept kernel_function = std::invocable<const F&, block&>;

// On a GPU each block has one more warp, beside its threads, which runs f.beside(state).
template <class F>
concept kernel_with_warp = requires(const F& f, const program_state& state) { f.beside(state); };

// For streams, whose launches record nothing and reach no other host: without the entries for that, which take time to
// compile.
template <kernel_function F>
kernel make_stream_kernel(const F& f) {
  kernel k;
  k.on_host = [](const void* closure, block& b) { (*static_cast<const F*>(closure))(b); };
  if constexpr (kernel_with_warp<F>) {
    k.on_gpu = target::entry_with_warp_of<block, program_state, F, false>();
    k.threads_beside = target::threads_beside;
  } else {
    k.on_gpu = target::entry_of<block, program_state, F, false, false>();
  }
  k.name = typeid(F).name();
  k.closure = std::make_shared<const F>(f);
  k.closure_bytes = sizeof(F);
  k.accesses_seen = target::checked;
  k.can_launch = target::can_launch;
  k.threads_in_check = target::threads_in_check(f);
  k.whole_warps = target::for_whole_warps<F>;
  return k;
}

template <kernel_function F>
kernel make_kernel(const F& f) {
  kernel k = make_stream_kernel(f);
  if constexpr (kernel_with_warp<F>) {
    k.on_gpu_traced = target::entry_with_warp_of<block, program_state, F, true>();
  } else {
    k.on_gpu_traced = target::entry_of<block, program_state, F, true, false>();
    k.on_gpu_networked = target::entry_of<block, program_state, F, false, true>();
    k.on_gpu_networked_traced = target::entry_of<block, program_state, F, true, true>();
  }
  return k;
}

// How a kernel is launched.
struct launch_options {
  int threads = 256;              // per block, a multiple of 32; a block of a virtual device is one thread regardless
  std::size_t scratch_bytes = 0;  // what block::scratch may hand out
  double deadline = 0;            // seconds a wait may last; 0: the machine's (STARLING_DEADLINE)
  bool resident = false;  // of a stream: all blocks run at once, or the launch is refused, so sync_pe is allowed
};

}  // namespace starling
