// coords<Rank>: a place in a shape of numbers; and what a kernel asks of the coordinates of any shape. Plain data that
// takes part in structured bindings: auto [i, j] = c.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "starling/base/index.hpp"
#include "starling/device/target.hpp"

namespace starling::stf {

template <int Rank>
struct coords {
  static_assert(Rank >= 1);
  index_t at[Rank];

  STARLING_HD constexpr index_t& operator[](int d) { return at[d]; }
  STARLING_HD constexpr const index_t& operator[](int d) const { return at[d]; }
  template <std::size_t I>
  STARLING_HD constexpr index_t get() const {
    return at[I];
  }
  STARLING_HD friend constexpr bool operator==(const coords& a, const coords& b) {
    bool same = true;
    for (int d = 0; d < Rank; ++d) same = same && a.at[d] == b.at[d];
    return same;
  }
};

// Coordinates of a user's shape may be tuple-like, or one value.
template <class C>
concept tuple_like = requires { std::tuple_size<C>::value; };

// How many parameters of a body the coordinates take.
template <class C>
constexpr int parameters_of() {
  if constexpr (tuple_like<C>)
    return static_cast<int>(std::tuple_size<C>::value);
  else
    return 1;
}

}  // namespace starling::stf

template <int Rank>
struct std::tuple_size<starling::stf::coords<Rank>> : std::integral_constant<std::size_t, Rank> {};
template <std::size_t I, int Rank>
struct std::tuple_element<I, starling::stf::coords<Rank>> {
  using type = starling::index_t;
};
