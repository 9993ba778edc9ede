// token: logical data without bytes. It orders tasks and carries nothing, so that bodies have no parameter for it.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "starling/stf/logical_data.hpp"

namespace starling::stf {

struct token_view {};
struct token_shape {};
template <>
struct data_interface<token_view> {
  using shape_type = token_shape;
  using read_type = token_view;
  static std::size_t bytes(token_shape) { return 0; }
  static token_view view(token_shape, std::byte*) { return {}; }
};
using token = logical_data<token_view>;

namespace detail {

template <class Dep>
inline constexpr bool is_token = false;
template <>
inline constexpr bool is_token<dependency<token_view, token_view>> = true;

// The numbers of the dependencies that the body of a task gets: all but tokens.
template <class... Deps>
struct shown_to_body {
  static constexpr std::size_t count = (std::size_t{0} + ... + (is_token<Deps> ? 0 : 1));
  static constexpr std::array<std::size_t, count> numbers = [] {
    std::array<std::size_t, count> all{};
    std::size_t which = 0, next = 0;
    ((is_token<Deps> ? void() : void(all[next++] = which), ++which), ...);
    return all;
  }();
  template <class Positions>
  struct at;
  template <std::size_t... I>
  struct at<std::index_sequence<I...>> {
    using type = std::index_sequence<numbers[I]...>;
  };
  using type = typename at<std::make_index_sequence<count>>::type;
};
template <class... Deps>
using shown_to_body_t = typename shown_to_body<Deps...>::type;

}  // namespace detail

}  // namespace starling::stf
