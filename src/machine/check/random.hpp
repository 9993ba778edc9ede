// The random numbers of a schedule: a function of its seed alone (splitmix64, Steele, Lea and Flood 2014).
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::check {

class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 to n - 1; n > 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(((next() >> 32) * n) >> 32); }
  // True in `of_256` of 256 cases.
  bool chance(unsigned of_256) { return (next() >> 56) < of_256; }

 private:
  std::uint64_t state_;
};

}  // namespace starling::check
