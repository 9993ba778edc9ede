#include "heap.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "machine/symmetric_heap.hpp"
#include "meeting.hpp"
#include "starling/base/environment.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

constexpr std::size_t given = 256;  // the alignment of symmetric memory

std::size_t up(std::size_t n, std::size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

void* heap::allocate(std::size_t bytes, std::size_t alignment) {
  meet(everyone(), {operation::allocate, 1, bytes, alignment});
  if (bytes == 0) return nullptr;
  const std::size_t more = alignment > given ? alignment : 0;
  const std::size_t most = w_.all_processes().heap().where().capacity;
  expect<memory_error>(bytes <= most, call(), ": ", bytes, " bytes asked for, the symmetric heap has ",
                       format_bytes(most), "; ask for less, or set SHMEM_SYMMETRIC_SIZE");
  const std::size_t offset = w_.all_processes().allocate(bytes + more);
  void* start = w_.for_program(more > 0 ? up(offset, alignment) : offset);
  const std::lock_guard lock(mutex_);
  parts_[start] = {offset, bytes};
  return start;
}

heap::part heap::find(void* start) {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(start);
  expect<range_error>(found != parts_.end(), call(), ": ptr = ", start,
                      " is not the start of memory of shmem_malloc, or has been freed already");
  return found->second;
}

void heap::release(void* start) {
  const part p = find(start);
  meet(everyone(), {operation::release, 1, p.bytes, p.offset});
  const std::lock_guard lock(mutex_);
  parts_.erase(start);
  w_.all_processes().free(p.offset);
}

std::size_t heap::size_of(void* start) { return find(start).bytes; }

void* allocate(std::size_t bytes) { return world::here().memory().allocate(bytes); }

void* allocate_zeros(std::size_t count, std::size_t size) {
  expect<argument_error>(size == 0 || count <= std::numeric_limits<std::size_t>::max() / size, call(), ": ", count,
                         " times ", size, " bytes are more than can be counted; ask for less");
  void* start = allocate(count * size);
  if (start == nullptr) return nullptr;
  std::memset(start, 0, count * size);
  meet(everyone(), {operation::allocate, 1, count * size, 0});
  return start;
}

void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
  const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  expect<argument_error>(power && alignment <= job::alignment(), call(), ": alignment = ", alignment,
                         "; must be a power of two of at most ", job::alignment());
  return world::here().memory().allocate(bytes, alignment);
}

// All memory is of the same kind, so no hint is needed.
void* allocate_with_hints(std::size_t bytes, long) { return allocate(bytes); }

void* reallocate(void* start, std::size_t bytes) {
  if (start == nullptr) return allocate(bytes);
  if (bytes == 0) {
    release(start);
    return nullptr;
  }
  heap& all = world::here().memory();
  const std::size_t before = all.size_of(start);
  void* fresh = all.allocate(bytes);
  std::memcpy(fresh, start, std::min(before, bytes));
  all.release(start);  // all have copied
  return fresh;
}

void release(void* start) {
  if (start != nullptr) world::here().memory().release(start);
}

}  // namespace starling::openshmem
