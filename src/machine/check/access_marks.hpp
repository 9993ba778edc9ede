// Where the loads and stores of a running block leave their marks: a bit per byte, read and written, since the block's
// last call. Code that is compiled with -fsanitize=thread calls accesses.cpp for each access, which comes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../context_numbers.hpp"

namespace starling {
class access_scope;
class local_heap;
}  // namespace starling

namespace starling::check {

class scratch_area;
struct scheduled_block;

// What is known of 64 bytes of memory.
struct alignas(64) line {
  std::uint64_t read = 0;     // by the running block since its last call
  std::uint64_t written = 0;  // the same
  std::uint64_t initialised = 0;
  std::uint64_t live = 0;        // inside an allocation
  std::uint64_t started_as = 0;  // initialised, when the schedule began
  std::uint32_t writes = 0;      // list of marks, by number; 0: none
  std::uint32_t reads = 0;
  std::uint32_t sync_variables = 0;  // group of those in these bytes; 0: none
  bool used = false;                 // has changed in this schedule
  std::uint32_t in_loop = 0;         // where a loop that runs may keep what its elements have touched here
};
static_assert(sizeof(line) == 64);

// What fresh memory holds. NaN as floating point of any size, and no number that a program is likely to write.
inline constexpr std::uint32_t poison = 0xfff5a5a5;
void fill_with_poison(std::byte* start, std::size_t bytes);

// Of some bytes of a line, which begins at `start`, those without a value: nobody was seen to write them, and they
// still hold the poison. Code whose stores are not seen may have written the others.
std::uint64_t without_value(line& l, std::uint64_t mask, const std::byte* start);

constexpr std::uint64_t bits(std::size_t first, std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} << first : ((std::uint64_t{1} << count) - 1) << first;
}

// Memory of the process (a stack, a closure) that a put_nbi reads, or a get_nbi writes, until quiet().
struct near_use {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int block = 0;
  std::uint32_t operation = 0;  // number
  bool written = false;
  int context = 0;
};

// An access that is wrong by itself.
struct bad_access {
  enum class kind { none, dead, foreign, uninitialised, in_use, undeclared } what = kind::none;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool write = false;
  const void* code = nullptr;  // the return address: where the access stands; null: of a call, named by its history
  const access_scope* scope = nullptr;  // of the work that it is part of
  near_use use{};                       // in_use: by what
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
  int thread;              // of the block
  std::uint32_t interval;  // barriers of its threads before
  std::uint32_t loop;      // numbers of the loop and its element; 0: none
  std::uint32_t element;
};

struct access_marks {
  // Memory of all PEs: first the symmetric memory of each, then local memory, which every PE may touch, then scratch
  // memory, of which each block may touch its own.
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t stride = 0;  // from PE to PE
  std::size_t symmetric_bytes = 0;
  const local_heap* local = nullptr;
  const scratch_area* scratch = nullptr;
  line* lines = nullptr;
  std::size_t quick_bytes = 0;  // as bytes; 0 while something is watched, so that every access takes the long way

  int block = 0;
  int pe = 0;  // host_place: a function of the host, which may touch that memory alone
  std::uint32_t stamp = 0;
  int thread = 0;
  std::uint32_t interval = 0;
  std::uint32_t loop = 0;
  std::uint32_t element = 0;
  scheduled_block* running = nullptr;
  const access_scope* scope = nullptr;  // what the running work may touch; null: nothing is known of that
  allowed_run around;                   // the last access
  std::vector<line*> touched;           // have marks
  bad_access problem;                   // the first

  std::uintptr_t watch_begin = 0;
  std::uintptr_t watch_end = 0;
  std::vector<seen_access> seen;

  // Memory of the process that operations under way use, and a range around all of it.
  std::vector<near_use> in_use;
  std::uintptr_t in_use_begin = 0;
  std::size_t in_use_bytes = 0;

  void watch(std::uintptr_t first, std::uintptr_t end) {
    watch_begin = first;
    watch_end = end;
    quick_bytes = end != 0 ? 0 : bytes;
  }
  void add_use(const near_use& u);
  // The uses of a block's context are over; of all its contexts: any_context; of all blocks: any_block.
  static constexpr int any_block = -1;
  void end_uses(int of_block, int context);
  // The use that an access of these bytes would disturb; null: none.
  const near_use* disturbed(std::uintptr_t address, std::size_t bytes, bool write) const;

  void enter(const access_scope* work) {
    scope = work;
    around = {};
  }
};

// The marks of the block that runs on this thread; null: none does. Instrumented code has no other way to know. A
// shared library finds it by a call, since there is not always room for what it could find without one.
extern constinit thread_local access_marks* running_marks;

// An access of bytes that this block has not accessed so since its last call, or that lie in several lines, in the
// memory of another PE, are not live or not initialised, are watched, or may be in use by an operation.
void mark_access(access_marks& m, std::uintptr_t address, std::size_t bytes, bool write, const void* code);

// Marks an access; most are repeated and have no call. `code`: where it stands.
template <bool Write>
inline void mark(std::uintptr_t address, std::size_t bytes, const void* code) {
  access_marks* m = running_marks;
  if (m == nullptr) return;
  const std::uintptr_t at = address - m->begin;
  if (at < m->quick_bytes) {
    const line& l = m->lines[at / 64];
    const std::uint64_t mask = bits(at % 64, bytes);
    if (at % 64 + bytes <= 64 && (mask & ~(Write ? l.written : l.read)) == 0) return;
  } else if (at >= m->bytes && address - m->in_use_begin >= m->in_use_bytes) {
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
