// Symmetric memory from the host's side: made with known contents, written and read by copies, as GPUs need it.
#pragma once

#include <cstring>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::test {

inline constexpr unsigned char poison = 0xcd;

// n objects on every PE, every byte the same.
template <class T>
symmetric_array<T> filled(machine& m, index_t n, unsigned char byte) {
  auto a = m.allocate<T>(n);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(a.on(pe), byte, static_cast<std::size_t>(n) * sizeof(T));
  return a;
}

template <class T>
symmetric_array<T> zeroed(machine& m, index_t n) {
  return filled<T>(m, n, 0);
}

template <class T>
symmetric_array<T> poisoned(machine& m, index_t n) {
  return filled<T>(m, n, poison);
}

// An object whose bytes are all poison.
template <class T>
T poison_value() {
  T value;
  std::memset(static_cast<void*>(&value), poison, sizeof value);
  return value;
}

template <class T>
std::vector<T> read(machine& m, const symmetric_array<T>& a, int pe) {
  std::vector<T> values(static_cast<std::size_t>(a.size()));
  m.copy(values.data(), a.on(pe), values.size() * sizeof(T));
  return values;
}

template <class T>
void write(machine& m, const symmetric_array<T>& a, int pe, const std::vector<T>& values) {
  expect<argument_error>(static_cast<index_t>(values.size()) == a.size(), "test: write ", values.size(), " of ",
                         a.size());
  m.copy(a.on(pe), values.data(), values.size() * sizeof(T));
}

}  // namespace starling::test
