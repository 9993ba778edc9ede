// conditional_loop: what context::repeat_while(most, body, deps...) returns. ->* takes the condition, a kernel that is
// asked after each round: it gets a view of each dependency and says whether there is another one.
//
//   ctx.repeat_while(100, [&] { ... }, error.read())->*STARLING_KERNEL(scalar_view<const double> e) { return *e > 1e-6;
//   };
//
// starling/stf/context.hpp includes this.
#pragma once

#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "starling/stf/context.hpp"

namespace starling::stf {

namespace detail {

// The kernel of one thread that asks.
template <class Condition, class... Views>
struct asks_condition {
  Condition condition;
  STARLING_HD void operator()(index_t, scalar_view<int> again, Views... views) const {
    *again = condition(views...) ? 1 : 0;
  }
};

}  // namespace detail

template <class... Deps>
class conditional_loop {
  static_assert((detail::is_dependency<Deps> && ...),
                "context::repeat_while: the condition of a loop reduces nothing; let a task of the body do it");

 public:
  conditional_loop(context ctx, exec_place where, std::uint64_t most, std::function<void()> body, Deps... deps)
      : context_(std::move(ctx)), where_(std::move(where)), most_(most), body_(std::move(body)), deps_(deps...) {}

  // Does the loop; what it throws is what context::repeat_while with a flag throws.
  template <class Condition>
  void operator->*(const Condition& condition) && {
    run(condition, detail::shown_to_body_t<Deps...>());
  }

 private:
  template <class Condition, std::size_t... I>
  void run(const Condition& condition, std::index_sequence<I...>) {
    using deps_type = std::tuple<Deps...>;
    using asking = detail::asks_condition<Condition, detail::view_in_task_t<std::tuple_element_t<I, deps_type>>...>;
    static_assert(
        std::is_invocable_r_v<bool, const Condition&, detail::view_in_task_t<std::tuple_element_t<I, deps_type>>...>,
        "context::repeat_while: the condition is a kernel that gets a view of each dependency and returns a bool: "
        "->*STARLING_KERNEL(slice<const double> x) { return x(0) > 0; }");
    auto again = context_.logical_data(shape_of<scalar_view<int>>()).set_symbol("the flag of repeat_while");
    const auto round = [&] {
      if (body_) body_();
      std::apply(
          [&](const auto&... d) {
            context_.parallel_for(where_, box(1), again.write(), d...).set_symbol("the condition of repeat_while")
                    ->*asking{condition};
          },
          deps_);
    };
    context_.repeat_while(again, body_ ? std::function<void()>(round) : nullptr, most_);
  }

  context context_;
  exec_place where_;
  std::uint64_t most_;
  std::function<void()> body_;
  std::tuple<Deps...> deps_;
};

}  // namespace starling::stf
