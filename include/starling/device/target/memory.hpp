// Loads and stores that a compiler would not choose by itself, and fences.
#pragma once

#include <bit>
#include <cstdint>

#include "pass.hpp"

namespace starling::target {

// A pointer to memory of a device, so that the compiler need not ask at each access whether it points to shared memory.
template <class T>
STARLING_HD T* in_memory(T* p) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

// The same of what is in a block's shared memory.
template <class T>
STARLING_HD T* in_scratch(T* p) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isShared(p));
#endif
  return p;
}

// What is loaded before is asked for before anything behind this is computed. To save registers a compiler would
// compute between loads, and wait for the first before it asks for the last. Also a fence for the block.
STARLING_HD inline void ask_first() {
#if defined(__CUDA_ARCH__)
  __threadfence_block();
#endif
}

// Adds to a word in memory, for threads of all devices; relaxed. The value before, which is not waited for until it is
// used.
STARLING_HD inline std::uint32_t fetch_add([[maybe_unused]] std::uint32_t* word, [[maybe_unused]] std::uint32_t value) {
  std::uint32_t before = 0;
#if defined(__CUDA_ARCH__)
  asm volatile("atom.relaxed.sys.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(word)), "r"(value)
               : "memory");
#endif
  return before;
}

// Orders this thread's memory accesses before its later ones, for observers on any device.
STARLING_HD inline void fence_system() {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#endif
}

// The same before a store that tells of what was stored, and nothing else: it is in no order with fences of others.
STARLING_HD inline void release_system() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}

// 16 bytes that travel as one load or store.
struct alignas(16) vector16 {
  std::uint32_t word[4];
};

STARLING_HD inline vector16 load16(const vector16* from) {
#if defined(__CUDA_ARCH__)
  const uint4 v = *reinterpret_cast<const uint4*>(from);
  return {{v.x, v.y, v.z, v.w}};
#else
  return *from;
#endif
}

STARLING_HD inline void store16(vector16* to, const vector16& v) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<uint4*>(to) = uint4{v.word[0], v.word[1], v.word[2], v.word[3]};
#else
  *to = v;
#endif
}

// What nobody writes while the kernel runs and the block will not need again soon: on a GPU, from memory without a
// place in the L1. T: 2, 4 or 8 bytes.
template <class T>
STARLING_HD T load_once(const T* from) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 8) {
    std::uint64_t bits;
    asm("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(bits) : "l"(__cvta_generic_to_global(from)));
    return std::bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(bits) : "l"(__cvta_generic_to_global(from)));
    return std::bit_cast<T>(bits);
  } else {
    std::uint16_t bits;
    asm("ld.global.nc.L1::no_allocate.b16 %0, [%1];" : "=h"(bits) : "l"(__cvta_generic_to_global(from)));
    return std::bit_cast<T>(bits);
  }
#else
  return *from;
#endif
}

// What lies in the block's shared memory and is not written while it may be read this way. T: 2, 4 or 8 bytes.
template <class T>
STARLING_HD T load_fast(const T* from) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(from));
  if constexpr (sizeof(T) == 8) {
    std::uint64_t bits;
    asm("ld.shared.b64 %0, [%1];" : "=l"(bits) : "r"(address));
    return std::bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    asm("ld.shared.b32 %0, [%1];" : "=r"(bits) : "r"(address));
    return std::bit_cast<T>(bits);
  } else {
    std::uint16_t bits;
    asm("ld.shared.b16 %0, [%1];" : "=h"(bits) : "r"(address));
    return std::bit_cast<T>(bits);
  }
#else
  return *from;
#endif
}

// Asks for the 128 bytes around an address to be in the L2 cache soon.
STARLING_HD inline void prefetch_l2([[maybe_unused]] const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace starling::target
