// launch: what context::launch returns. A task whose body is run by every thread of a hierarchy (thread_hierarchy.hpp),
// on one device or spread over a grid of them without a change of the body.
#pragma once

#include <tuple>
#include <utility>

#include "starling/stf/launch_kernel.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_run.hpp"

namespace starling::stf {

namespace detail {

[[noreturn]] void refuse_launch_on_host();

}  // namespace detail

template <class Spec, class... Deps>
class launch_task {
 public:
  launch_task(std::shared_ptr<context_state> context, Spec spec, exec_place where, Deps... deps)
      : context_(std::move(context)), spec_(std::move(spec)), deps_(std::move(deps)...) {
    what_.place = std::move(where);
    std::apply([this](const auto&... d) { (what_.accesses.push_back(d.access), ...); }, deps_);
  }

  // A name for errors, drawings and traces.
  launch_task&& set_symbol(std::string name) && {
    what_.name = std::move(name);
    return std::move(*this);
  }

  // body(th, views...), a STARLING_HD lambda or function object; th is a thread_hierarchy<Spec>.
  template <class Body>
  void operator->*(const Body& body) && {
    submit(body, std::index_sequence_for<Deps...>());
  }

 private:
  template <class Body, std::size_t... I>
  void submit(const Body& body, std::index_sequence<I...>) {
    if (what_.place.is_host()) detail::refuse_launch_on_host();
    task_run run(context_, what_);
    const auto views = std::make_tuple(std::get<I>(deps_).view(run.memory(I))...);
    for (int place = 0; place < run.places(); ++place) {
      hierarchy_map map = plan_launch(run.on(), spec_, place, run.places(), body, std::get<I>(views)...);
      if (map.device_scratch_bytes > 0) map.device_scratch = run.temporary(place, map.device_scratch_bytes);
      enqueue_launch(run.stream(place), map, spec_, body, std::get<I>(views)...);
    }
    run.finish();
  }

  std::shared_ptr<context_state> context_;
  Spec spec_;
  std::tuple<Deps...> deps_;
  task_description what_;
};

}  // namespace starling::stf
