// The kernel behind parallel_for: body(i, j, ..., data...) for every coordinate of a shape, spread over blocks and
// threads; accumulators among the data are reductions. The body gets views by value and an accumulator<T> as T&.
#pragma once

#include "starling/machine/stream.hpp"
#include "starling/stf/detail/invocable_check.hpp"
#include "starling/stf/detail/pack.hpp"
#include "starling/stf/detail/reduce_kernel.hpp"
#include "starling/stf/for_loop.hpp"

namespace starling::stf {

// Threads of a block of a loop; bodies may use registers accordingly.
inline constexpr int for_threads = 256;

// Throw argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_plan(const launch_plan& plan);
[[noreturn]] void refuse_partials();

namespace detail {

// What of an argument a thread holds while the loop runs.
template <class Arg>
struct in_loop {
  using given = Arg;
  Arg view;
  STARLING_HD explicit in_loop(const Arg& a) : view(a) {}
  STARLING_HD const Arg& argument() { return view; }
};
template <class T, class Op>
struct in_loop<accumulator<T, Op>> {
  using given = accumulated<T>;
  T value;
  STARLING_HD explicit in_loop(const accumulator<T, Op>& a) : value(reducer::identity_of<Op, T>(a.op)) {}
  STARLING_HD T& argument() { return value; }
};

template <class Coords, class Numbers>
struct body_check_of;
template <class Coords, std::size_t... D>
struct body_check_of<Coords, std::index_sequence<D...>> {
  template <class Body, class... Args>
  static constexpr bool check() {
    if constexpr (tuple_like<Coords>)
      return check_callable<Body, std::tuple_element_t<D, Coords>..., typename in_loop<Args>::given...>();
    else
      return check_callable<Body, Coords, typename in_loop<Args>::given...>();
  }
};

template <class Coords>
using coordinate_numbers = std::make_index_sequence<static_cast<std::size_t>(parameters_of<Coords>())>;

// body(i, j, ..., given...) for one coordinate.
template <class Body, class Coords, std::size_t... D, class... Given>
STARLING_HD void call_body(const Body& body, const Coords& c, std::index_sequence<D...>, Given&... given) {
  if constexpr (!tuple_like<Coords>) {
    body(c, given...);
  } else if constexpr (requires { c.template get<0>(); }) {
    body(c.template get<D>()..., given...);
  } else {
    using std::get;
    body(get<D>(c)..., given...);
  }
}

// Tells check mode which element comes next. Coordinates that are no numbers are not named.
template <class Coords>
void come_to_element(host_port& port, const Coords& c) {
  const auto tell = [&](const auto&... at) {
    if constexpr ((std::is_convertible_v<decltype(at), index_t> && ...)) {
      const index_t numbers[] = {static_cast<index_t>(at)...};
      port.next_element(numbers);
    } else {
      port.next_element({});
    }
  };
  call_body(tell, c, coordinate_numbers<Coords>());
}

// That the body can be called for each coordinate of a shape.
template <class Shape, class Body, class... Args>
constexpr bool check_body() {
  using coords_t = typename Shape::coords_t;
  return body_check_of<coords_t, coordinate_numbers<coords_t>>::template check<Body, Args...>();
}

}  // namespace detail

template <class Shape, class Body, class... Args>
struct for_kernel {
  static constexpr int max_threads = for_threads;

  Shape part;
  Body body;
  pack<Args...> args;
  bool finishes_itself;

  STARLING_HD void operator()(block& b) const { run(b, std::index_sequence_for<Args...>()); }

  // Without reductions any number of blocks leaves the same values; so many have something to do.
  index_t most_blocks() const
    requires(!has_accumulators<Args...>)
  {
    return ceil_div(part.size(), for_threads);
  }

  template <std::size_t... I>
  STARLING_HD void run(block& b, std::index_sequence<I...>) const {
    pack<detail::in_loop<Args>...> mine{{{detail::in_loop<Args>(get<I>(args))}...}};
    if constexpr (target::checked) b.port().begin_loop();
    for_each_of(b, part, [&](const typename Shape::coords_t& c) {
      if constexpr (target::checked) detail::come_to_element(b.port(), c);
      detail::call_body(body, c, detail::coordinate_numbers<typename Shape::coords_t>(), get<I>(mine).argument()...);
    });
    if constexpr (target::checked) b.port().end_loop();
    if constexpr (has_accumulators<Args...>) {
      (leave_value(b, get<I>(args), get<I>(mine)), ...);
      if (!last_to_finish(b, finishes_itself, first_partials(get<I>(args)...))) return;
      (finish(b, get<I>(args), b.blocks_per_pe()), ...);
    }
  }

 private:
  template <class T, class Op>
  STARLING_HD static void leave_value(block& b, const accumulator<T, Op>& a,
                                      const detail::in_loop<accumulator<T, Op>>& mine) {
    stf::leave_value(b, a, mine.value);
  }
  template <class Arg>
  STARLING_HD static void leave_value(block&, const Arg&, const detail::in_loop<Arg>&) {}
};

// Puts the loop into a stream, or a task_stream: body(i, j, ..., data...) for every coordinate of `part`. An empty
// shape launches nothing, but gives accumulators their identity.
template <class Stream, shape_like Shape, class Body, class... Args>
void enqueue_for(Stream&& s, const launch_plan& plan, const Shape& part, const Body& body, const Args&... args) {
  if constexpr (detail::check_body<Shape, Body, Args...>()) {
    if (plan.blocks < 1 || plan.threads < 32 || plan.threads > for_threads || plan.threads % 32 != 0) refuse_plan(plan);
    if (!(complete(args) && ...)) refuse_partials();
    if (part.size() == 0 && !has_accumulators<Args...>) return;
    const launch_options options{.threads = plan.threads, .scratch_bytes = plan.scratch_bytes};
    s.launch(plan.blocks, for_kernel<Shape, Body, Args...>{part, body, {{{args}...}}, plan.finishes_itself}, options);
    if constexpr (has_accumulators<Args...>)
      if (!plan.finishes_itself && plan.blocks > 1)
        s.launch(1, finish_kernel<Args...>{{{{args}...}}, plan.blocks}, {.threads = for_threads});
  }
}

// After loops on several places that each gave a result of its own: combines these, `count` of them one after another
// in memory, into total.result, in their order. total.partials is not used.
template <class Stream, class T, class Op>
void enqueue_combine(Stream&& s, const accumulator<T, Op>& total, const T* values, int count) {
  s.launch(1, combine_kernel<T, Op>{total, values, count}, {.threads = 32});
}

// As for_plan, with the width that this body's use of registers allows on a GPU. Costs a look-up: keep the plan.
template <class Machine, shape_like Shape, class Body, class... Args>
launch_plan plan_for(const Machine& m, int pe, const Shape& part, const Body& body, const Args&... args) {
  const for_kernel<Shape, Body, Args...> k{part, body, {{{args}...}}, true};
  return for_plan(m, pe, part.size(), m.blocks_that_fit(k, launch_options{.threads = for_threads}));
}

}  // namespace starling::stf
