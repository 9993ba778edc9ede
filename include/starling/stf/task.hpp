// task: what context::task returns. `->*` submits it: the body runs at once, on the calling thread, and puts work into
// the stream it is given; that work starts when the task's dependencies allow.
#pragma once

#include <tuple>
#include <utility>

#include "starling/stf/detail/invocable_check.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_builder.hpp"

namespace starling::stf {

template <class... Deps>
class task : public task_builder<task<Deps...>, Deps...> {
  using base = task_builder<task<Deps...>, Deps...>;

 public:
  task(std::shared_ptr<context_state> context, exec_place place, Deps... deps)
      : base(std::move(context), std::move(place), std::move(deps)...) {
    base::reduce_as_task();
  }

  // body(stream&, views...): its work goes into the stream. body(task_run&, views...): into the streams of all places
  // of a grid. When the body throws, the task has failed: what it should have written has no value until another task
  // writes it, and the exception goes on to the caller.
  template <class F>
  void operator->*(F&& body) && {
    what_.kind = kind_of_body<std::decay_t<F>>;
    task_run run(context_, what_);
    call(std::forward<F>(body), run, detail::shown_to_body_t<Deps...>());
    run.finish();
  }

 private:
  template <class F, std::size_t... I>
  void call(F&& body, task_run& run, std::index_sequence<I...>) {
    if constexpr (!std::is_invocable_v<F, stream&, typename base::template view_type<I>...> &&
                  std::is_invocable_v<F, task_run&, typename base::template view_type<I>...>) {
      std::forward<F>(body)(run, detail::view_on(std::get<I>(deps_), run.memory(I), run.pe())...);
    } else {
      check_callable<F, stream&, typename base::template view_type<I>...>();
      std::forward<F>(body)(run.stream(), detail::view_on(std::get<I>(deps_), run.memory(I), run.pe())...);
    }
  }

  using base::context_;
  using base::deps_;
  using base::what_;
};

}  // namespace starling::stf
