// Moments: points in the work of a context that other work can be ordered after. A lane is one stream; its operations
// are counted, by a clock that all lanes of a context share, so a moment is two numbers, costs nothing to make and
// needs no driver event until another lane waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace starling::stf {

// Everything that lane `lane` had been given when its count was `number`.
struct moment {
  std::uint32_t lane = 0;
  std::uint64_t number = 0;
};

// What has to be over before something may start: at most one moment of each lane, the latest. Every task makes several
// of these, mostly short, so that a few moments take no memory of their own.
class moment_list {
 public:
  moment_list() = default;
  moment_list(const moment_list& other) { assign(other); }
  moment_list(moment_list&& other) noexcept { take(other); }
  moment_list& operator=(const moment_list& other) {
    if (this != &other) assign(other);
    return *this;
  }
  moment_list& operator=(moment_list&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~moment_list() = default;

  void add(const moment& m) {
    for (std::size_t i = 0; i < size_; ++i) {
      moment& mine = data()[i];
      if (mine.lane != m.lane) continue;
      mine.number = std::max(mine.number, m.number);
      return;
    }
    if (size_ == capacity()) grow(2 * few + size_);
    data()[size_++] = m;
  }
  void add(const moment_list& others) {
    for (const moment& m : others) add(m);
  }
  // Keeps its memory.
  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  const moment* begin() const { return many_ ? many_.get() : few_; }
  const moment* end() const { return begin() + size_; }

 private:
  static constexpr std::size_t few = 4;

  moment* data() { return many_ ? many_.get() : few_; }
  std::size_t capacity() const { return many_ ? many_capacity_ : few; }
  void grow(std::size_t n);
  void assign(const moment_list& other);
  void take(moment_list& other) noexcept {
    many_ = std::move(other.many_);
    many_capacity_ = other.many_capacity_;
    size_ = std::exchange(other.size_, 0);
    if (!many_) std::copy(other.few_, other.few_ + size_, few_);
  }

  // No more than there are lanes.
  std::uint32_t size_ = 0;
  std::uint32_t many_capacity_ = 0;
  moment few_[few];
  std::unique_ptr<moment[]> many_;  // instead of these
};

}  // namespace starling::stf
