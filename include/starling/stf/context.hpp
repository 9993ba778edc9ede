// context: where sequential task flow begins. The host describes tasks in program order by what they read and write;
// the context runs them on the devices of a machine in any order that gives the same values, and moves the data.
//
//   context ctx(machine::best());
//   auto x = ctx.logical_data(X);
//   ctx.task(x.rw())->*[](stream& s, slice<double> dx) { ... };      // puts work into s
//   ctx.finalize();                                                  // X has its new value
//
// Thread-safe: several threads may submit tasks; their order is that in which they come. Not after finalize.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "starling/machine/machine.hpp"
#include "starling/stf/context_options.hpp"
#include "starling/stf/dynamic_task.hpp"
#include "starling/stf/frozen.hpp"
#include "starling/stf/host_task.hpp"
#include "starling/stf/launch.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/parallel_for.hpp"
#include "starling/stf/partition_grid.hpp"
#include "starling/stf/per_stream.hpp"
#include "starling/stf/recorded_tasks.hpp"
#include "starling/stf/run_once.hpp"
#include "starling/stf/split_data.hpp"
#include "starling/stf/statistics.hpp"
#include "starling/stf/task.hpp"
#include "starling/stf/task_error.hpp"

namespace starling::stf {

class context_state;
template <class... Deps>
class conditional_loop;
template <class View, class... Deps>
class parts_loop;

namespace detail {

template <class Given>
constexpr void refuse_repeat() {
  static_assert(sizeof(Given) == 0,
                "context::repeat: the body is called once, and the tasks that it submits are done n times, so that it "
                "has no parameters: repeat(n, [&] { ... }). For a body that is called each time, with its number, "
                "write a loop of the host: for (index_t i = 0; i < n; ++i) { ... }");
}

}  // namespace detail

class context {
 public:
  explicit context(machine m = machine::best(), const context_options& options = {});

  // ---- data ----

  // Of memory of the user, which keeps it and its place for as long as the context may use it; it has its value again
  // after finalize, or after the last handle has gone and its tasks are over. Of const elements it can only be read.
  template <data_view View>
  stf::logical_data<View> logical_data(const View& v, const data_place& where = data_place::host(),
                                       call_site at = call_site::current()) {
    const auto shape = data_interface<View>::shape(v);
    data_description what = describe_data<View>(shape);
    what.original = data_interface<View>::parts(v);
    what.original_place = where;
    return {new_data(std::move(what), at), shape};
  }
  template <class T, std::size_t N>
  stf::logical_data<slice<T>> logical_data(T (&array)[N], call_site at = call_site::current()) {
    return logical_data(slice<T>(array, static_cast<index_t>(N)), data_place::host(), at);
  }
  template <class T>
  stf::logical_data<slice<T>> logical_data(std::vector<T>& values, call_site at = call_site::current()) {
    return logical_data(slice<T>(values.data(), static_cast<index_t>(values.size())), data_place::host(), at);
  }
  template <class T>
  stf::logical_data<slice<const T>> logical_data(const std::vector<T>& values, call_site at = call_site::current()) {
    return logical_data(slice<const T>(values.data(), static_cast<index_t>(values.size())), data_place::host(), at);
  }
  template <class T>
  void logical_data(const std::vector<T>&& values) = delete;  // its memory goes before the tasks come
  // n elements from `start` on.
  template <class T>
  stf::logical_data<slice<T>> logical_data(T* start, index_t n, const data_place& where = data_place::host(),
                                           call_site at = call_site::current()) {
    expect<argument_error>(n >= 0, "context::logical_data: ", n, " elements; must be at least 0");
    expect<argument_error>(start != nullptr || n == 0, "context::logical_data: a null pointer to ", n, " elements");
    return logical_data(slice<T>(start, n), where, at);
  }
  // A part of a larger array, whose elements are apart along any of its dimensions: tasks get it in one piece. Copies
  // are quick where the last dimension is contiguous.
  template <class T, std::size_t... E>
    requires(sizeof...(E) > 0)
  stf::logical_data<slice<T, static_cast<int>(sizeof...(E))>> logical_data(
      const cuda::std::mdspan<T, cuda::std::extents<index_t, E...>, cuda::std::layout_stride>& v,
      const data_place& where = data_place::host(), call_site at = call_site::current());
  // Without a value, until a task writes it.
  template <class View>
  stf::logical_data<View> logical_data(const shape_of<View>& shape, call_site at = call_site::current()) {
    return {new_data(describe_data<View>(shape), at), shape};
  }
  template <data_view View>
  stf::logical_data<View> logical_data_of(const typename data_interface<View>::shape_type& shape,
                                          call_site at = call_site::current()) {
    return {new_data(describe_data<View>(shape), at), shape};
  }
  stf::token token(call_site at = call_site::current()) { return {new_data({}, at), {}}; }

