// The threads that are submitting work to a context. They must not wait for it: work waits for its submission to end.
#pragma once

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace starling::stf {

class submitters {
 public:
  // One submission of the thread that makes it; may end on another one.
  class presence {
   public:
    presence() = default;
    explicit presence(submitters& all) : all_(&all), who_(std::this_thread::get_id()) {
      const std::lock_guard lock(all.mutex_);
      all.inside_.push_back(who_);
    }
    presence(presence&& other) noexcept : all_(std::exchange(other.all_, nullptr)), who_(other.who_) {}
    presence& operator=(presence&& other) noexcept {
      std::swap(all_, other.all_);
      std::swap(who_, other.who_);
      return *this;
    }
    ~presence() {
      if (all_ == nullptr) return;
      const std::lock_guard lock(all_->mutex_);
      all_->inside_.erase(std::find(all_->inside_.begin(), all_->inside_.end(), who_));
    }

   private:
    submitters* all_ = nullptr;
    std::thread::id who_;
  };

  bool here() const {
    const std::lock_guard lock(mutex_);
    return std::find(inside_.begin(), inside_.end(), std::this_thread::get_id()) != inside_.end();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::thread::id> inside_;
};

}  // namespace starling::stf
