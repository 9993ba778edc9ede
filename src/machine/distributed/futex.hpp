// Sleeping until a word changes, also by another process that has the word's memory mapped: std::atomic::wait would be
// woken by threads of its own process alone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace starling::futex {

// Returns when the word is not `seen`, somebody has woken its sleepers, or the time is over; may return early.
void wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds at_most);
void wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace starling::futex
