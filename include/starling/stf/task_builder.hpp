// task_builder: what tasks of all kinds have in common before they are submitted: context, place, dependencies, name.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "starling/stf/detail/task_reduction.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_run.hpp"
#include "starling/stf/token.hpp"

namespace starling::stf {

namespace detail {

// What the body of a task gets for a dependency.
template <class Dep>
struct view_in_task {
  using type = typename Dep::view_type;
};
template <class View, class Op>
struct view_in_task<reduction<View, Op>> {
  using type = View;
};
template <class Dep>
using view_in_task_t = typename view_in_task<Dep>::type;

// What the task's work on device `pe` gets: a view of the instance that the task uses; or, of what has a copy on every
// device, that device's.
template <class Dep>
auto view_on(const Dep& d, std::byte* start, int pe) {
  if constexpr (requires { d.view_on(pe); })
    return d.view_on(pe);
  else
    return d.view(start);
}

// The access of a task to it.
template <class Dep>
data_access access_in_task(const Dep& d) {
  return d.access;
}
template <class View, class Op>
data_access access_in_task(const reduction<View, Op>& d) {
  data_access a = d.access;
  a.mode = d.starts_over ? access_mode::write : access_mode::rw;
  a.reduces = std::make_shared<typed_reduction<typename View::element_type, Op>>(d.op);
  return a;
}

}  // namespace detail

// Mixin: Self is the kind of task.
template <class Self, class... Deps>
class task_builder {
 public:
  // A name for errors, drawings and traces.
  Self&& set_symbol(std::string name) && {
    what_.name = std::move(name);
    return static_cast<Self&&>(*this);
  }
  // From 0, that of other tasks, to highest_priority: of tasks that are ready, GPUs start those of a higher one first.
  // It changes no value. The submission throws range_error for others.
  Self&& set_priority(int priority) && {
    what_.priority = priority;
    return static_cast<Self&&>(*this);
  }

 protected:
  template <std::size_t I>
  using view_type = detail::view_in_task_t<std::tuple_element_t<I, std::tuple<Deps...>>>;

  task_builder(std::shared_ptr<context_state> context, exec_place place, Deps... deps)
      : context_(std::move(context)), deps_(std::move(deps)...) {
    what_.place = std::move(place);
    what_.accesses.reserve(sizeof...(Deps));
    std::apply([this](const auto&... d) { (what_.accesses.push_back(d.access), ...); }, deps_);
  }

  // Reductions are those of a task: an instance of its own for each.
  void reduce_as_task() {
    if constexpr (!(detail::is_reduction<Deps> || ...)) return;
    what_.accesses.clear();
    std::apply([this](const auto&... d) { (what_.accesses.push_back(detail::access_in_task(d)), ...); }, deps_);
  }

  std::shared_ptr<context_state> context_;
  std::tuple<Deps...> deps_;
  task_description what_;
};

}  // namespace starling::stf
