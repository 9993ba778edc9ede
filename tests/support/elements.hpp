// Element types of many sizes for the communication tests, made from a number and compared in kernels.
#pragma once

#include <cstdint>

#include "starling/device/target.hpp"

namespace starling::test {

struct bytes3 {
  std::uint8_t r, g, b;
  friend STARLING_HD bool operator==(const bytes3& a, const bytes3& b) {
    return a.r == b.r && a.g == b.g && a.b == b.b;
  }
};

struct words3 {
  float x, y, z;
  friend STARLING_HD bool operator==(const words3& a, const words3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

struct longs5 {
  std::int64_t v[5];
  friend STARLING_HD bool operator==(const longs5& a, const longs5& b) {
    for (int i = 0; i < 5; ++i)
      if (a.v[i] != b.v[i]) return false;
    return true;
  }
};

// element<T>::of(x): different numbers below 2^24 give different elements of 3 bytes or more.
template <class T>
struct element {
  STARLING_HD static T of(std::uint64_t x) { return static_cast<T>(x & 0xffffff); }
};
template <>
struct element<bytes3> {
  STARLING_HD static bytes3 of(std::uint64_t x) {
    return {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(x >> 8), static_cast<std::uint8_t>(x >> 16)};
  }
};
template <>
struct element<words3> {
  STARLING_HD static words3 of(std::uint64_t x) {
    const float f = static_cast<float>(x & 0xffffff);
    return {f, -f, f + 0.5f};
  }
};
template <>
struct element<longs5> {
  STARLING_HD static longs5 of(std::uint64_t x) {
    longs5 e{};
    for (std::uint64_t i = 0; i < 5; ++i) e.v[i] = static_cast<std::int64_t>((2 * i + 1) * x + i);
    return e;
  }
};

}  // namespace starling::test
