// All logical data of a context that is alive, for those who look for data to evict or to write back. A list through
// the data itself: there may be a great many.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "data_state.hpp"

namespace starling::stf {

class data_registry {
 public:
  void add(const std::shared_ptr<data_state>& d) {
    const std::lock_guard lock(mutex_);
    d->listed.before = last_;
    (last_ != nullptr ? last_->listed.after : first_) = d.get();
    last_ = d.get();
    d->is_listed = true;
    ++size_;
  }
  // Data that is in it or not.
  void remove(data_state* d) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(d->is_listed, false)) return;
    (d->listed.before != nullptr ? d->listed.before->listed.after : first_) = d->listed.after;
    (d->listed.after != nullptr ? d->listed.after->listed.before : last_) = d->listed.before;
    --size_;
  }
  // `dying`: whether there is data whose last handle has gone, but which is not removed yet.
  std::vector<std::shared_ptr<data_state>> alive(bool* dying = nullptr) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<data_state>> found;
    found.reserve(size_);
    for (data_state* d = first_; d != nullptr; d = d->listed.after)
      if (auto mine = d->weak_from_this().lock()) found.push_back(std::move(mine));
    if (dying != nullptr) *dying = found.size() < size_;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  data_state* first_ = nullptr;
  data_state* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace starling::stf
