// The one header that knows which processor it is compiled for. Everything above it is written once, in terms of these
// few functions. On a virtual device a block is one thread, so the functions that deal with threads are trivial there.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

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

STARLING_HD inline int thread_index() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.x);
#else
  return 0;
#endif
}

STARLING_HD inline int thread_count() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(blockDim.x);
#else
  return 1;
#endif
}

STARLING_HD inline int block_index() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(blockIdx.x);
#else
  return 0;
#endif
}

// Block barrier; orders the memory accesses of its threads.
STARLING_HD inline void sync_block() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

// Block barrier that tells every thread how many of them passed true. Threads that have ended do not count.
STARLING_HD inline int sync_block_count(bool value) {
#if defined(__CUDA_ARCH__)
  return __syncthreads_count(value);
#else
  return value ? 1 : 0;
#endif
}

STARLING_HD inline void sync_warp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

// As sync_block_count, of the warp. A vote waits for the lanes that have not ended, and the others' bits are zero.
STARLING_HD inline int sync_warp_count(bool value) {
#if defined(__CUDA_ARCH__)
  return __popc(__ballot_sync(0xffffffffu, value));
#else
  return value ? 1 : 0;
#endif
}

// Of this warp's lanes those that pass true, a bit each; a barrier of the warp.
STARLING_HD inline unsigned lanes_where(bool value) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, value);
#else
  return value ? 1u : 0u;
#endif
}

// Barriers of a part of a block that has not lost threads: of the lanes of a warp whose bits are set, and of `threads`
// threads, a multiple of 32, that all name the same number from 1 to 15.
STARLING_HD inline void sync_lanes([[maybe_unused]] unsigned lanes) {
#if defined(__CUDA_ARCH__)
  __syncwarp(lanes);
#endif
}

STARLING_HD inline void sync_part([[maybe_unused]] int number, [[maybe_unused]] int threads) {
#if defined(__CUDA_ARCH__)
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
}

// A pointer to memory of a device, so that the compiler need not ask at each access whether it points to shared memory.
template <class T>
STARLING_HD T* in_memory(T* p) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

// The same of what is in a block's fast memory.
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

// The lanes of a warp together again. Where the compiler cannot know that they are, behind a branch of some of them
// with a call in it, it guards every shuffle, which a barrier spares. Has the barriers sync_part names after warps.
STARLING_HD inline void join_warp() {
#if defined(__CUDA_ARCH__)
  sync_part(1 + static_cast<int>(threadIdx.x) / 32, 32);
#endif
}

#if defined(__CUDA_ARCH__)
// Moves a value through lanes, 4 bytes at a time. Nothing has its address taken, so that all stays in registers.
template <int N>
struct words_of {
  unsigned word[N];
};
template <class T, class Move>
__device__ T move_words(T value, const Move& move) {
  static_assert(sizeof(T) % 4 == 0);
  auto words = std::bit_cast<words_of<sizeof(T) / 4>>(value);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) words.word[i] = move(words.word[i]);
  return std::bit_cast<T>(words);
}
#endif

// The value of the lane `delta` above this one (whole warp takes part); T is trivially copyable, a multiple of 4 bytes.
template <class T>
STARLING_HD T shuffle_down(const T& value, [[maybe_unused]] int delta) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [delta](unsigned w) { return __shfl_down_sync(0xffffffffu, w, delta); });
#else
  return value;
#endif
}

// The value of the lane `delta` below this one, likewise.
template <class T>
STARLING_HD T shuffle_up(const T& value, [[maybe_unused]] int delta) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [delta](unsigned w) { return __shfl_up_sync(0xffffffffu, w, delta); });
#else
  return value;
#endif
}

// The value of the lane whose number differs from this one's in the bits of `mask`.
template <class T>
STARLING_HD T shuffle_xor(const T& value, [[maybe_unused]] int mask) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [mask](unsigned w) { return __shfl_xor_sync(0xffffffffu, w, mask); });
#else
  return value;
