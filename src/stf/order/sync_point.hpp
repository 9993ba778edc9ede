// Sync points: points in the work of a context that other work can be ordered after. A stream slot is one stream of a
// context; its operations are counted, by a clock that all slots of a context share, so a sync point is two numbers,
// costs nothing to make and needs no driver event until another slot waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace starling::stf {

// Everything that stream slot `slot` had been given when its count was `number`.
struct sync_point {
  std::uint32_t slot = 0;
  std::uint64_t number = 0;
};

// What has to be over before something may start: at most one sync point of each slot, the latest. Every task makes
// several of these, mostly short, so that a few sync points take no memory of their own.
class sync_point_list {
 public:
  sync_point_list() = default;
  sync_point_list(const sync_point_list& other) { assign(other); }
  sync_point_list(sync_point_list&& other) noexcept { take(other); }
  sync_point_list& operator=(const sync_point_list& other) {
    if (this != &other) assign(other);
    return *this;
  }
  sync_point_list& operator=(sync_point_list&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~sync_point_list() = default;

  void add(const sync_point& m) {
    for (std::size_t i = 0; i < size_; ++i) {
      sync_point& mine = data()[i];
      if (mine.slot != m.slot) continue;
      mine.number = std::max(mine.number, m.number);
      return;
    }
    if (size_ == capacity()) grow(2 * few + size_);
    data()[size_++] = m;
  }
  void add(const sync_point_list& others) {
    for (const sync_point& m : others) add(m);
  }
  // Keeps its memory.
  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  const sync_point* begin() const { return many_ ? many_.get() : few_; }
  const sync_point* end() const { return begin() + size_; }

 private:
  static constexpr std::size_t few = 4;

  sync_point* data() { return many_ ? many_.get() : few_; }
  std::size_t capacity() const { return many_ ? many_capacity_ : few; }
  void grow(std::size_t n);
  void assign(const sync_point_list& other);
  void take(sync_point_list& other) noexcept {
    many_ = std::move(other.many_);
    many_capacity_ = other.many_capacity_;
    size_ = std::exchange(other.size_, 0);
    if (!many_) std::copy(other.few_, other.few_ + size_, few_);
  }

  // No more than there are slots.
  std::uint32_t size_ = 0;
  std::uint32_t many_capacity_ = 0;
  sync_point few_[few];
  std::unique_ptr<sync_point[]> many_;  // instead of these
};

}  // namespace starling::stf
