// The loop of parallel_for on a thread of the host.
#pragma once

#include <utility>

#include "starling/stf/detail/for_kernel.hpp"

namespace starling::stf {

template <class Shape, class Body, class... Args>
struct host_loop {
  Shape shape;
  Body body;
  pack<Args...> args;

  void operator()() const { run(std::index_sequence_for<Args...>()); }

 private:
  template <std::size_t... I>
  void run(std::index_sequence<I...>) const {
    pack<detail::in_loop<Args>...> mine{{{detail::in_loop<Args>(get<I>(args))}...}};
    // A user's shape may count in another type.
    const index_range all{0, static_cast<index_t>(shape.size())};
    detail::visit_alone(shape, all, [&](const typename Shape::coords_t& c) {
      detail::call_body(body, c, detail::coordinate_numbers<typename Shape::coords_t>(), get<I>(mine).argument()...);
    });
    (finish(get<I>(args), get<I>(mine)), ...);
  }

  template <class T, class Op>
  static void finish(const accumulator<T, Op>& a, const detail::in_loop<accumulator<T, Op>>& mine) {
    *a.result = a.keep ? a.op(*a.result, mine.value) : mine.value;
  }
  template <class Arg>
  static void finish(const Arg&, const detail::in_loop<Arg>&) {}
};

}  // namespace starling::stf
