// Collectives over the members of a team or an active set. All meet, read each other's arrays, and meet again; each is
// left when its own arrays may be used again. Members are combined in their order, so results have the same bits
// everywhere. Arrays are named by each member for itself. Throw what meet throws.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meeting.hpp"

namespace starling::openshmem {

void barrier_all();
void sync_all();
int team_sync(shmem_team_t team);
void barrier(const members& m);
void sync(const members& m);

// `to_root`: whether the root's own dest gets the values too.
int broadcast(const members& m, void* dest, const void* source, std::size_t n, std::size_t element, int root,
              bool to_root);
// Members may have different n.
int collect(const members& m, void* dest, const void* source, std::size_t n, std::size_t element);
int fcollect(const members& m, void* dest, const void* source, std::size_t n, std::size_t element);
int alltoall(const members& m, void* dest, const void* source, std::size_t n, std::size_t element);
int alltoalls(const members& m, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
              std::size_t element);

// Into an array combines another one of n elements.
using combination = void (*)(void* into, const void* from, std::size_t n);
int reduce_by(const members& m, void* dest, const void* source, std::size_t n, std::size_t element, operation what,
              combination f);
int scan_by(const members& m, void* dest, const void* source, std::size_t n, std::size_t element, bool inclusive,
            combination f);
std::size_t count_of(int nreduce, const void* pWrk);

// Integers wrap around.
template <class T>
T wrapped(auto f, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using wide = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
    return static_cast<T>(f(static_cast<wide>(a), static_cast<wide>(b)));
  } else {
    return f(a, b);
  }
}

struct sum {
  static constexpr operation what = operation::sum_reduce;
  template <class T>
  static T of(T a, T b) {
    return wrapped<T>([](auto x, auto y) { return x + y; }, a, b);
  }
};
struct product {
  static constexpr operation what = operation::prod_reduce;
  template <class T>
  static T of(T a, T b) {
    return wrapped<T>([](auto x, auto y) { return x * y; }, a, b);
  }
};
struct least {
  static constexpr operation what = operation::min_reduce;
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct greatest {
  static constexpr operation what = operation::max_reduce;
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct bits_and {
  static constexpr operation what = operation::and_reduce;
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct bits_or {
  static constexpr operation what = operation::or_reduce;
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct bits_xor {
  static constexpr operation what = operation::xor_reduce;
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T, class Op>
void combine(void* into, const void* from, std::size_t n) {
  auto* a = static_cast<T*>(into);
  const auto* b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < n; ++i) a[i] = Op::of(a[i], b[i]);
}

template <class T, class Op>
int reduce(const members& m, T* dest, const T* source, std::size_t n) {
  return reduce_by(m, dest, source, n, sizeof(T), Op::what, &combine<T, Op>);
}

template <class T, class Op>
void to_all(const members& m, T* dest, const T* source, int n, const T* pWrk) {
  (void)reduce<T, Op>(m, dest, source, count_of(n, pWrk));
}

template <class T>
int scan(const members& m, T* dest, const T* source, std::size_t n, bool inclusive) {
  return scan_by(m, dest, source, n, sizeof(T), inclusive, &combine<T, sum>);
}

}  // namespace starling::openshmem
