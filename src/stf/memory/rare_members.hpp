// rare_members<T>: what few of many objects have, in one pointer. Where there is nothing it reads as a T of its default
// values. Who changes it holds the object's lock; others may read members that nobody changes meanwhile, such as a name
// for a message, also while it comes to have something.
#pragma once

#include <atomic>

namespace starling::stf {

template <class T>
class rare_members {
 public:
  rare_members() = default;
  ~rare_members() { delete held_.load(std::memory_order_relaxed); }
  // Nobody else reads either of them.
  rare_members(rare_members&& other) noexcept : held_(other.held_.exchange(nullptr)) {}
  rare_members& operator=(rare_members&& other) noexcept {
    other.held_ = held_.exchange(other.held_);
    return *this;
  }

  explicit operator bool() const { return held_.load(std::memory_order_acquire) != nullptr; }
  const T& operator*() const {
    const T* held = held_.load(std::memory_order_acquire);
    return held != nullptr ? *held : nothing;
  }
  const T* operator->() const { return &**this; }
  // From here on there is something.
  T& change() {
    T* held = held_.load(std::memory_order_relaxed);
    if (held == nullptr) {
      held = new T();
      held_.store(held, std::memory_order_release);
    }
    return *held;
  }

 private:
  inline static const T nothing{};
  std::atomic<T*> held_{nullptr};
};

}  // namespace starling::stf
