// parallel_for: what context::parallel_for returns. A task that is a loop: its body is called for every coordinate of a
// shape, by the threads of one device, of all devices of a grid, or by a thread of the host.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "starling/stf/detail/host_body.hpp"
#include "starling/stf/detail/host_loop.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_builder.hpp"

namespace starling::stf {

namespace detail {

// Blocks of a loop on one device, and the partial values that they leave for one reduction.
inline constexpr int most_blocks = 4095;
inline constexpr std::size_t partials_bytes = target::reduce_slot_bytes * (1 + std::size_t{most_blocks});

// How many devices a grid has. Throws range_error for one that there is not.
int places_of(context_state& context, const exec_place& grid);

}  // namespace detail

template <class Partitioner, class Shape, class... Deps>
class parallel_for_task : public task_builder<parallel_for_task<Partitioner, Shape, Deps...>, Deps...> {
  using base = task_builder<parallel_for_task<Partitioner, Shape, Deps...>, Deps...>;

 public:
  static constexpr std::size_t reductions = (std::size_t{0} + ... + (detail::is_reduction<Deps> ? 1 : 0));

  parallel_for_task(std::shared_ptr<context_state> context, Partitioner p, exec_place where, Shape shape, Deps... deps)
      : base(std::move(context), std::move(where), std::move(deps)...),
        partitioner_(std::move(p)),
        shape_(std::move(shape)) {
    std::apply([](const auto&... d) { (check_reduction(d), ...); }, deps_);
  }

  // body(i, j, ..., data...): a number for every dimension of the shape, then a view of each dependency or T& for a
  // reduction. For devices it is a STARLING_HD lambda or function object.
  template <class Body>
  void operator->*(const Body& body) && {
    submit<kernel_list<>>(body, detail::shown_to_body_t<Deps...>());
  }

  // For starling/stf/rounds.hpp: as ->*, and a persistent program has all kernels of a list in one.
  template <class Together, class Body>
  void submit_among(const Body& body) && {
    submit<Together>(body, detail::shown_to_body_t<Deps...>());
  }
  // Whether the loop can have that body, and the list of its kernels with it.
  template <class Body>
  static constexpr bool takes() {
    return takes<Body>(detail::shown_to_body_t<Deps...>());
  }
  template <class Body>
  static auto kernels() {
    return kernels<Body>(detail::shown_to_body_t<Deps...>());
  }

 private:
  using part_type = decltype(std::declval<const Partitioner&>().part(std::declval<const Shape&>(), 0, 1));
  // Where parts are boxes, so is the whole, whatever else its type knows: the body is compiled once for both.
  using whole_type = std::conditional_t<std::is_base_of_v<part_type, Shape>, part_type, Shape>;

  template <class View, class Op>
  static void check_reduction(const reduction<View, Op>& r) {
    if (r.shape.size() != 1) detail::refuse_reduction(r.shape.size());
  }
  template <class Dep>
  static void check_reduction(const Dep&) {}
  // Some dependencies say which loops can have them.
  template <class Dep>
  void check_loop(const Dep& d) const {
    if constexpr (requires { d.check_loop(partitioner_, what_.place, shape_, deps_); })
      d.check_loop(partitioner_, what_.place, shape_, deps_);
  }

  template <class Body, std::size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    return detail::check_body<Shape, Body, argument_type<I>...>();
  }

  template <class Body, std::size_t... I>
  static auto kernels(std::index_sequence<I...>) {
    return joined_kernels<for_kernel<whole_type, Body, argument_type<I>...>,
                          for_kernel<part_type, Body, argument_type<I>...>>();
  }

