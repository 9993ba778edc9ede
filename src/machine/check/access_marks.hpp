// Where the loads and stores of a running block leave their marks: a bit per byte, read and written, since the block's
// last call. Code that is compiled with -fsanitize=thread calls accesses.cpp for each access, which comes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace starling {
class access_scope;
class local_heap;
}  // namespace starling

namespace starling::check {

struct actor;

// What is known of 64 bytes of symmetric memory.
struct alignas(64) line {
  std::uint64_t read = 0;     // by the running block since its last call
  std::uint64_t written = 0;  // the same
  std::uint64_t initialised = 0;
  std::uint64_t live = 0;        // inside an allocation
  std::uint64_t started_as = 0;  // initialised, when the schedule began
  std::uint32_t writes = 0;      // list of marks, by number; 0: none
  std::uint32_t reads = 0;
  std::uint32_t words = 0;  // group of signals in these bytes; 0: none
  bool used = false;        // has changed in this schedule
};
static_assert(sizeof(line) == 64);

constexpr std::uint64_t bits(std::size_t first, std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} << first : ((std::uint64_t{1} << count) - 1) << first;
}

// An access that is wrong by itself.
struct bad_access {
  enum class kind { none, dead, foreign, uninitialised, undeclared } what = kind::none;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool write = false;
  const void* code =
      nullptr;  // the return address: where the access stands; null: a call, named by its block's history
  const access_scope* scope = nullptr;  // of the work that it is part of
};

// Bytes of which the running work may touch all, as far as names go.
struct allowed_run {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool write = false;

  bool allows(std::uintptr_t address, std::size_t n, bool writes) const {
    const std::uintptr_t at = address - begin;
    return at < bytes && n <= bytes - at && (write || !writes);
  }
};

// An access to bytes that a replay watches.
struct seen_access {
  int block;
  std::uint32_t stamp;  // the block's clock
  bool write;
  std::uintptr_t address;
  std::size_t bytes;
  const void* code;
};

struct access_marks {
  // Memory of the running block's PE; 0 bytes while something is watched, so that every access takes the long way.
  std::uintptr_t own_begin = 0;
  std::size_t own_bytes = 0;
  line* own_lines = nullptr;

  // Memory of all PEs: first the symmetric memory of each, then local memory, which every PE may touch.
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t stride = 0;  // from PE to PE
  std::size_t symmetric_bytes = 0;
  const local_heap* local = nullptr;
  line* lines = nullptr;

  int block = 0;
  int pe = 0;  // host_place: a function of the host, which may touch that memory alone
  std::uint32_t stamp = 0;
  actor* running = nullptr;
  const access_scope* scope = nullptr;  // what the running work may touch; null: nothing is known of that
  allowed_run near;                     // around the last access
  std::vector<line*> touched;           // have marks
  bad_access problem;                   // the first

  std::uintptr_t watch_begin = 0;
  std::uintptr_t watch_end = 0;
  std::vector<seen_access> seen;

  void enter(const access_scope* work) {
    scope = work;
    near = {};
  }
};

// The marks of the block that runs on this thread; null: none does. Instrumented code has no other way to know.
extern constinit thread_local access_marks* running_marks;

// An access of bytes that this block has not accessed so since its last call, or that lie in several lines, in the
// memory of another PE, are not live or not initialised, or are watched.
void mark_access(access_marks& m, std::uintptr_t address, std::size_t bytes, bool write, const void* code);

// Marks an access; most are repeated and have no call. `code`: where it stands.
template <bool Write>
inline void mark(std::uintptr_t address, std::size_t bytes, const void* code) {
  access_marks* m = running_marks;
  if (m == nullptr) return;
  const std::uintptr_t at = address - m->own_begin;
  if (at < m->own_bytes) {
    const line& l = m->own_lines[at / 64];
    const std::uint64_t mask = bits(at % 64, bytes);
    if (at % 64 + bytes <= 64 && (mask & ~(Write ? l.written : l.read)) == 0) return;
  } else if (address - m->begin >= m->bytes) {
    return;
  }
  mark_access(*m, address, bytes, Write, code);
}

inline void mark_read(std::uintptr_t address, std::size_t bytes, const void* code) {
  mark<false>(address, bytes, code);
}
inline void mark_write(std::uintptr_t address, std::size_t bytes, const void* code) {
  mark<true>(address, bytes, code);
}

}  // namespace starling::check
