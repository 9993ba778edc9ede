// Whether programs that run together have been ended. The word counts up: a later run has a higher number, so nobody
// has to clear what another process may still read.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace starling {

class end_flag {
 public:
  end_flag() = default;
  // The word lies in memory of several processes.
  end_flag(std::atomic<std::uint64_t>& word, std::uint64_t number) : word_(&word), number_(number) {}
  end_flag(const end_flag&) = delete;
  end_flag& operator=(const end_flag&) = delete;

  bool load() const { return word_->load() >= number_; }
  void set() { raise(*word_, number_); }
  // What waiters for it are woken by.
  const void* word() const { return word_; }

  // Ends the runs of this word up to that number; all that there will be.
  static void raise(std::atomic<std::uint64_t>& word,
                    std::uint64_t number = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t before = word.load();
    while (before < number && !word.compare_exchange_weak(before, number)) {
    }
  }

 private:
  std::atomic<std::uint64_t> own_{0};
  std::atomic<std::uint64_t>* word_ = &own_;
  std::uint64_t number_ = 1;
};

}  // namespace starling
