// Kernels that are launched on GPUs alone: what they do is compiled for GPUs, and for virtual devices not at all.
#pragma once

#include "starling/base/error.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::stencil {

template <kernel_function F>
kernel make_gpu_kernel(const F& f) {
  kernel k;
  k.on_host = [](const void*, block&) {
    throw unsupported_error("stencil: a kernel for GPUs was launched on a virtual device");
  };
  k.on_gpu = target::entry_of<block, program_state, F, false, false>();
  k.on_gpu_traced = target::entry_of<block, program_state, F, true, false>();
  k.on_gpu_networked = target::entry_of<block, program_state, F, false, true>();
  k.on_gpu_networked_traced = target::entry_of<block, program_state, F, true, true>();
  k.name = typeid(F).name();
  k.closure = std::make_shared<const F>(f);
  return k;
}

}  // namespace starling::stencil
