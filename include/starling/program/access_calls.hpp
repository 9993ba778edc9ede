// What code that is compiled with -fsanitize=thread calls at each load and store, for a generated program in check
// mode. The calls go to the functions that the loader sets; the compiler's own run-time library for them is not linked.
// Included by one source of the program, alone.
#pragma once

#include "starling/program/accesses.hpp"

#define STARLING_CALLER __builtin_return_address(0)

namespace {
starling::generated::access_functions seen_by;
}

extern "C" {

[[gnu::visibility("default")]] void starling_program_accesses(const starling::generated::access_functions* f) {
  seen_by = *f;
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define STARLING_ACCESSES(bytes)                                                            \
  void __tsan_read##bytes(void* p) { seen_by.read(p, bytes, STARLING_CALLER); }             \
  void __tsan_write##bytes(void* p) { seen_by.write(p, bytes, STARLING_CALLER); }           \
  void __tsan_unaligned_read##bytes(void* p) { seen_by.read(p, bytes, STARLING_CALLER); }   \
  void __tsan_unaligned_write##bytes(void* p) { seen_by.write(p, bytes, STARLING_CALLER); } \
  void __tsan_volatile_read##bytes(void* p) { seen_by.read(p, bytes, STARLING_CALLER); }    \
  void __tsan_volatile_write##bytes(void* p) { seen_by.write(p, bytes, STARLING_CALLER); }
STARLING_ACCESSES(1)
STARLING_ACCESSES(2)
STARLING_ACCESSES(4)
STARLING_ACCESSES(8)
STARLING_ACCESSES(16)
#undef STARLING_ACCESSES

void __tsan_read_range(void* p, unsigned long n) { seen_by.read(p, n, STARLING_CALLER); }
void __tsan_write_range(void* p, unsigned long n) { seen_by.write(p, n, STARLING_CALLER); }

// The linker sends these here: --wrap.
void* __real_memcpy(void* to, const void* from, std::size_t n);
void* __real_memmove(void* to, const void* from, std::size_t n);
void* __real_memset(void* to, int byte, std::size_t n);

void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  seen_by.read(from, n, STARLING_CALLER);
  seen_by.write(to, n, STARLING_CALLER);
  return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, std::size_t n) {
  seen_by.read(from, n, STARLING_CALLER);
  seen_by.write(to, n, STARLING_CALLER);
  return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int byte, std::size_t n) {
  seen_by.write(to, n, STARLING_CALLER);
  return __real_memset(to, byte, n);
}
}

#undef STARLING_CALLER
