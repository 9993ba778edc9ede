// Where blocks of virtual devices wait for a word of memory to change: they look for a short while, then sleep, so that
// many more blocks than cores make progress. Blocks may be of several processes that share the words.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace starling::host {

using clock = std::chrono::steady_clock;

// What those who sleep and those who wake share. Zeros are its first state.
struct parking_words {
  struct alignas(64) lot {
    std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint32_t> bell;  // changes with every waking
  };
  std::array<lot, 64> lots;
  lot several;
  std::atomic<std::uint32_t> values_awaited;
};

class parking {
 public:
  // Stands for several words.
  static constexpr const void* several = nullptr;

  // `start`: of the memory that the words to be awaited lie in, wherever this process has it.
  parking(parking_words& shared, const void* start) : words_(shared), start_(reinterpret_cast<std::uintptr_t>(start)) {}

  // After a sequentially consistent change of the word: wakes those who wait for it.
  void wake(const void* word);
  void wake_all();

  // The same for words that have been written as data, if anybody waits for such words: wait_for_value.
  bool values_awaited() const { return words_.values_awaited.load(std::memory_order_relaxed) != 0; }
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
    words_.values_awaited.fetch_add(1);
    const bool yes =
        sleep(word == several ? words_.several : lot_of(word), deadline, std::chrono::milliseconds(1), ready);
    words_.values_awaited.fetch_sub(1);
    return yes;
  }

 private:
  using lot = parking_words::lot;

  template <class Ready>
  static bool looked(const Ready& ready) {
    constexpr int looks = 256;
    for (int i = 0; i < looks; ++i)
      if (ready()) return true;
    return false;
  }

  // Nobody holds anything while it sleeps, so a process may end in here and the others go on.
  template <class Ready>
  static bool sleep(lot& l, clock::time_point deadline, clock::duration at_most, const Ready& ready) {
    l.sleepers.fetch_add(1);
    bool yes = false;
    for (;;) {
      const std::uint32_t seen = l.bell.load();
      yes = ready();
      const clock::time_point now = clock::now();
      if (yes || now >= deadline) break;
      nap(l, seen, deadline - now < at_most ? deadline - now : at_most);
    }
    l.sleepers.fetch_sub(1);
    return yes || ready();
  }

  static void nap(lot& l, std::uint32_t seen, clock::duration at_most);
  static void wake(lot& l);
  lot& lot_of(const void* word) {
    return words_.lots[(reinterpret_cast<std::uintptr_t>(word) - start_) / 8 % words_.lots.size()];
  }

  parking_words& words_;
  std::uintptr_t start_;
};

}  // namespace starling::host
