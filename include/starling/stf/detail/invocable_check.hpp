// check_callable<F, Given...>(): that the body of a task or loop can be called with what it will be given. When it
// cannot, the compiler's first error says which parameter does not fit, and shows the type that the body wants and the
// type it is given. Returns whether it can, so that callers leave out code that would only add errors.
#pragma once

#include <type_traits>

#include "starling/stf/reducer.hpp"

namespace starling::stf {

namespace detail {

template <class... P>
struct parameter_list {
  static constexpr int size = sizeof...(P);
};

// The parameters of a body; void where it has several signatures or generic ones.
template <class Call>
struct parameters_of_call {
  using type = void;
  static constexpr bool keeps_const = true;
};
template <class R, class C, class... P>
struct parameters_of_call<R (C::*)(P...) const> {
  using type = parameter_list<P...>;
  static constexpr bool keeps_const = true;
};
template <class R, class C, class... P>
struct parameters_of_call<R (C::*)(P...) const noexcept> : parameters_of_call<R (C::*)(P...) const> {};
template <class R, class C, class... P>
struct parameters_of_call<R (C::*)(P...)> {
  using type = parameter_list<P...>;
  static constexpr bool keeps_const = false;
};
template <class R, class... P>
struct parameters_of_call<R (*)(P...)> {
  using type = parameter_list<P...>;
  static constexpr bool keeps_const = true;
};

template <class F>
struct body_signature : parameters_of_call<F> {};
template <class F>
  requires requires { &F::operator(); }
struct body_signature<F> : parameters_of_call<decltype(&F::operator())> {};

template <class Wanted, class Given>
inline constexpr bool fits =
    std::is_convertible_v<std::conditional_t<std::is_reference_v<Given>, Given, const Given&>, Wanted>;
template <class Wanted, class T>
inline constexpr bool fits<Wanted, accumulated<T>> = std::is_same_v<Wanted, T&>;

template <class Given>
struct argument {
  using type = std::conditional_t<std::is_reference_v<Given>, Given, const Given&>;
};
template <class T>
struct argument<accumulated<T>> {
  using type = T&;
};

// The compiler prints these names with their arguments, so that they tell which type is which.
template <class T>
struct wanted {};
template <class T>
struct given {};
template <int Number, class Wanted, class Given>
struct parameter_of_the_body;
template <int Number, class Wanted, class Given>
struct parameter_of_the_body<Number, wanted<Wanted>, given<Given>> {
  static constexpr bool good = fits<Wanted, Given>;
  static_assert(Number != 1 || good, "parameter 1 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 2 || good, "parameter 2 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 3 || good, "parameter 3 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 4 || good, "parameter 4 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 5 || good, "parameter 5 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 6 || good, "parameter 6 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 7 || good, "parameter 7 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number != 8 || good, "parameter 8 of the body does not fit; see wanted<> and given<> here");
  static_assert(Number <= 8 || good, "a parameter of the body does not fit; see its number, wanted<> and given<> here");
};

template <int N>
struct wanted_number {};
template <int N>
struct given_number {};
template <class Wanted, class Given>
struct parameters_of_the_body;
template <int Wanted, int Given>
struct parameters_of_the_body<wanted_number<Wanted>, given_number<Given>> {
  static constexpr bool good = Wanted == Given;
  static_assert(
      good,
      "the body has the wrong number of parameters; see wanted_number and given_number here: coordinates, stream or "
      "hierarchy come first, then one parameter for each datum");
};

template <class F, class... Given>
struct call_of_the_body {
  static constexpr bool good = std::is_invocable_v<const F&, typename argument<Given>::type...>;
  static_assert(good, "the body cannot be called with what it is given; see the types here, after the body's");
};

template <int Number>
constexpr bool check_parameters(parameter_list<>, parameter_list<>) {
  return true;
}
template <int Number, class Wanted, class... MoreWanted, class Given, class... MoreGiven>
constexpr bool check_parameters(parameter_list<Wanted, MoreWanted...>, parameter_list<Given, MoreGiven...>) {
  constexpr bool good = parameter_of_the_body<Number, wanted<Wanted>, given<Given>>::good;
  return check_parameters<Number + 1>(parameter_list<MoreWanted...>(), parameter_list<MoreGiven...>()) && good;
}

}  // namespace detail

template <class F, class... Given>
constexpr bool check_callable() {
  using signature = detail::body_signature<F>;
  using wanted = typename signature::type;
  if constexpr (std::is_void_v<wanted>) {
    return detail::call_of_the_body<F, Given...>::good;
  } else {
    static_assert(signature::keeps_const, "the body changes its own copies: leave out `mutable`");
    if constexpr (!signature::keeps_const)
      return false;
    else if constexpr (!detail::parameters_of_the_body<detail::wanted_number<wanted::size>,
                                                       detail::given_number<static_cast<int>(sizeof...(Given))>>::good)
      return false;
    else
      return detail::check_parameters<1>(wanted(), detail::parameter_list<Given...>());
  }
}

}  // namespace starling::stf