  // ---- tasks ----

  template <task_dependency... Deps>
  auto task(const exec_place& where, Deps... deps) {
    return stf::task<Deps...>(state_, where, bound(std::move(deps))...);
  }
  template <task_dependency... Deps>
  auto task(Deps... deps) {
    return task(exec_place(), std::move(deps)...);
  }
  // Its dependencies are added one by one, and it may be begun and ended by hand; see starling/stf/dynamic_task.hpp.
  dynamic_task task(const exec_place& where = exec_place()) { return {*this, where}; }
  // body(i, j, ..., data...) for every coordinate of a shape (starling/stf/shape.hpp), in any order. On a grid of
  // devices the partitioner says which device has which coordinates; without one they have contiguous blocks of the
  // slowest dimension.
  template <class Partitioner, shape_like Shape, class... Deps>
    requires partitioner_of<Partitioner, Shape>
  auto parallel_for(Partitioner p, const exec_place& where, const Shape& shape, Deps... deps) {
    return parallel_for_task<Partitioner, Shape, Deps...>(state_, std::move(p), where, shape,
                                                          bound(std::move(deps))...);
  }
  template <shape_like Shape, class... Deps>
  auto parallel_for(const exec_place& where, const Shape& shape, Deps... deps) {
    return parallel_for(blocked(), where, shape, std::move(deps)...);
  }
  template <shape_like Shape, class... Deps>
  auto parallel_for(const Shape& shape, Deps... deps) {
    return parallel_for(blocked(), exec_place(), shape, std::move(deps)...);
  }

  // A loop for each part of split data, as tasks of their own that the places of a grid share: body(part, i, j, ...,
  // data...) for the coordinates of each part. `deps`: what split data gives for all of its parts, data that all of
  // them read, and reductions over all of them; see starling/stf/parts_loop.hpp.
  template <class View, class... Deps>
  parts_loop<View, Deps...> parallel_for(const exec_place& where, const split_data<View>& over, Deps... deps) {
    return {*this, where, over, std::move(deps)...};
  }

  // body(th, views...) by every thread of the hierarchy that `spec` describes (starling/stf/hierarchy_spec.hpp).
  template <class... Levels, class... Deps>
  auto launch(const hierarchy_spec<Levels...>& spec, const exec_place& where, Deps... deps) {
    return launch_task<hierarchy_spec<Levels...>, Deps...>(state_, spec, where, bound(std::move(deps))...);
  }
  template <class... Levels, task_dependency... Deps>
  auto launch(const hierarchy_spec<Levels...>& spec, Deps... deps) {
    return launch(spec, exec_place(), std::move(deps)...);
  }
  // By default_spec: th is a default_hierarchy.
  template <class... Deps>
  auto launch(const exec_place& where, Deps... deps) {
    return launch(default_spec, where, std::move(deps)...);
  }
  template <task_dependency... Deps>
  auto launch(Deps... deps) {
    return launch(default_spec, exec_place(), std::move(deps)...);
  }

  // body(views...) runs on a thread of the host, when its data is there.
  template <task_dependency... Deps>
  auto host_launch(Deps... deps) {
    return host_task<decltype(on_host(std::move(deps)))...>(state_, on_host(std::move(deps))...);
  }

  // ->*f calls f(args...), or gives what it gave for the same arguments; see starling/stf/run_once.hpp.
  template <class... Args>
  auto run_once(Args... args) {
    return stf::run_once<Args...>(state_, kept_results(), std::move(args)...);
  }

  // ---- things of the user that live as long as a stream of tasks ----

  // make(stream&) for each stream that tasks on devices get, up to tasks of that priority; see
  // starling/stf/per_stream.hpp. It is called here and now, a few times for each device; what it puts into the stream
  // is over when this returns. It must not hold a handle of the context. Ends an epoch. Throws what `make` throws,
  // argument_error within tasks and recordings and after finalize, range_error for a priority that there is not.
  template <class Make>
    requires(!std::is_void_v<std::invoke_result_t<Make&, stream&>>)
  auto per_stream(Make make, int priority = 0) {
    using thing = std::invoke_result_t<Make&, stream&>;
    return stf::per_stream<thing>(made_per_stream(
        priority, [&make](stream& s) { return std::shared_ptr<void>(std::shared_ptr<thing>(new thing(make(s)))); }));
  }

