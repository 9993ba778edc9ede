// rare_members<T>: what few of many objects have, in one pointer. Where there is nothing it reads as a T of its default
// values.
#pragma once

#include <memory>

namespace starling::stf {

template <class T>
class rare_members {
 public:
  explicit operator bool() const { return held_ != nullptr; }
  const T& operator*() const { return held_ ? *held_ : nothing; }
  const T* operator->() const { return &**this; }
  // From here on there is something.
  T& change() {
    if (!held_) held_ = std::make_unique<T>();
    return *held_;
  }

 private:
  inline static const T nothing{};
  std::unique_ptr<T> held_;
};

}  // namespace starling::stf
