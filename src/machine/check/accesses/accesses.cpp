// What code compiled with -fsanitize=thread calls at each load and store. The compiler's own run-time library for these
// calls is not linked: here they leave marks for check mode. Names and arguments are the compiler's. The linker sends
// memcpy, memmove and memset here too (--wrap), and with them std::copy and std::fill.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../access_marks.hpp"

using starling::check::mark_read;
using starling::check::mark_write;

#define CALLER __builtin_return_address(0)

namespace {
std::uintptr_t address(const volatile void* p) { return reinterpret_cast<std::uintptr_t>(p); }
}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define ACCESSES(bytes)                                                                  \
  void __tsan_read##bytes(void* p) { mark_read(address(p), bytes, CALLER); }             \
  void __tsan_write##bytes(void* p) { mark_write(address(p), bytes, CALLER); }           \
  void __tsan_unaligned_read##bytes(void* p) { mark_read(address(p), bytes, CALLER); }   \
  void __tsan_unaligned_write##bytes(void* p) { mark_write(address(p), bytes, CALLER); } \
  void __tsan_volatile_read##bytes(void* p) { mark_read(address(p), bytes, CALLER); }    \
  void __tsan_volatile_write##bytes(void* p) { mark_write(address(p), bytes, CALLER); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int byte, std::size_t n);

// The forms with a fourth argument are those of fortified builds: how much room there is.
#define COPIES(name)                                                                         \
  void* __wrap_##name(void* to, const void* from, std::size_t n) {                           \
    mark_read(address(from), n, CALLER);                                                     \
    mark_write(address(to), n, CALLER);                                                      \
    return __real_##name(to, from, n);                                                       \
  }                                                                                          \
  void* __real___##name##_chk(void* to, const void* from, std::size_t n, std::size_t room);  \
  void* __wrap___##name##_chk(void* to, const void* from, std::size_t n, std::size_t room) { \
    mark_read(address(from), n, CALLER);                                                     \
    mark_write(address(to), n, CALLER);                                                      \
    return __real___##name##_chk(to, from, n, room);                                         \
  }
COPIES(memcpy)
COPIES(memmove)

void* __wrap_memset(void* to, int byte, std::size_t n) {
  mark_write(address(to), n, CALLER);
  return __real_memset(to, byte, n);
}
void* __real___memset_chk(void* to, int byte, std::size_t n, std::size_t room);
void* __wrap___memset_chk(void* to, int byte, std::size_t n, std::size_t room) {
  mark_write(address(to), n, CALLER);
  return __real___memset_chk(to, byte, n, room);
}

void __tsan_read_range(void* p, unsigned long n) { mark_read(address(p), n, CALLER); }
void __tsan_write_range(void* p, unsigned long n) { mark_write(address(p), n, CALLER); }

// Atomic operations are done as they stand, sequentially consistent. In a kernel they order nothing for check mode:
// what orders is a signal.
#define ATOMICS(bits, T)                                                                                              \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }             \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }             \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }     \
  T __tsan_atomic##bits##_fetch_xor(volatile T* p, T v, int) { return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_nand(volatile T* p, T v, int) { return __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST); } \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {                     \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
  }                                                                                                                   \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {                       \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
  }                                                                                                                   \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {                            \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
    return expected;                                                                                                  \
  }
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }
void __tsan_atomic_signal_fence(int) { std::atomic_signal_fence(std::memory_order_seq_cst); }
}
