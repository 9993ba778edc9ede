#include "memory_access.hpp"

#include <atomic>
#include <cstring>
#include <limits>

#include "atomics.hpp"
#include "contexts.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

template <class T>
void move_word(std::byte* to, const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  std::atomic_ref<T>(*reinterpret_cast<T*>(to)).store(value, std::memory_order_release);
}

bool is_aligned(const std::byte* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

// The bytes from the first element of the first block to the last of the last.
std::size_t reach_of(const blocks& b, std::ptrdiff_t stride, std::size_t element, const char* what) {
  expect<range_error>(stride >= 1, call(), ": ", what, " = ", stride, "; must be at least 1");
  expect<range_error>(b.size >= 1, call(), ": bsize = ", b.size, "; must be at least 1");
  if (b.count == 0) return 0;
  const std::size_t blocks_before = bytes_of(b.count - 1, static_cast<std::size_t>(stride));
  expect<range_error>(b.size <= std::numeric_limits<std::size_t>::max() - blocks_before, call(), ": bsize = ", b.size,
                      "; there is no room for so many elements");
  return bytes_of(blocks_before + b.size, element);
}

// The arrays of the program, and where the memory of the PE begins.
copied_rows rows_of(std::byte* to, const std::byte* from, std::ptrdiff_t dst, std::ptrdiff_t sst, const blocks& b,
                    std::size_t element) {
  return {
      to,     static_cast<std::size_t>(dst) * element, from, static_cast<std::size_t>(sst) * element, b.size * element,
      b.count};
}

}  // namespace

std::size_t bytes_of(std::size_t n, std::size_t element) {
  expect<range_error>(n <= std::numeric_limits<std::size_t>::max() / 2 / element, call(), ": ", n, " elements of ",
                      element, " bytes; there is no memory for so many");
  return n * element;
}

void move(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (is_aligned(to, 8) && bytes == 8) return move_word<std::uint64_t>(to, from);
  if (is_aligned(to, 4) && bytes == 4) return move_word<std::uint32_t>(to, from);
  if (is_aligned(to, 2) && bytes == 2) return move_word<std::uint16_t>(to, from);
  std::memmove(to, from, bytes);
}

void put(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::size_t element, int pe) {
  world& w = world::here();
  const std::size_t bytes = bytes_of(n, element);
  const int there = pe_of(ctx, pe);
  w.check_pe(there);
  w.store(there, w.place(dest, bytes, "dest"), source, bytes);
}

void get(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::size_t element, int pe) {
  world& w = world::here();
  const std::size_t bytes = bytes_of(n, element);
  const int there = pe_of(ctx, pe);
  w.check_pe(there);
  w.load(there, w.place(source, bytes, "source"), dest, bytes);
}

void iput(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, const blocks& b,
          std::size_t element, int pe) {
  world& w = world::here();
  (void)reach_of(b, sst, element, "sst");
  const std::size_t bytes = reach_of(b, dst, element, "dst");
  const int there = pe_of(ctx, pe);
  w.check_pe(there);
  std::byte* to = w.on(there, w.place(dest, bytes, "dest"));
  if (bytes > 0) w.store(there, rows_of(to, static_cast<const std::byte*>(source), dst, sst, b, element));
}

void iget(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, const blocks& b,
          std::size_t element, int pe) {
  world& w = world::here();
  (void)reach_of(b, dst, element, "dst");
  const std::size_t bytes = reach_of(b, sst, element, "sst");
  const int there = pe_of(ctx, pe);
  w.check_pe(there);
  const std::byte* from = w.on(there, w.place(source, bytes, "source"));
  if (bytes > 0) w.load(there, rows_of(static_cast<std::byte*>(dest), from, dst, sst, b, element));
}

void put_signal(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::size_t element,
                const signal_update& s, int pe) {
  expect<argument_error>(s.how == SHMEM_SIGNAL_SET || s.how == SHMEM_SIGNAL_ADD, call(), ": sig_op = ", s.how,
                         "; must be SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD");
  (void)world::here().place(s.word, sizeof *s.word, "sig_addr");
  put(ctx, dest, source, n, element, pe);
  if (s.how == SHMEM_SIGNAL_SET)
    (void)atomic_swap<std::uint64_t, unread>(ctx, s.word, s.value, pe);
  else
    (void)atomic_add<std::uint64_t, unread>(ctx, s.word, s.value, pe);
}

std::uint64_t signal_fetch(const std::uint64_t* word) {
  return atomic_fetch<std::uint64_t>(SHMEM_CTX_DEFAULT, word, world::here().me());
}

}  // namespace starling::openshmem