  // ---- parts of data ----

  // `count` parts of x, by default blocks of the slowest dimension; a partitioner is one whose parts of a box are
  // boxes, as blocked{dimension}. The whole lies at `where` meanwhile; affine: where its value is. Without a value,
  // every part or none has to be written before join. See starling/stf/split_data.hpp.
  template <class View, class Partitioner = blocked>
  split_data<View> split(const stf::logical_data<View>& x, index_t count, const Partitioner& p = {},
                         const data_place& where = data_place::affine()) {
    return {state_, x, where, detail::parts_of<View>(x.shape(), count, p), halo{0}};
  }
  // With rows of the neighbours, which split_data::with_halo shows.
  template <class View>
  split_data<View> split(const stf::logical_data<View>& x, index_t count, halo h,
                         const data_place& where = data_place::affine()) {
    detail::check_halo(h);
    return {state_, x, where, detail::parts_of<View>(x.shape(), count, blocked()), h};
  }
  // A grid of tiles, numbered row by row: how many along each dimension.
  template <class View, int Rank>
  split_data<View> split(const stf::logical_data<View>& x, const int (&counts)[Rank],
                         const data_place& where = data_place::affine()) {
    static_assert(Rank == static_cast<int>(View::rank()), "context::split: a count of tiles for each dimension");
    return {state_, x, where, detail::tiles_of(box<Rank>(x.shape()), counts), halo{0}};
  }
  // The whole is one again, with what the parts have become; the parts cannot be used any more.
  template <class View>
  void join(const split_data<View>& parts) {
    join(parts.handle());
  }
  void join(const detail::split_handle& parts);

  // ---- data outside of tasks ----

  // Starts to bring the value of `d` to a place, or with data_place::replicated() to all devices, for tasks that come
  // later. Does not wait.
  template <class View>
  void prefetch(const stf::logical_data<View>& d, const data_place& where) {
    bring(d.state(), where);
  }
  // For work of the user in streams of its own: freeze(x.read(place)) or x.rw, x.write; see starling/stf/frozen.hpp.
  // Does not wait. Throws what a task would that uses the data like this.
  template <class View, class Given>
  frozen_logical_data<View, Given> freeze(dependency<View, Given> use) {
    return {state_, std::move(use)};
  }

  // ---- tasks that come again ----

  // Records the tasks that the body submits instead of doing them; they can be done many times, without their bodies
  // being called again, on the instances of data that they have now. The body is called once, on this thread; other
  // threads that submit wait until it is over. What the tasks read from before is brought to them at each launch;
  // memory that they use is theirs until the last handle to the recording has gone, and memory of the user as long.
  // Ends an epoch. Throws what the body throws, task_error for a task that threw, argument_error for tasks that cannot
  // be repeated and within tasks; then all data is as before. Within the body there may be loops, branches, recordings
  // and launches of these, which become part of what is recorded: graphs that the host launches in turn.
  recorded_tasks record(const std::function<void()>& body);
  // Does the tasks of the body n times; the body is called once, or as often as there are buffers where it updates a
  // region whose agent is the copy engine. Within record it is called n times instead.
  void repeat(std::uint64_t n, const std::function<void()>& body);
  // The loops of other systems, whose bodies are called each time: do not compile.
  template <class Body>
    requires(!std::is_convertible_v<Body, std::function<void()>>)
  void repeat(std::uint64_t, Body&&) {
    detail::refuse_repeat<Body>();
  }
  template <class Count>
  void repeat(Count&&) {
    detail::refuse_repeat<Count>();
  }
  // Does the tasks of the body, one of which writes the flag, and again while the flag is not 0: at most so many times,
  // after which the flag tells whether it would have gone on. Where the device can look at the flag itself the host
  // does not wait.
  template <class T>
    requires(std::is_integral_v<T>)
  void repeat_while(const stf::logical_data<scalar_view<T>>& flag, const std::function<void()>& body,
                    std::uint64_t most) {
    repeat_while(flag.state(), body, most);
  }
  // The same with a kernel for a condition, ->*STARLING_KERNEL(views...) { return bool; }, which one thread of `where`
  // asks after each round; see starling/stf/conditional_loop.hpp.
  template <task_dependency... Deps>
  conditional_loop<Deps...> repeat_while(const exec_place& where, std::uint64_t most, std::function<void()> body,
                                         Deps... deps) {
    return {*this, where, most, std::move(body), std::move(deps)...};
  }
  template <task_dependency... Deps>
  conditional_loop<Deps...> repeat_while(std::uint64_t most, std::function<void()> body, Deps... deps) {
    return {*this, exec_place(), most, std::move(body), std::move(deps)...};
  }
  // Does the tasks of the body if the flag is not 0 when tasks so far are over, and otherwise those of the other body,
  // if there is one. Both are called once, whatever the flag says. The host looks, and waits for that.
  template <class T>
    requires(std::is_integral_v<T>)
  void run_if(const stf::logical_data<scalar_view<T>>& flag, const std::function<void()>& body,
              const std::function<void()>& otherwise = nullptr) {
    run_if(flag.state(), body, otherwise);
  }

