// Which pass of which compiler this is, and what the translation unit asked for. Everything else in this folder is
// written in terms of it.
#pragma once

#if defined(__CUDACC__)
#define STARLING_HD __host__ __device__
#else
#define STARLING_HD
#endif

// Opens a kernel: auto k = STARLING_KERNEL(starling::block& b) { ... }; captures by value.
#define STARLING_KERNEL [=] STARLING_HD

namespace starling::target {

// For `if constexpr` inside function templates: which of the two bodies this compilation pass wants.
#if defined(__CUDA_ARCH__)
inline constexpr bool on_gpu = true;
#else
inline constexpr bool on_gpu = false;
#endif

// Threads of a warp that the shuffles below reach.
inline constexpr int warp_size = on_gpu ? 32 : 1;

// Whether kernels of this translation unit have entries for machines of several hosts too, whose blocks reach PEs of
// other hosts by way of a network card: starling_kernels(... NETWORK) in CMake.
#if defined(STARLING_NETWORK)
inline constexpr bool has_network_entries = true;
#else
inline constexpr bool has_network_entries = false;
#endif

// Whether kernels of this translation unit may launch others: its GPU code is relocatable,
// starling_kernels(... LAUNCHES) in CMake. On virtual devices all may.
#if defined(__CUDACC__) && !defined(__CUDACC_RDC__)
inline constexpr bool can_launch = false;
#else
inline constexpr bool can_launch = true;
#endif

// Whether code that is handed no block must find what its kernel was launched with: see device/bounds.hpp.
#if defined(STARLING_STF_CHECK_BOUNDS)
inline constexpr bool keeps_launch_state = true;
#else
inline constexpr bool keeps_launch_state = false;
#endif

// Whether this translation unit is compiled for check mode, which sees its loads and stores (link starling::check).
#if defined(STARLING_CHECKED)
inline constexpr bool checked = true;
#else
inline constexpr bool checked = false;
#endif

// Whether sources of this translation unit carry code for GPUs.
#if defined(__CUDACC__)
inline constexpr bool has_gpu_code = true;
#else
inline constexpr bool has_gpu_code = false;
#endif

}  // namespace starling::target
