// host_task: what context::host_launch returns. Its body runs on a thread of the host, in the order of its
// dependencies, while the submitting thread goes on.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "starling/stf/detail/host_body.hpp"
#include "starling/stf/detail/invocable_check.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_builder.hpp"

namespace starling::stf {

template <class... Deps>
class host_task : public task_builder<host_task<Deps...>, Deps...> {
  using base = task_builder<host_task<Deps...>, Deps...>;

 public:
  explicit host_task(std::shared_ptr<context_state> context, Deps... deps)
      : base(std::move(context), exec_place::host(), std::move(deps)...) {
    base::reduce_as_task();
  }

  // Keeps a copy of the body. What it throws comes out of the next synchronize() or finalize().
  template <class F>
  void operator->*(F&& body) && {
    submit(std::forward<F>(body), detail::shown_to_body_t<Deps...>());
  }

 private:
  template <class F, std::size_t... I>
  void submit(F&& body, std::index_sequence<I...>) {
    check_callable<F, typename base::template view_type<I>...>();
    expect_data_on_host(what_);
    what_.kind = kind_of_body<std::decay_t<F>>;
    task_run run(context_, what_);
    run.stream().call(as_host_body(
        [body = std::decay_t<F>(std::forward<F>(body)),
         views = std::make_tuple(std::get<I>(deps_).view(run.memory(I))...)]() mutable { std::apply(body, views); }));
    run.finish();
  }

  using base::context_;
  using base::deps_;
  using base::what_;
};

}  // namespace starling::stf