  // ---- order ----

  // Ends an epoch, without waiting: a graph context starts the graph of its tasks.
  void fence();
  // fence, and an event that is reached when all tasks so far are over: a stream of the user may wait for it
  // (stream::wait), and so may the host, where failures are said by synchronize alone. In a context within a user's
  // stream an argument_error: that stream comes after finalize.
  event fence_event();
  // Until all tasks so far are over. Throws what failed in them.
  void synchronize();
  // The value of `d` on the host, once it is there: a scalar itself, of other data a view, which is valid until a task
  // changes it.
  template <class View>
  auto wait(const stf::logical_data<View>& d) {
    const auto shown = d.read().view(wait_for(d.state()));
    if constexpr (is_scalar<View>)
      return std::remove_const_t<typename View::element_type>(element_of(shown));
    else
      return shown;
  }
  // For debugging: a number made of the bytes of the value, one instance in one piece, by FNV-1a with 64 bits. Equal
  // values have equal numbers in all runs, on all machines and back ends; -0.0 and 0.0 are different bytes, and so may
  // be what lies between the members of a struct. Waits as wait does.
  template <class View>
  std::uint64_t hash(const stf::logical_data<View>& d) {
    return hash_of(d.state());
  }
  std::uint64_t hash(const stf::token&) = delete;  // which has no value
  // Ends the context: all tasks are over, and the user's memory has its values. Throws what failed; again: nothing.
  void finalize();

  // ---- what it does ----

  const machine& on() const;
  // The devices of a place, each as a place of its own: for (const exec_place& p : ctx.places()) ... Of the host, the
  // host. Throws range_error for a device that there is not, argument_error for automatic().
  std::vector<exec_place> places(const exec_place& of = exec_place::all_devices()) const;
  stf::statistics statistics() const;
  // How it has chosen places so far, and from which measurements.
  std::string explain() const;
  // The tasks so far and their order; with context_options::drawing.
  std::string dot() const;
  std::string mermaid() const;

  const std::shared_ptr<context_state>& state() const { return state_; }

  // ---- for what is used by tasks and is no logical data ----

  // The token that stands for it in this context, the same for each call. `version`: another one than the last time
  // means that it has a new value, whatever became of tasks so far.
  stf::token token_of(const void* what, std::uint64_t version, const std::string& name);

 protected:
  context(machine m, const context_options& options, const stream& user);

 private:
  // A dependency, once it knows the context: those on logical data do.
  template <class Dep>
  Dep bound(Dep d) {
    if constexpr (requires { d.bind(*this); }) d.bind(*this);
    return d;
  }
  // What a task of the host gets for a dependency.
  template <class Dep>
  auto on_host(Dep d) {
    if constexpr (requires { d.copied_to_host(*this); })
      return d.copied_to_host(*this);
    else
      return d;
  }
  std::shared_ptr<data_state> new_data(data_description what, call_site at);
  std::byte* wait_for(const std::shared_ptr<data_state>& d);
  void bring(const std::shared_ptr<data_state>& d, const data_place& where);
  std::uint64_t hash_of(const std::shared_ptr<data_state>& d);

  void repeat_while(const std::shared_ptr<data_state>& flag, const std::function<void()>& body, std::uint64_t most);
  void run_if(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
              const std::function<void()>& otherwise);

  std::shared_ptr<const detail::per_stream_things> made_per_stream(
      int priority, const std::function<std::shared_ptr<void>(stream&)>& make);
  std::shared_ptr<detail::memo_store> kept_results() const;

  std::shared_ptr<context_state> state_;
  // Logical data of all copies of this handle: the state would keep itself.
  struct kept_data;
  std::shared_ptr<kept_data> kept_;
};

}  // namespace starling::stf

#include "starling/stf/conditional_loop.hpp"
#include "starling/stf/context_kinds.hpp"
#include "starling/stf/parts_loop.hpp"
#include "starling/stf/strided_data.hpp"
