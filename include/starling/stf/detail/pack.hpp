// pack<T...>: the data that a kernel carries, one object of each type. A tuple that costs the compiler little.
#pragma once

#include <cstddef>
#include <utility>

#include "starling/device/target.hpp"

namespace starling::stf {

namespace detail {

template <std::size_t I, class T>
struct pack_element {
  T value;
};

template <class Numbers, class... T>
struct pack_base;
template <std::size_t... I, class... T>
struct pack_base<std::index_sequence<I...>, T...> : pack_element<I, T>... {};

}  // namespace detail

template <class... T>
struct pack : detail::pack_base<std::index_sequence_for<T...>, T...> {};

template <std::size_t I, class T>
STARLING_HD constexpr T& get(detail::pack_element<I, T>& e) {
  return e.value;
}
template <std::size_t I, class T>
STARLING_HD constexpr const T& get(const detail::pack_element<I, T>& e) {
  return e.value;
}

}  // namespace starling::stf
