// A set of operation numbers of one block. Numbers are given from 0 up and most low ones come to be in, so the set keeps
// a floor below which all are in, and bits above.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace starling::check {

class operation_set {
 public:
  bool contains(std::uint32_t n) const {
    if (n < floor_) return true;
    const std::size_t i = (n - floor_) / 64;
    return i < words_.size() && (words_[i] >> (n % 64) & 1) != 0;
  }

  void insert(std::uint32_t n) {
    if (n < floor_) return;
    const std::size_t i = (n - floor_) / 64;
    if (i >= words_.size()) words_.resize(i + 1);
    words_[i] |= std::uint64_t{1} << (n % 64);
    raise_floor();
  }

  // All numbers below n.
  void insert_below(std::uint32_t n) {
    operation_set all;
    all.floor_ = n / 64 * 64;
    if (n % 64 != 0) all.words_.push_back((std::uint64_t{1} << (n % 64)) - 1);
    merge(all);
  }

  void merge(const operation_set& other) {
    if (other.floor_ > floor_) {
      const std::size_t gone = std::min<std::size_t>((other.floor_ - floor_) / 64, words_.size());
      words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(gone));
      floor_ = other.floor_;
    }
    const std::size_t skip = (floor_ - other.floor_) / 64;
    if (other.words_.size() > skip) {
      if (words_.size() < other.words_.size() - skip) words_.resize(other.words_.size() - skip);
      for (std::size_t i = skip; i < other.words_.size(); ++i) words_[i - skip] |= other.words_[i];
    }
    raise_floor();
  }

  void clear() {
    floor_ = 0;
    words_.clear();
  }
  bool empty() const { return floor_ == 0 && words_.empty(); }

 private:
  void raise_floor() {
    std::size_t full = 0;
    while (full < words_.size() && words_[full] == ~std::uint64_t{0}) ++full;
    if (full == 0) return;
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(full));
    floor_ += static_cast<std::uint32_t>(full * 64);
  }

  std::uint32_t floor_ = 0;  // a multiple of 64
  std::vector<std::uint64_t> words_;
};

}  // namespace starling::check