#endif
}

// The value of lane 0 of this warp. The compiler knows that all lanes have it, and that branches on it keep them
// together.
template <class T>
STARLING_HD T shuffle_first(const T& value) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [](unsigned w) { return __shfl_sync(0xffffffffu, w, 0); });
#else
  return value;
#endif
}

// 1 KB of shared memory of the block, for reductions: one slot of 32 bytes a warp.
inline constexpr int reduce_slot_bytes = 32;
STARLING_HD inline std::byte* reduce_slots() {
#if defined(__CUDA_ARCH__)
  __shared__ __align__(32) std::byte slots[32 * reduce_slot_bytes];
  return slots;
#else
  return nullptr;
#endif
}

// 32 bytes of shared memory of the block, for the recorder.
inline constexpr int trace_memory_bytes = 32;
STARLING_HD inline std::byte* trace_memory() {
#if defined(__CUDA_ARCH__)
  __shared__ __align__(16) std::byte memory[trace_memory_bytes];
  return memory;
#else
  return nullptr;
#endif
}

// Whether kernels of this translation unit have entries for machines of several hosts too, whose blocks reach PEs of
// other hosts by way of a network card: starling_kernels(... NETWORK) in CMake.
#if defined(STARLING_NETWORK)
inline constexpr bool has_network_entries = true;
#else
inline constexpr bool has_network_entries = false;
#endif

// 5 KB of shared memory of the block, for its queue pairs; in entries for machines of several hosts alone.
inline constexpr int network_memory_bytes = 5120;
STARLING_HD inline std::byte* network_memory() {
#if defined(__CUDA_ARCH__)
  __shared__ __align__(16) std::byte memory[network_memory_bytes];
  return memory;
#else
  return nullptr;
#endif
}

// Whether code that is handed no block must find what its kernel was launched with: see device/bounds.hpp.
#if defined(STARLING_STF_CHECK_BOUNDS)
inline constexpr bool keeps_launch_state = true;
#else
inline constexpr bool keeps_launch_state = false;
#endif

// Where the block keeps the address of the launch's state: shared memory. Every thread writes the same before it reads.
STARLING_HD inline const void** launch_state() {
#if defined(__CUDA_ARCH__)
  __shared__ const void* state;
  return &state;
#else
  return nullptr;
#endif
}

// What of a block's shared memory the functions above take.
inline constexpr int own_shared_bytes = 32 * reduce_slot_bytes + trace_memory_bytes;

// The dynamic shared memory of the block.
STARLING_HD inline std::byte* dynamic_scratch() {
#if defined(__CUDA_ARCH__)
  extern __shared__ __align__(16) std::byte starling_dynamic_scratch[];
  return starling_dynamic_scratch;
#else
  return nullptr;
#endif
}

// Orders this thread's memory accesses before its later ones, for observers on any device.
STARLING_HD inline void fence_system() {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#endif
}

// Nanoseconds: of the GPU's global timer, or of the host's steady clock.
STARLING_HD inline std::uint64_t now_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
#else
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
#endif
}

// A clock that is read in a few cycles, of the multiprocessor that runs the block; on the host the same as now_ns().
STARLING_HD inline std::uint64_t ticks() {
#if defined(__CUDA_ARCH__)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
  return t;
#else
  return now_ns();
#endif
}

// Whether an exception is ending the calling function.
STARLING_HD inline bool unwinding() {
#if defined(__CUDA_ARCH__)
  return false;
#else
  return std::uncaught_exceptions() > 0;
#endif
}

// Ends the calling thread. Barriers of the block do not wait for threads that have ended.
STARLING_HD inline void exit_thread() {
#if defined(__CUDA_ARCH__)
  asm volatile("exit;");
#endif
}

