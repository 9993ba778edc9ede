// Where blocks of virtual devices wait for a word of memory to change: they look for a short while, then sleep, so that
// many more blocks than cores make progress.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace starling::host {

using clock = std::chrono::steady_clock;

class parking {
 public:
  // Stands for several words.
  static constexpr const void* several = nullptr;

  // After a sequentially consistent change of the word: wakes those who wait for it.
  void wake(const void* word);
  void wake_all();

  // The same for words that have been written as data, if anybody waits for such words: wait_for_value.
  bool values_awaited() const { return values_awaited_.load(std::memory_order_relaxed) != 0; }
  void wake_range(const void* start, std::size_t bytes);

  // Returns ready() when it is true, or after the deadline. ready() reads the word sequentially consistently.
  template <class Ready>
  bool wait(const void* word, clock::time_point deadline, const Ready& ready) {
    if (looked(ready)) return true;
    return sleep(lot_of(word), deadline, clock::duration::max(), ready);
  }

  // The same for a word, or several, that may be written as data too. Such writes are not ordered with the sleeper's
  // last look, so it looks again now and then.
  template <class Ready>
  bool wait_for_value(const void* word, clock::time_point deadline, const Ready& ready) {
    if (looked(ready)) return true;
    values_awaited_.fetch_add(1);
    const bool yes = sleep(word == several ? several_ : lot_of(word), deadline, std::chrono::milliseconds(1), ready);
    values_awaited_.fetch_sub(1);
    return yes;
  }

 private:
  struct alignas(64) lot {
    std::atomic<int> sleepers{0};
    std::mutex mutex;
    std::condition_variable wakeup;
  };

  template <class Ready>
  static bool looked(const Ready& ready) {
    constexpr int looks = 256;
    for (int i = 0; i < looks; ++i)
      if (ready()) return true;
    return false;
  }

  template <class Ready>
  static bool sleep(lot& l, clock::time_point deadline, clock::duration at_most, const Ready& ready) {
    std::unique_lock lock(l.mutex);
    l.sleepers.fetch_add(1);
    bool yes = ready();
    while (!yes) {
      const clock::time_point now = clock::now();
      if (now >= deadline) break;
      l.wakeup.wait_until(lock, deadline - now > at_most ? now + at_most : deadline);
      yes = ready();
    }
    l.sleepers.fetch_sub(1);
    return yes || ready();
  }

  static void wake(lot& l);
  lot& lot_of(const void* word) { return lots_[reinterpret_cast<std::uintptr_t>(word) / 8 % lots_.size()]; }

  std::array<lot, 64> lots_;
  lot several_;
  std::atomic<int> values_awaited_{0};
};

}  // namespace starling::host
