// All logical data of a context that is alive, for those who look for data to evict or to write back.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace starling::stf {

class data_state;

class data_registry {
 public:
  void add(const std::shared_ptr<data_state>& d) {
    const std::lock_guard lock(mutex_);
    all_.emplace(d.get(), d);
  }
  void remove(const data_state* d) {
    const std::lock_guard lock(mutex_);
    all_.erase(d);
  }
  // `dying`: whether there is data whose last handle has gone, but which is not removed yet.
  std::vector<std::shared_ptr<data_state>> alive(bool* dying = nullptr) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<data_state>> found;
    for (const auto& [key, value] : all_)
      if (auto d = value.lock()) found.push_back(std::move(d));
    if (dying != nullptr) *dying = found.size() < all_.size();
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const data_state*, std::weak_ptr<data_state>> all_;
};

}  // namespace starling::stf
