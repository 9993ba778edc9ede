// parts_loop: what context::parallel_for(where, parts, deps...) returns, with `parts` of split data. ->* takes the body
// and submits a loop for each part, as a task of its own, the parts one after the other in blocks to the places of
// `where`: a part's task waits for those tasks alone that use its data, and each place has the data of its parts.
//
//   auto u = ctx.split(x, n, halo{1}); auto v = ctx.split(y, n);
//   ctx.parallel_for(exec_place::all_devices(), u, u.with_halo(), v.write(), total.reduce(reducer::sum()))
//       ->*STARLING_KERNEL(part<1> p, index_t i, slice<const double> from, slice<double> to, double& sum) { ... };
//
// starling/stf/context.hpp includes this.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "starling/stf/context.hpp"

namespace starling::stf {

// What the body is told of the part that it is called for: its number, and which coordinates of the whole it has and
// sees. Views and indices of the loop count from 0 where those begin.
template <int Rank>
struct part {
  int number = 0;
  stf::box<Rank> box;
  stf::box<Rank> with_halo;

  // How many coordinates a view with a halo has before the part's first one.
  STARLING_HD index_t before(int dimension) const { return box.lower(dimension) - with_halo.lower(dimension); }
};

namespace detail {

// Throw argument_error.
void check_parts(int parts, std::size_t of_dependency);
void check_shared(const data_access& a);
// Where each of the parts is: a device, the host, or what the context chooses.
std::vector<exec_place> places_of_parts(const exec_place& where, int n_pes, int parts);

// What task `i` of `parts` gets for a dependency: its part, all of data that is read, or its share of a sum, which the
// first of them begins unless it goes on from the value.
template <class Dep>
auto of_part(const part_dependencies<Dep>& d, int i) {
  return d.each[static_cast<std::size_t>(i)];
}
template <class View, class Op>
auto of_part(const reduction<View, Op>& d, int i) {
  reduction<View, Op> mine = d;
  mine.starts_over = i == 0 && !reads(d.access.mode);
  mine.access = access_in_task(mine);
  return mine;
}
template <class Dep>
auto of_part(const Dep& d, int) {
  return d;
}

template <class Dep>
void check_dependency(const part_dependencies<Dep>& d, int parts) {
  check_parts(parts, d.each.size());
}
template <class View, class Op>
void check_dependency(const reduction<View, Op>&, int) {}
template <class Dep>
void check_dependency(const Dep& d, int) {
  if constexpr (requires { d.access; }) check_shared(d.access);
}

template <class Dep>
using dependency_of_part = decltype(of_part(std::declval<const Dep&>(), 0));

// The body of one part's loop.
template <class Body, int Rank>
struct body_in_part {
  Body body;
  stf::part<Rank> mine;
  template <class... Given>
  STARLING_HD void operator()(Given&&... given) const {
    body(mine, given...);
  }
};

}  // namespace detail

template <class View, class... Deps>
class parts_loop {
  static constexpr int rank = split_data<View>::n_dimensions;

 public:
  parts_loop(context ctx, exec_place where, const split_data<View>& over, Deps... deps)
      : context_(std::move(ctx)), where_(std::move(where)), over_(over), deps_(std::move(deps)...) {}

  // A name for errors, drawings and traces: 'name[i]' for part i.
  parts_loop&& set_symbol(std::string name) && {
    name_ = std::move(name);
    return std::move(*this);
  }
  // As that of other tasks.
  parts_loop&& set_priority(int priority) && {
    priority_ = priority;
    return std::move(*this);
  }

  // body(part, i, j, ..., data...), as of parallel_for over the shape of a part. Throws argument_error, and submits
  // nothing, for data in another number of parts and for data that is not in parts and would be written by each of
  // them. What a task throws leaves those of the parts before it submitted.
  template <class Body>
  void operator->*(const Body& body) && {
    if constexpr (check<Body>(std::make_index_sequence<rank>(), detail::shown_to_body_t<Deps...>())) submit(body);
  }

 private:
  template <class Body, std::size_t... D, std::size_t... I>
  static constexpr bool check(std::index_sequence<D...>, std::index_sequence<I...>) {
    using all = std::tuple<detail::dependency_of_part<Deps>...>;
    return check_callable<Body, part<rank>, decltype(index_t(D))...,
                          typename std::tuple_element_t<I, all>::view_type...>();
  }

  template <class Body>
  void submit(const Body& body) {
    const int n = over_.size();
    std::apply([&](const auto&... d) { (detail::check_dependency(d, n), ...); }, deps_);
    const std::vector<exec_place> places = detail::places_of_parts(where_, context_.on().size(), n);
    for (int i = 0; i < n; ++i) {
      const detail::body_in_part<Body, rank> mine{body, {i, over_.box(i), over_.box_with_halo(i)}};
      std::apply(
          [&](const auto&... d) {
            context_.parallel_for(places[static_cast<std::size_t>(i)], over_[i].shape(), detail::of_part(d, i)...)
                    .set_priority(priority_)
                    .set_symbol(name_.empty() ? name_ : name_ + "[" + std::to_string(i) + "]")
                    ->*mine;
          },
          deps_);
    }
  }

  context context_;
  exec_place where_;
  split_data<View> over_;
  std::tuple<Deps...> deps_;
  std::string name_;
  int priority_ = 0;
};

}  // namespace starling::stf
