// Numbers that look random and are the same for the same seed, in kernels too.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "starling/base/index.hpp"

namespace starling::test {

// splitmix64's finaliser.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A value that tells who wrote what when.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0, std::uint64_t d = 0) {
  return mix(a ^ mix(b ^ mix(c ^ mix(d))));
}

// A test prints its seed with INFO(r.seed) and starts from this one, or from STARLING_TEST_SEED.
inline std::uint64_t seed_or(std::uint64_t otherwise) {
  const char* text = std::getenv("STARLING_TEST_SEED");
  return text == nullptr ? otherwise : std::stoull(text);
}

class random {
 public:
  explicit random(std::uint64_t start) : seed(seed_or(start)), state_(seed) {}

  const std::uint64_t seed;

  std::uint64_t next() { return mix(state_++); }
  // From 0 to n - 1.
  index_t below(index_t n) { return static_cast<index_t>(next() % static_cast<std::uint64_t>(n)); }
  // From -1 to 1, of any size down to 1e-9, so that the order of a sum shows in its bits.
  double real() {
    const double unit = static_cast<double>(next() >> 11) / 9007199254740992.0;
    constexpr double scale[] = {1, 1e-3, 1e-6, 1e-9};
    return (2 * unit - 1) * scale[below(4)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace starling::test
