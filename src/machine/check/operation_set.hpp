// A set of operation numbers of one block. Numbers are given from 0 up and most low ones come to be in, so the set
// keeps a floor below which all are in, and bits above. Few words of bits lie in the set itself: sets are copied often.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace starling::check {

class operation_set {
 public:
  operation_set() = default;
  operation_set(const operation_set& other) { *this = other; }
  operation_set& operator=(const operation_set& other) {
    floor_ = other.floor_;
    size_ = other.size_;
    few_ = other.few_;
    if (size_ > few_.size()) many_ = other.many_;
    return *this;
  }

  bool contains(std::uint32_t n) const {
    if (n < floor_) return true;
    const std::uint32_t i = (n - floor_) / 64;
    return i < size_ && (words()[i] >> (n % 64) & 1) != 0;
  }

  void insert(std::uint32_t n) {
    if (n < floor_) return;
    const std::uint32_t i = (n - floor_) / 64;
    grow(i + 1);
    words()[i] |= std::uint64_t{1} << (n % 64);
    raise_floor();
  }

  // All numbers below n.
  void insert_below(std::uint32_t n) {
    operation_set all;
    all.floor_ = n / 64 * 64;
    if (n % 64 != 0) {
      all.grow(1);
      all.words()[0] = (std::uint64_t{1} << (n % 64)) - 1;
    }
    merge(all);
  }

  void merge(const operation_set& other) {
    if (other.floor_ > floor_) {
      drop_words(std::min((other.floor_ - floor_) / 64, size_));
      floor_ = other.floor_;
    }
    const std::uint32_t skip = (floor_ - other.floor_) / 64;
    if (other.size_ <= skip) return;
    grow(other.size_ - skip);
    for (std::uint32_t i = skip; i < other.size_; ++i) words()[i - skip] |= other.words()[i];
    raise_floor();
  }

  void clear() { floor_ = size_ = 0; }
  bool empty() const { return floor_ == 0 && size_ == 0; }

 private:
  std::uint64_t* words() { return size_ > few_.size() ? many_.data() : few_.data(); }
  const std::uint64_t* words() const { return size_ > few_.size() ? many_.data() : few_.data(); }

  void grow(std::uint32_t size) {
    if (size <= size_) return;
    if (size > few_.size()) {
      if (size_ <= few_.size()) many_.assign(few_.begin(), few_.begin() + size_);
      many_.resize(size, 0);
    } else {
      std::fill(few_.begin() + size_, few_.begin() + size, 0);
    }
    size_ = size;
  }

  void drop_words(std::uint32_t n) {
    if (n == 0) return;
    std::uint64_t* from = words();
    const std::uint32_t left = size_ - n;
    if (size_ > few_.size() && left <= few_.size())
      std::copy(from + n, from + size_, few_.begin());
    else
      std::copy(from + n, from + size_, from);
    size_ = left;
    if (size_ > few_.size()) many_.resize(size_);
  }

  void raise_floor() {
    std::uint32_t full = 0;
    while (full < size_ && words()[full] == ~std::uint64_t{0}) ++full;
    drop_words(full);
    floor_ += full * 64;
  }

  std::uint32_t floor_ = 0;  // a multiple of 64
  std::uint32_t size_ = 0;   // words of bits
  std::array<std::uint64_t, 2> few_;
  std::vector<std::uint64_t> many_;  // all words, when they are more
};

}  // namespace starling::check
