#include "delivery.hpp"

#include <atomic>
#include <cstring>

namespace starling::host {
namespace {

constexpr index_t few = 64;

template <class Word>
bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % sizeof(Word) == 0;
}

// Strides in words.
template <class Word>
void store_words(void* dest, index_t dest_stride, const std::byte* source, index_t source_stride, index_t n) {
  auto* to = static_cast<Word*>(dest);
  for (index_t i = 0; i < n; ++i) {
    Word value;
    std::memcpy(&value, source + i * source_stride * static_cast<index_t>(sizeof(Word)), sizeof(Word));
    std::atomic_ref(to[i * dest_stride]).store(value, std::memory_order_release);
  }
}

}  // namespace

void deliver(const transfer& t) {
  if (t.count <= 0) return;
  auto* dest = static_cast<std::byte*>(t.dest);
  const auto* source = static_cast<const std::byte*>(t.source);
  if (t.count <= few && t.element == 8 && is_aligned<std::uint64_t>(dest))
    return store_words<std::uint64_t>(dest, t.dest_stride, source, t.source_stride, t.count);
  if (t.count <= few && t.element == 4 && is_aligned<std::uint32_t>(dest))
    return store_words<std::uint32_t>(dest, t.dest_stride, source, t.source_stride, t.count);
  if (t.dest_stride == 1 && t.source_stride == 1) {
    std::memcpy(dest, source, static_cast<std::size_t>(t.count) * t.element);
    return;
  }
  const auto dest_step = t.dest_stride * static_cast<index_t>(t.element);
  const auto source_step = t.source_stride * static_cast<index_t>(t.element);
  for (index_t i = 0; i < t.count; ++i) std::memcpy(dest + i * dest_step, source + i * source_step, t.element);
}

// Sequentially consistent, as parking wants it.
void raise(const signal_update& s, parking& lot) {
  const std::atomic_ref word(s.target->value);
  if (s.op == signal_op::set)
    word.store(s.value);
  else
    word.fetch_add(s.value);
  lot.wake(s.target);
}

std::uint64_t look(const signal& s) { return std::atomic_ref(const_cast<signal&>(s).value).load(); }

}  // namespace starling::host
