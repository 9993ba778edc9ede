// task_builder: what tasks of all kinds have in common before they are submitted: context, place, dependencies, name.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "starling/stf/task_run.hpp"

namespace starling::stf {

// Mixin: Self is the kind of task.
template <class Self, class... Deps>
class task_builder {
 public:
  // A name for errors, drawings and traces.
  Self&& set_symbol(std::string name) && {
    what_.name = std::move(name);
    return static_cast<Self&&>(*this);
  }

 protected:
  task_builder(std::shared_ptr<context_state> context, exec_place place, Deps... deps)
      : context_(std::move(context)), deps_(std::move(deps)...) {
    what_.place = std::move(place);
    std::apply([this](const auto&... d) { (what_.accesses.push_back(d.access), ...); }, deps_);
  }

  std::shared_ptr<context_state> context_;
  std::tuple<Deps...> deps_;
  task_description what_;
};

}  // namespace starling::stf