// Number of the highest bit set; x > 0.
STARLING_HD inline int log2_floor(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 31 - __clz(static_cast<int>(x));
#else
  return 31 - __builtin_clz(x);
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

// ---- bulk copies: by the multiprocessor's copy engine, between global memory (of any device) and the block's shared
// memory. Addresses and sizes are multiples of 16. All of a copy's calls are made by one thread. ----

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool has_bulk_copies = true;
#else
inline constexpr bool has_bulk_copies = false;
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
#endif

// A barrier word, in shared memory, on which the arrival of bytes is waited for: one load at a time.
STARLING_HD inline void bulk_begin([[maybe_unused]] std::uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// Orders ordinary accesses of this thread before bulk copies that are started later, also by threads that it meets in a
// barrier in between.
STARLING_HD inline void fence_bulk() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

STARLING_HD inline void bulk_load([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                  [[maybe_unused]] std::uint32_t bytes, [[maybe_unused]] std::uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
#endif
}

// Whether the barrier's load with this parity (0 the first, 1 the second, 0 the third ...) has ended; may wait a
// little.
STARLING_HD inline bool bulk_loaded([[maybe_unused]] std::uint64_t* barrier, [[maybe_unused]] std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t yes;
  asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
               : "=r"(yes)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
  return yes != 0;
#else
  return true;
#endif
}

STARLING_HD inline void bulk_store([[maybe_unused]] void* global, [[maybe_unused]] const void* shared,
                                   [[maybe_unused]] std::uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// Returns when all stores of this thread but the last N have read their shared memory.
template <int N>
STARLING_HD void bulk_stores_read() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
#endif
}

// Returns when all stores of this thread are done and visible to it, so that a release tells of them too.
STARLING_HD inline void bulk_stores_done() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

// ---- copies of 16 bytes from global to shared memory that a thread starts and goes on; for that thread alone. ----

STARLING_HD inline void copy_ahead(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
      "l"(__cvta_generic_to_global(global))
      : "memory");
#else
  std::memcpy(shared, global, 16);
#endif
}

// Ends a batch of them.
STARLING_HD inline void copies_started() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Returns when all batches but the last N are there.
template <int N>
STARLING_HD void copies_done() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// What nobody writes while the kernel runs and the block will not need again soon: on a GPU, from memory without a
// place in the first cache. T: 2, 4 or 8 bytes.
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

// What lies in the block's fast memory and is not written while it may be read this way. T: 2, 4 or 8 bytes.
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
STARLING_HD inline void call_to_l2([[maybe_unused]] const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// Eight bytes of data with the number of the message that they belong to, in one access of 16 bytes, visible to every
// device, relaxed. On a GPU each half of the data lies in one word of 8 bytes with the lower half of the number: words
// are never torn, whole accesses of 16 bytes are (PTX: a vector access is several accesses; a b128 load was seen on
// H200 to return a new upper half with an old lower one). So numbers compare by their lower halves.
struct numbered {
  std::uint64_t data;
  std::uint64_t number;
};

// The two words of 8 bytes, which may also be written one after the other.
struct numbered_words {
  std::uint64_t low;
  std::uint64_t high;
};
STARLING_HD constexpr numbered_words words_of_numbered(numbered v) {
  const std::uint64_t number = v.number << 32;
  return {number | (v.data & 0xffffffffu), number | (v.data >> 32)};
}

STARLING_HD inline void store_numbered(void* to, numbered v) {
#if defined(__CUDA_ARCH__)
  const numbered_words w = words_of_numbered(v);
  asm volatile("st.relaxed.sys.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(w.low), "l"(w.high) : "memory");
#else
  *static_cast<numbered*>(to) = v;
#endif
}

// The number is `wanted` when all of the data is that message's, and another otherwise.
STARLING_HD inline numbered load_numbered(const void* from, [[maybe_unused]] std::uint64_t wanted) {
#if defined(__CUDA_ARCH__)
  std::uint64_t low, high;
  asm volatile("ld.relaxed.sys.v2.b64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
  const auto of_low = static_cast<std::uint32_t>(low >> 32);
  const auto of_high = static_cast<std::uint32_t>(high >> 32);
  const auto awaited = static_cast<std::uint32_t>(wanted);
  const bool all = of_low == awaited && of_high == awaited;
  return {(low & 0xffffffffu) | high << 32, all ? wanted : of_low == awaited ? of_high : of_low};
#else
  return *static_cast<const numbered*>(from);
#endif
}

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

// The most threads that a block of a kernel may have: 1024, or the functor's max_threads. Fewer leave each thread more
// registers.
template <class Kernel>
constexpr int most_threads_of() {
  if constexpr (requires { Kernel::max_threads; })
    return Kernel::max_threads;
  else
    return 1024;
}
template <class Kernel>
inline constexpr int most_threads = most_threads_of<Kernel>();

// The least blocks that a multiprocessor must have room for: 0, or the functor's least_blocks. Where it says nothing,
// the compiler may make registers fewer than max_threads allows, and move values to memory.
template <class Kernel>
constexpr int least_blocks_of() {
  if constexpr (requires { Kernel::least_blocks; })
    return Kernel::least_blocks;
  else
    return 0;
}
template <class Kernel>
inline constexpr int least_blocks = least_blocks_of<Kernel>();

// Whether what a kernel does on virtual devices is written for blocks of one thread, the functor's one_thread_on_host:
// check mode then gives it no more.
template <class Kernel>
constexpr bool is_for_one_thread_on_host() {
  if constexpr (requires { Kernel::one_thread_on_host; })
    return Kernel::one_thread_on_host;
  else
    return false;
}
template <class Kernel>
inline constexpr bool one_thread_on_host = is_for_one_thread_on_host<Kernel>();

// ---- blocks with one more warp beside the threads that the launch names: it comes last, and their barriers leave it
// out ----

inline constexpr int threads_beside = 32;

// Barrier of the first `threads` threads, which tells each how many of them passed true. A barrier with a number of
// threads waits for warps that have ended, so that none must: see leave_part_of_block.
STARLING_HD inline int sync_part_of_block([[maybe_unused]] int threads, bool value) {
#if defined(__CUDA_ARCH__)
  int yes;
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n bar.red.popc.u32 %0, 0, %1, p;\n}"
               : "=r"(yes)
               : "r"(threads), "r"(static_cast<unsigned>(value))
               : "memory");
  return yes;
#else
  return value ? 1 : 0;
#endif
}

// How many of them pass true; those that have left do not count. Two barriers: who has left passes true in both.
STARLING_HD inline int votes_of_part(int threads, bool value) {
  const int all = sync_part_of_block(threads, value);
  return all - sync_part_of_block(threads, false);
}

// How many lanes of each warp have left, in shared memory.
STARLING_HD inline unsigned* lanes_that_left() {
#if defined(__CUDA_ARCH__)
  __shared__ unsigned lanes[32];
  return lanes;
#else
  return nullptr;
#endif
}

// By every such thread before anything else.
STARLING_HD inline void enter_part_of_block() {
#if defined(__CUDA_ARCH__)
  if (threadIdx.x % 32 == 0) lanes_that_left()[threadIdx.x / 32] = 0;
  __syncwarp();
#endif
}

// Ends the calling thread, one of the first `threads`. Barriers of its warp do not wait for it; so that those of the
// block do not wait for its warp, the last lane of a warp goes on taking part in them, until only such lanes are left.
// Threads that have not left pass false in every barrier but the first of a vote: if each warp has passed true, and one
// lane of it alone, in two barriers in turn, there are none.
STARLING_HD inline void leave_part_of_block([[maybe_unused]] int threads) {
#if defined(__CUDA_ARCH__)
  const unsigned before = atomicAdd(lanes_that_left() + threadIdx.x / 32, 1u);
  // Not a branch, behind which lanes would wait for the one that stays.
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %0, 31;\n @p exit;\n}" ::"r"(before) : "memory");
  for (bool alone_before = false;;) {
    const bool alone = sync_part_of_block(threads, true) * 32 == threads;
    if (alone && alone_before) break;
    alone_before = alone;
  }
  exit_thread();
#endif
}

// What one of a kernel's entries was compiled for: blocks that record their calls, that a network card may be between
// them and PEs, that they have one more warp. Entries have the three as parameters of their own: nvcc names no kernels
// by structures.
struct entry_kind {
  bool traced = false;
  bool networked = false;
  bool with_warp = false;
};

// The GPU side of every launch: makes the thread's view of the block and calls the kernel.
template <class Block, class State, class Kernel, bool Traced, bool Networked>
STARLING_HD inline void run_block([[maybe_unused]] const State& state, [[maybe_unused]] const Kernel& kernel) {
#if defined(__CUDA_ARCH__)
  Block b(state, {.traced = Traced, .networked = Networked});
  if constexpr (Networked) b.begin_network();
  if constexpr (Traced) b.begin_trace();
  kernel(b);
  if constexpr (Networked) b.end_network();
  if constexpr (Traced) b.end_trace();
#endif
}

#if defined(__CUDACC__)
// There are several entries of each kernel: recording takes registers and instructions, and so do network cards; one
// that does without must not have them.
template <class Block, class State, class Kernel, bool Traced, bool Networked>
__global__ void __launch_bounds__(most_threads<Kernel>, least_blocks<Kernel>)
    entry(const __grid_constant__ State state, const __grid_constant__ Kernel kernel) {
  run_block<Block, State, Kernel, Traced, Networked>(state, kernel);
}

// An entry under a name of its own, which one finds in a file of GPU code (kernel_file).
#define STARLING_GPU_ENTRY(name, Block, State, Kernel, traced)                           \
  extern "C" __global__ void __launch_bounds__(starling::target::most_threads<Kernel>,   \
                                               starling::target::least_blocks<Kernel>)   \
      name(const __grid_constant__ State state, const __grid_constant__ Kernel kernel) { \
    starling::target::run_block<Block, State, Kernel, traced, false>(state, kernel);     \
  }

// The same for blocks with one more warp, which runs kernel.beside(state). It is one of the most threads that a block
// may have, so that the others have the registers that they would have without it.
template <class Block, class State, class Kernel, bool Traced>
__global__ void __launch_bounds__(most_threads<Kernel>, least_blocks<Kernel>)
    entry_with_warp(const __grid_constant__ State state, const __grid_constant__ Kernel kernel) {
#if defined(__CUDA_ARCH__)
  const int threads = thread_count() - threads_beside;
  if (thread_index() >= threads) {
    kernel.beside(state);
    return;
  }
  enter_part_of_block();
  Block b(state, {.traced = Traced, .with_warp = true});
  if constexpr (Traced) b.begin_trace();
  kernel(b);
  if constexpr (Traced) b.end_trace();
  leave_part_of_block(threads);
#endif
}
#else
#define STARLING_GPU_ENTRY(name, Block, State, Kernel, traced)
#endif

// What the launch hands to the driver; null when this source was compiled for virtual devices only, or for machines of
// one host.
template <class Block, class State, class Kernel, bool Traced, bool Networked>
const void* entry_of() {
#if defined(__CUDACC__)
  if constexpr (Networked && !has_network_entries)
    return nullptr;
  else
    return reinterpret_cast<const void*>(&entry<Block, State, Kernel, Traced, Networked>);
#else
  return nullptr;
#endif
}

template <class Block, class State, class Kernel, bool Traced>
const void* entry_with_warp_of() {
#if defined(__CUDACC__)
  return reinterpret_cast<const void*>(&entry_with_warp<Block, State, Kernel, Traced>);
#else
  return nullptr;
#endif
}

}  // namespace starling::target
