// launch: what context::launch returns. A task whose body is run by every thread of a hierarchy (thread_hierarchy.hpp),
// on one device or spread over a grid of them without a change of the body.
#pragma once

#include <tuple>
#include <utility>

#include "starling/stf/detail/launch_kernel.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_builder.hpp"

namespace starling::stf {

namespace detail {

[[noreturn]] void refuse_launch_on_host();
// Throws task_error for a launch that cannot be an operation of a persistent program.
void check_operation(const task_run& run, const hierarchy_map& map);

}  // namespace detail

template <class Spec, class... Deps>
class launch_task : public task_builder<launch_task<Spec, Deps...>, Deps...> {
  using base = task_builder<launch_task<Spec, Deps...>, Deps...>;

 public:
  launch_task(std::shared_ptr<context_state> context, Spec spec, exec_place where, Deps... deps)
      : base(std::move(context), std::move(where), std::move(deps)...), spec_(std::move(spec)) {
    base::reduce_as_task();
  }

  // body(th, views...), a STARLING_HD lambda or function object; th is a thread_hierarchy<Spec>.
  template <class Body>
  void operator->*(const Body& body) && {
    submit(body, detail::shown_to_body_t<Deps...>());
  }

 private:
  template <class Body, std::size_t... I>
  void submit(const Body& body, std::index_sequence<I...>) {
    if (what_.place.is_host()) detail::refuse_launch_on_host();
    (check_launch(std::get<I>(deps_)), ...);
    what_.kind = kind_of_body<Body>;
    what_.as_operations = true;
    task_run run(context_, what_);
    for (int place = 0; place < run.places(); ++place)
      on_device(run, place, body, detail::view_on(std::get<I>(deps_), run.memory(I, place), run.pe(place))...);
    run.finish();
  }

  // Some dependencies say which launches can have them.
  template <class Dep>
  void check_launch(const Dep& d) const {
    if constexpr (requires { d.check_launch(spec_, what_.place, deps_); }) d.check_launch(spec_, what_.place, deps_);
  }

  template <class Body, class... Views>
  void on_device(task_run& run, int place, const Body& body, const Views&... views) {
    // Both of stf, or of the room that an argument is from.
    hierarchy_map map = plan_launch(run.on(), spec_, place, run.places(), body, views...);
    if (map.device_scratch_bytes > 0) map.device_scratch = run.temporary(place, map.device_scratch_bytes);
    if (run.noted()) detail::check_operation(run, map);
    enqueue_launch(task_stream(run, place), map, spec_, body, views...);
  }

  using base::context_;
  using base::deps_;
  using base::what_;
  Spec spec_;
};

}  // namespace starling::stf
