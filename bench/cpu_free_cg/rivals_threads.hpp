// The host threads of the rival, one for each GPU: where they meet, and what they tell each other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "rivals_split.hpp"
#include "starling/base/error.hpp"

namespace starling::bench {

class gpu_threads {
 public:
  explicit gpu_threads(int gpus) : of(static_cast<std::size_t>(gpus)), gpus_(gpus) {}

  int gpus() const { return gpus_; }

  // Waits for all others. Throws when one of them has failed or does not come.
  void meet() {
    std::unique_lock lock(mutex_);
    const long meeting = meetings_;
    if (++here_ == gpus_) {
      here_ = 0;
      ++meetings_;
      changed_.notify_all();
    }
    const bool all =
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return meetings_ != meeting || !failure_.empty(); });
    expect<error>(meetings_ != meeting, all ? failure_ : "another GPU's thread has not come after 60 s");
  }

  // Ends the meetings of all.
  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
    changed_.notify_all();
  }
  const std::string& failure() const { return failure_; }

  // What each GPU shows to the others; written before a meeting, read behind it.
  struct shown {
    const local_rows* rows = nullptr;
    double* halo = nullptr;
    unsigned long long* flags = nullptr;
    double seconds = 0;
  };
  std::vector<shown> of;

 private:
  int gpus_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;
  long meetings_ = 0;
  std::string failure_;
};

}  // namespace starling::bench
