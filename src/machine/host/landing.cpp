#include "landing.hpp"

#include <atomic>
#include <cstring>

namespace starling::host {
namespace {

// Words may be read by blocks meanwhile: those that are aligned are stored whole. False: they are not.
template <class Word>
bool store_words(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t few = landing::whole_bytes / sizeof(std::uint64_t);
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) != 0 || bytes % sizeof(Word) != 0 ||
      bytes > few * sizeof(Word))
    return false;
  auto* words = static_cast<Word*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) {
    Word value;
    std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(Word), sizeof(Word));
    std::atomic_ref(words[i]).store(value);
  }
  return true;
}

template <class Word>
std::uint64_t changed(void* address, word_change what, std::uint64_t operand, std::uint64_t compare) {
  const std::atomic_ref word(*static_cast<Word*>(address));
  const auto value = static_cast<Word>(operand);
  switch (what) {
    case word_change::fetch_add:
      return word.fetch_add(value);
    case word_change::swap:
      return word.exchange(value);
    case word_change::fetch_and:
      return word.fetch_and(value);
    case word_change::fetch_or:
      return word.fetch_or(value);
    case word_change::fetch_xor:
      return word.fetch_xor(value);
    case word_change::compare_swap:
      break;
  }
  auto old = static_cast<Word>(compare);
  (void)word.compare_exchange_strong(old, value);
  return old;
}

}  // namespace

void landing::store(void* to, const void* from, std::size_t bytes) {
  if (store_words<std::uint64_t>(to, from, bytes) || store_words<std::uint32_t>(to, from, bytes)) {
    if (bytes > sizeof(std::uint64_t)) return lot_.wake_range(to, bytes);
    lot_.wake(to);
  } else {
    std::memcpy(to, from, bytes);
  }
  written(to, bytes);
}

void landing::written(void* to, std::size_t bytes) {
  if (lot_.values_awaited()) lot_.wake_range(to, bytes);
}

std::uint64_t landing::change(void* word, word_change what, std::size_t bytes, std::uint64_t operand,
                              std::uint64_t compare) {
  const std::uint64_t old = bytes == 8 ? changed<std::uint64_t>(word, what, operand, compare)
                                       : changed<std::uint32_t>(word, what, operand, compare);
  lot_.wake(word);
  return old;
}

}  // namespace starling::host