  template <class Together, class Body, std::size_t... I>
  void submit(const Body& body, std::index_sequence<I...> all) {
    if constexpr (takes<Body>(std::index_sequence<I...>())) {
      // What throws here has not begun, so that the data keeps its value.
      (void)partitioner_.part(shape_, 0, what_.place.is_grid() ? detail::places_of(*context_, what_.place) : 1);
      (check_loop(std::get<I>(deps_)), ...);
      if (what_.place.is_host()) expect_data_on_host(what_);
      what_.kind = kind_of_body<Body>;
      what_.as_operations = !what_.place.is_host();
      task_run run(context_, what_);
      if (run.on_host())
        run.stream().call(as_host_body(
            host_loop<Shape, Body, argument_type<I>...>{shape_, body, {{{argument<I>(run, 0, nullptr)}...}}}));
      else
        on_devices<Together>(run, body, all);
      run.finish();
    }
  }

  template <class Together, class Body, std::size_t... I>
  void on_devices(task_run& run, const Body& body, std::index_sequence<I...>) {
    const int n = run.places();
    // The whole is simpler than a part.
    const whole_type& whole = shape_;
    if (n == 1) return on_device<Together>(run, 0, whole, body, argument<I>(run, 0, nullptr)...);
    // With several places each gives results of its own.
    const std::size_t slot = target::reduce_slot_bytes * static_cast<std::size_t>(n);
    std::byte* results = reductions == 0 || n == 1 ? nullptr : run.temporary(0, reductions * slot);
    for (int place = 0; place < n; ++place)
      on_device<Together>(run, place, partitioner_.part(shape_, place, n), body, argument<I>(run, place, results)...);
    if (results == nullptr) return;
    run.gather();
    (combine<I>(run, results), ...);
  }

  template <class Together, class Part, class Body, class... Args>
  static void on_device(task_run& run, int place, const Part& part, const Body& body, const Args&... args) {
    launch_plan plan = for_plan(run.on(), run.pe(place), part.size());
    plan.blocks = std::min(plan.blocks, detail::most_blocks);
    // Of stf, or of the room that an argument is from.
    enqueue_for(task_stream<Together>(run, place), plan, part, body, args...);
  }

  template <std::size_t I>
  using dep = std::tuple_element_t<I, std::tuple<Deps...>>;

  // What the loop gets for dependency I.
  template <std::size_t I>
  auto argument(task_run& run, int place, std::byte* results) const {
    const auto& d = std::get<I>(deps_);
    if constexpr (!detail::is_reduction<dep<I>>) {
      return detail::view_on(d, run.memory(I, place), run.pe(place));
    } else {
      auto a = total<I>(run);
      if (!run.on_host())
        a.partials = run.scratch(place, reductions * detail::partials_bytes) + number<I> * detail::partials_bytes;
      if (results == nullptr) return a;
      a.keep = false;
      a.result = results_of<I>(run, results) + place;
      return a;
    }
  }
  template <std::size_t I>
  using argument_type =
      decltype(std::declval<const parallel_for_task&>().template argument<I>(std::declval<task_run&>(), 0, nullptr));

  template <std::size_t I>
  auto total(task_run& run) const {
    const auto& d = std::get<I>(deps_);
    accumulator<typename dep<I>::element_type, decltype(d.op)> a;
    a.op = d.op;
    a.keep = reads(d.access.mode);
    a.result = d.result(run.memory(I));
    return a;
  }

  // After the places: what they gave, in their order.
  template <std::size_t I>
  void combine(task_run& run, std::byte* results) const {
    if constexpr (detail::is_reduction<dep<I>>)
      enqueue_combine(task_stream(run, 0), total<I>(run), results_of<I>(run, results), run.places());
  }
  template <std::size_t I>
  static auto results_of(const task_run& run, std::byte* results) {
    const std::size_t slot = target::reduce_slot_bytes * static_cast<std::size_t>(run.places());
    return reinterpret_cast<typename dep<I>::element_type*>(results + number<I> * slot);
  }

  // Which of the reductions dependency I is.
  template <std::size_t I>
  static constexpr std::size_t number = [] {
    constexpr bool is[] = {detail::is_reduction<Deps>..., false};
    return static_cast<std::size_t>(std::count(is, is + I, true));
  }();

  using base::context_;
  using base::deps_;
  using base::what_;
  Partitioner partitioner_;
  Shape shape_;
};

}  // namespace starling::stf
