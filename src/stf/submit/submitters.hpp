// The threads that are submitting work to a context. They must not wait for it: work waits for its submission to end.
// Threads are kept apart, each in one of a few lists, so that those that submit at the same time do not meet here.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace starling::stf {

class submitters {
  struct alignas(128) list {
    std::mutex mutex;
    std::vector<std::thread::id> inside;
  };

 public:
  // One submission of the thread that makes it; may end on another one.
  class presence {
   public:
    presence() = default;
    explicit presence(submitters& all) : who_(std::this_thread::get_id()), in_(&all.list_of(who_)) {
      const std::lock_guard lock(in_->mutex);
      in_->inside.push_back(who_);
    }
    presence(presence&& other) noexcept : who_(other.who_), in_(std::exchange(other.in_, nullptr)) {}
    presence& operator=(presence&& other) noexcept {
      std::swap(in_, other.in_);
      std::swap(who_, other.who_);
      return *this;
    }
    ~presence() {
      if (in_ == nullptr) return;
      const std::lock_guard lock(in_->mutex);
      in_->inside.erase(std::find(in_->inside.begin(), in_->inside.end(), who_));
    }

   private:
    std::thread::id who_;
    list* in_ = nullptr;
  };

  bool here() {
    const std::thread::id who = std::this_thread::get_id();
    list& mine = list_of(who);
    const std::lock_guard lock(mine.mutex);
    return std::find(mine.inside.begin(), mine.inside.end(), who) != mine.inside.end();
  }

 private:
  list& list_of(std::thread::id who) { return lists_[std::hash<std::thread::id>()(who) % lists_.size()]; }

  std::array<list, 32> lists_;
};

}  // namespace starling::stf
