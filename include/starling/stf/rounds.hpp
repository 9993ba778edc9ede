// rounds(ctx, n, loops...): n times the loops, one after the other, as ctx.repeat would do them. In a persistent
// context all of them become one program, whatever their bodies are: each loop has all threads of the device, where
// kinds of loops that each have a program of their own divide them.
//
//   stf::rounds(ctx, 100,
//               stf::loop(x.shape(), x.rw())->*STARLING_KERNEL(index_t i, slice<double> v) { v(i) *= 0.5; },
//               stf::loop(x.shape(), x.read(), y.rw())->*add());
//
// Values are those of the same loops in stream_ctx, to the last bit. The program has the registers of the most
// demanding body, and blocks of as many threads for all. Loops with bodies of one type, shapes of one type and the same
// kinds of data are one kernel within it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "starling/stf/context.hpp"

namespace starling::stf {

template <class Loop, class Body>
class loop_with_body;

// What loop() returns: a loop that is not submitted. ->* gives it its body.
template <class Partitioner, class Shape, class... Deps>
class loop_of_rounds {
  static_assert(
      (task_dependency<Deps> && ...),
      "stf::loop: dependencies are read(), write(), rw() and reduce() of logical data; loops over regions and "
      "parts are tasks of context::repeat");

 public:
  using task_type = parallel_for_task<Partitioner, Shape, Deps...>;

  loop_of_rounds(Partitioner p, exec_place where, Shape shape, Deps... deps)
      : partitioner_(std::move(p)), where_(std::move(where)), shape_(std::move(shape)), deps_(std::move(deps)...) {}

  // As of other tasks.
  loop_of_rounds&& set_symbol(std::string name) && {
    name_ = std::move(name);
    return std::move(*this);
  }
  loop_of_rounds&& set_priority(int priority) && {
    priority_ = priority;
    return std::move(*this);
  }

  // As that of parallel_for.
  template <class Body>
  loop_with_body<loop_of_rounds, Body> operator->*(const Body& body) && {
    return {std::move(*this), body};
  }

  task_type task(context& ctx) const {
    return std::apply(
        [&](const auto&... d) {
          return ctx.parallel_for(partitioner_, where_, shape_, d...).set_priority(priority_).set_symbol(name_);
        },
        deps_);
  }

 private:
  Partitioner partitioner_;
  exec_place where_;
  Shape shape_;
  std::tuple<Deps...> deps_;
  std::string name_;
  int priority_ = 0;
};

// The parameters of context::parallel_for, of data of the context that does the rounds.
template <class Partitioner, shape_like Shape, class... Deps>
  requires partitioner_of<Partitioner, Shape>
loop_of_rounds<Partitioner, Shape, Deps...> loop(Partitioner p, const exec_place& where, const Shape& shape,
                                                 Deps... deps) {
  return {std::move(p), where, shape, std::move(deps)...};
}
template <shape_like Shape, class... Deps>
loop_of_rounds<blocked, Shape, Deps...> loop(const exec_place& where, const Shape& shape, Deps... deps) {
  return {blocked(), where, shape, std::move(deps)...};
}
template <shape_like Shape, class... Deps>
loop_of_rounds<blocked, Shape, Deps...> loop(const Shape& shape, Deps... deps) {
  return {blocked(), exec_place(), shape, std::move(deps)...};
}

// One argument of rounds.
template <class Loop, class Body>
class loop_with_body {
 public:
  loop_with_body(Loop loop, const Body& body) : loop_(std::move(loop)), body_(body) {}

  static constexpr bool good() { return Loop::task_type::template takes<Body>(); }
  static auto kernels() { return Loop::task_type::template kernels<Body>(); }
  template <class Together>
  void submit(context& ctx) const {
    loop_.task(ctx).template submit_among<Together>(body_);
  }

 private:
  Loop loop_;
  Body body_;
};

namespace detail {

template <class Given>
inline constexpr bool is_loop_with_body = false;
template <class Loop, class Body>
inline constexpr bool is_loop_with_body<loop_with_body<Loop, Body>> = true;

}  // namespace detail

// Does the loops n times; n = 0: nothing. Throws what context::repeat throws for such loops. Within another body that
// is repeated or recorded the loops are part of that one.
template <class... Loops>
void rounds(context& ctx, std::uint64_t n, const Loops&... loops) {
  static_assert(sizeof...(Loops) > 0, "stf::rounds: no loop; name at least one");
  constexpr bool all_loops = (detail::is_loop_with_body<Loops> && ...);
  static_assert(all_loops,
                "stf::rounds: after the number come loops with their bodies: stf::loop(where, shape, "
                "deps...)->*STARLING_KERNEL(index_t i, ...) { ... }");
  if constexpr (all_loops)
    if constexpr ((Loops::good() && ...)) {
      using together = joined_kernels<decltype(Loops::kernels())...>;
      ctx.repeat(n, [&] { (loops.template submit<together>(ctx), ...); });
    }
}

}  // namespace starling::stf
