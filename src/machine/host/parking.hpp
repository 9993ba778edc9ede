// Where blocks of virtual devices wait for a word of memory to change: they look for a short while, then sleep, so that
// many more blocks than cores make progress.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace starling::host {

using clock = std::chrono::steady_clock;

class parking {
 public:
  // After a sequentially consistent change of the word: wakes those who wait for it.
  void wake(const void* word);
  void wake_all();

  // Returns ready() when it is true, or after the deadline. ready() reads the word sequentially consistently.
  template <class Ready>
  bool wait(const void* word, clock::time_point deadline, const Ready& ready) {
    constexpr int looks = 256;
    for (int i = 0; i < looks; ++i)
      if (ready()) return true;
    lot& l = lot_of(word);
    std::unique_lock lock(l.mutex);
    l.sleepers.fetch_add(1);
    bool yes = ready();
    while (!yes && l.wakeup.wait_until(lock, deadline) == std::cv_status::no_timeout) yes = ready();
    l.sleepers.fetch_sub(1);
    return yes || ready();
  }

 private:
  struct alignas(64) lot {
    std::atomic<int> sleepers{0};
    std::mutex mutex;
    std::condition_variable wakeup;
  };
  static void wake(lot& l);
  lot& lot_of(const void* word) { return lots_[reinterpret_cast<std::uintptr_t>(word) / 8 % lots_.size()]; }

  std::array<lot, 64> lots_;
};

}  // namespace starling::host
