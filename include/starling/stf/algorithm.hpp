// algorithm: a sequence of tasks that is one task of another context: recorded once as a graph, and launched again
// whenever it is run on data that lies where it lay before.
//
//   stf::algorithm sort(ctx, "sort");
//   sort.run(stf::exec_place::device(1), [](stf::context& inner, const stf::exec_place& here,
//                                           stf::logical_data<slice<double>> x) {
//     inner.parallel_for(here, x.shape(), x.rw())->*...;                    // tasks of the inner context
//   }, x.rw());
//
// The inner context is one within a stream of the user; its logical data are the instances that the task of the outer
// context has, so that what the task may only read has const elements there. A body may make data of its own, whose
// memory belongs to the graph. It is called when there is no graph for the task's memory and shapes yet: what it
// captures is as it was then. Where the outer context records itself (a graph context, record, repeat) the body is
// called each time, and its tasks become part of that recording.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <typeindex>
#include <utility>
#include <vector>

#include "starling/stf/context.hpp"

namespace starling::stf {

namespace detail {

// What one use of an algorithm depends on.
struct algorithm_use {
  int pe;
  std::vector<const std::byte*> memory;  // of the instances
  // The shapes of the data, as another use compares them; never equal where shapes cannot be compared.
  std::shared_ptr<const void> shapes;
  bool (*same_shapes)(const void*, const void*);

  bool same(const algorithm_use& other) const {
    return pe == other.pe && memory == other.memory && same_shapes(shapes.get(), other.shapes.get());
  }
};

template <class Shapes>
bool same_shapes(const void* a, const void* b) {
  if constexpr (requires(const Shapes& s) { s == s; })
    return *static_cast<const Shapes*>(a) == *static_cast<const Shapes*>(b);
  else
    return false;
}

// Accesses without a token, which inner tasks cannot use.
template <class Dep>
inline constexpr bool is_plain_access = false;
template <class View, class Given>
inline constexpr bool is_plain_access<dependency<View, Given>> = !is_token<dependency<View, Given>>;

}  // namespace detail

class algorithm {
 public:
  // Of tasks of `ctx`; `name`, if there is one, is that of each of them.
  explicit algorithm(const context& ctx, std::string name = {});

  // Submits the task. body(context& inner, const exec_place& here, logical_data<View>...): `here` is the task's device.
  // An algorithm has one body, or bodies of one type: argument_error for another type, and for a place of several
  // devices or the host. Throws what the body throws; the task has failed then.
  template <class Body, class... Deps>
  void run(const exec_place& where, const Body& body, Deps... deps) {
    static_assert((detail::is_plain_access<Deps> && ...),
                  "algorithm::run takes what read(), write() and rw() of logical data give, of no tokens");
    expect_use(where, typeid(Body));
    using shapes_type = std::tuple<decltype(deps.shape)...>;
    const auto shapes = std::make_shared<const shapes_type>(deps.shape...);
    ctx_.task(where, deps...).set_symbol(name_)->*[&](stream& s, const auto&... views) {
      const exec_place here = exec_place::device(s.pe());
      const auto tasks = [&](const stream& within) {
        stream_ctx inner(ctx_.on(), within);
        const auto place = data_place::device(s.pe());
        body(inner, here, inner.logical_data(views, place)...);
        inner.finalize();
      };
      detail::algorithm_use use{s.pe(), {starts_at(views)...}, shapes, &detail::same_shapes<shapes_type>};
      do_tasks(s, std::move(use), tasks);
    };
  }

  // How many graphs there are; the last 16 that were used are kept.
  std::size_t graphs() const;

 private:
  struct kept;

  template <class View>
  static const std::byte* starts_at(const View& v) {
    const auto parts = data_interface<View>::parts(v);
    return parts.empty() ? nullptr : parts.front().start;
  }
  void expect_use(const exec_place& where, std::type_index body);
  void do_tasks(stream& s, detail::algorithm_use use, const std::function<void(const stream&)>& tasks);

  context ctx_;
  std::string name_;
  std::shared_ptr<kept> kept_;  // of all copies
};

}  // namespace starling::stf
