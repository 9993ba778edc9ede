// parallel_for: what context::parallel_for returns. A task that is a loop: its body is called for every coordinate of a
// shape, by the threads of one device, of all devices of a grid, or by a thread of the host.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "starling/stf/host_loop.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_run.hpp"

namespace starling::stf {

namespace detail {

template <class Dep>
inline constexpr bool is_reduction = false;
template <class View, class Op>
inline constexpr bool is_reduction<reduction<View, Op>> = true;

// Scratch memory of a loop on one device: first what each place gives, then the partial values, reduction by reduction.
inline constexpr std::size_t results_slot = 32 * 64;
inline constexpr std::size_t most_reductions = 8;
inline constexpr int most_blocks = 4095;
inline constexpr std::size_t partials_slot = target::reduce_slot_bytes * (1 + std::size_t{most_blocks});

}  // namespace detail

template <class Partitioner, class Shape, class... Deps>
class parallel_for_task {
 public:
  static constexpr std::size_t reductions = (std::size_t{0} + ... + (detail::is_reduction<Deps> ? 1 : 0));
  static_assert(reductions <= detail::most_reductions, "a loop has at most 8 reductions");

  parallel_for_task(std::shared_ptr<context_state> context, Partitioner p, exec_place where, Shape shape, Deps... deps)
      : context_(std::move(context)), partitioner_(std::move(p)), shape_(std::move(shape)), deps_(std::move(deps)...) {
    what_.place = std::move(where);
    std::apply([this](const auto&... d) { (what_.accesses.push_back(d.access), ...); }, deps_);
  }

  // A name for errors, drawings, traces and measured times.
  parallel_for_task&& set_symbol(std::string name) && {
    what_.name = std::move(name);
    return std::move(*this);
  }

  // body(i, j, ..., data...): a number for every dimension of the shape, then a view of each dependency or T& for a
  // reduction. For devices it is a STARLING_HD lambda or function object.
  template <class Body>
  void operator->*(const Body& body) && {
    submit(body, std::index_sequence_for<Deps...>());
  }

 private:
  template <class Body, std::size_t... I>
  void submit(const Body& body, std::index_sequence<I...> all) {
    if constexpr (detail::check_body<Shape, Body, decltype(argument<I>(std::declval<task_run&>(), 0))...>()) {
      task_run run(context_, what_);
      if (run.on_host())
        run.stream().call(
            host_loop<Shape, Body, decltype(argument<I>(run, 0))...>{shape_, body, {{{argument<I>(run, 0)}...}}});
      else
        on_devices(run, body, all);
      run.finish();
    }
  }

  template <class Body, std::size_t... I>
  void on_devices(task_run& run, const Body& body, std::index_sequence<I...>) {
    const int n = run.places();
    using part_type = decltype(partitioner_.part(shape_, 0, 1));
    if constexpr (!std::is_same_v<part_type, Shape>) {
      // The whole is simpler than a part.
      if (n == 1) return on_device(run, 0, shape_, body, argument<I>(run, 0)...);
    }
    for (int place = 0; place < n; ++place)
      on_device(run, place, partitioner_.part(shape_, place, n), body, argument<I>(run, place)...);
    if (reductions == 0 || n == 1) return;
    run.gather();
    (combine<I>(run), ...);
  }

  template <class Part, class Body, class... Args>
  static void on_device(task_run& run, int place, const Part& part, const Body& body, const Args&... args) {
    launch_plan plan = for_plan(run.on(), run.pe(place), part.size());
    plan.blocks = std::min(plan.blocks, detail::most_blocks);
    enqueue_for(run.stream(place), plan, part, body, args...);
  }

  template <std::size_t I>
  auto argument(task_run& run, int place) const {
    const auto& d = std::get<I>(deps_);
    using dep = std::tuple_element_t<I, std::tuple<Deps...>>;
    if constexpr (!detail::is_reduction<dep>) {
      return d.view(run.memory(I));
    } else {
      accumulator<typename dep::element_type, decltype(d.op)> a;
      a.op = d.op;
      if (!run.on_host())
        a.partials =
            scratch(run, place) + detail::most_reductions * detail::results_slot + number<I> * detail::partials_slot;
      a.keep = run.places() == 1 && reads(d.access.mode);
      a.result = run.places() == 1 ? d.result(run.memory(I)) : results<I>(run) + place;
      return a;
    }
  }

  // After the places: what they gave, in their order.
  template <std::size_t I>
  void combine(task_run& run) const {
    using dep = std::tuple_element_t<I, std::tuple<Deps...>>;
    if constexpr (detail::is_reduction<dep>) {
      const auto& d = std::get<I>(deps_);
      accumulator<typename dep::element_type, decltype(d.op)> total;
      total.op = d.op;
      total.keep = reads(d.access.mode);
      total.result = d.result(run.memory(I));
      enqueue_combine(run.stream(0), total, results<I>(run), run.places());
    }
  }

  // Which of the reductions dependency I is.
  template <std::size_t I>
  static constexpr std::size_t number = [] {
    constexpr bool is[] = {detail::is_reduction<Deps>...};
    return static_cast<std::size_t>(std::count(is, is + I, true));
  }();
  template <std::size_t I>
  auto results(task_run& run) const {
    using T = typename std::tuple_element_t<I, std::tuple<Deps...>>::element_type;
    return reinterpret_cast<T*>(scratch(run, 0) + number<I> * detail::results_slot);
  }
  static std::byte* scratch(task_run& run, int place) {
    return run.scratch(place, detail::most_reductions * detail::results_slot + reductions * detail::partials_slot);
  }

  std::shared_ptr<context_state> context_;
  Partitioner partitioner_;
  Shape shape_;
  std::tuple<Deps...> deps_;
  task_description what_;
};

}  // namespace starling::stf
