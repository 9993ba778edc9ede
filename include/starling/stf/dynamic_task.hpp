// dynamic_task: what context::task() returns without dependencies: a task that is given them one by one, so that their
// number is known at run time alone. Its work comes from a body, or between begin() and end(), by hand:
//
//   auto t = ctx.task();
//   for (auto& part : parts) t.add(part.read());
//   t.add(sum.rw());
//   t->*[&](stream& s, const dynamic_task& t) { ... t.get<slice<const double>>(i) ... };
//
// For one thread. A task that was begun and dies before end() has failed: what it should have written has no value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "starling/stf/detail/invocable_check.hpp"
#include "starling/stf/logical_data.hpp"
#include "starling/stf/task_builder.hpp"

namespace starling::stf {

class context;

namespace detail {

// A dependency whose type only its maker knows.
class any_dependency {
 public:
  virtual ~any_dependency() = default;
  virtual data_access access() const = 0;
  // The view of an instance that begins at `start`, into an optional<T> of the type T that is wanted. False: the
  // dependency gives views of another type.
  virtual bool view(const std::type_info& wanted, std::byte* start, int pe, void* into) const = 0;
  virtual const std::type_info& given() const = 0;
};

template <class Dep>
class typed_dependency final : public any_dependency {
  using view_type = view_in_task_t<Dep>;

 public:
  explicit typed_dependency(Dep d) : dep_(std::move(d)) {}

  data_access access() const override { return access_in_task(dep_); }
  bool view(const std::type_info& wanted, std::byte* start, int pe, void* into) const override {
    if (wanted == typeid(view_type)) return give<view_type>(start, pe, into);
    // Who may write may also take what it has for reading.
    if constexpr (requires { typename data_interface<view_type>::read_type; }) {
      using read_type = typename data_interface<view_type>::read_type;
      if (wanted == typeid(read_type)) return give<read_type>(start, pe, into);
    }
    return false;
  }
  const std::type_info& given() const override { return typeid(view_type); }

 private:
  template <class View>
  bool give(std::byte* start, int pe, void* into) const {
    static_cast<std::optional<View>*>(into)->emplace(view_on(dep_, start, pe));
    return true;
  }

  Dep dep_;
};

}  // namespace detail

class dynamic_task {
 public:
  dynamic_task(const context& c, exec_place where);
  dynamic_task(dynamic_task&&) noexcept = default;
  dynamic_task& operator=(dynamic_task&&) noexcept = default;

  // One more dependency; they are numbered from 0. Throws argument_error when the task was begun already.
  template <class Dep>
  dynamic_task& add(Dep dep) & {
    expect_not_begun("add");
    if constexpr (requires { dep.bind(*context_); }) dep.bind(*context_);
    deps_.push_back(std::make_unique<detail::typed_dependency<Dep>>(std::move(dep)));
    return *this;
  }
  template <class Dep>
  dynamic_task&& add(Dep dep) && {
    add(std::move(dep));
    return std::move(*this);
  }
  // How many there are.
  std::size_t size() const { return deps_.size(); }

  // A name for errors, drawings and traces.
  dynamic_task& set_symbol(std::string name) &;
  dynamic_task&& set_symbol(std::string name) && { return std::move(set_symbol(std::move(name))); }
  // As that of other tasks.
  dynamic_task& set_priority(int priority) &;
  dynamic_task&& set_priority(int priority) && { return std::move(set_priority(priority)); }

  // Submits the task, as `->*` of other tasks does: body(stream&), body(stream&, const dynamic_task&), or
  // body(task_run&, const dynamic_task&) with the streams of all places of a grid.
  template <class F>
  void operator->*(F&& body) {
    what_.kind = kind_of_body<std::decay_t<F>>;
    begin();
    struct failing {
      dynamic_task& of;
      ~failing() { of.open_.reset(); }
    } unless_ended{*this};
    const dynamic_task& t = *this;
    if constexpr (std::is_invocable_v<F, stf::task_run&, const dynamic_task&>) {
      std::forward<F>(body)(open_->run, t);
    } else if constexpr (std::is_invocable_v<F, starling::stream&>) {
      std::forward<F>(body)(stream());
    } else {
      check_callable<F, starling::stream&, const dynamic_task&>();
      std::forward<F>(body)(stream(), t);
    }
    end();
  }

  // ---- by hand ----

  // The data is on its way: from here to end() work goes into stream(). Other calls of the context are as within the
  // body of a task. Throws what a task's submission throws, and can be called again then.
  void begin();
  // The work goes into a stream of the user instead, of the task's device: it waits for the data, and the task is over
  // when all that the stream has by end() is. Throws range_error for a stream of another device, argument_error for a
  // task that has no device of its own: several, the host, or one that the context chooses.
  void begin(const starling::stream& user);
  starling::stream& stream(int place = 0) const;
  // All work is in the stream. On the thread that called begin(): argument_error otherwise, and the task goes on.
  void end();
  // The same, but the task has failed: what it should have written has no value until another task writes it.
  void fail();

  // ---- within the task ----

  // What a typed task's body gets for dependency `which`, or its form for reading. On a grid of data that has a copy on
  // every device, that of a place. Throws range_error for a number that there is not, argument_error for another type.
  template <class View>
  View get(std::size_t which, int place = 0) const {
    std::optional<View> found;
    if (!dependency(which).view(typeid(View), memory(which, place), run().pe(place), &found))
      refuse_view(which, typeid(View));
    return *std::move(found);
  }
  // Where its instance begins, or that of a place.
  std::byte* memory(std::size_t which, int place = 0) const;
  const stf::task_run& run() const;

 private:
  // The task between its beginning and its end. One that goes without an end fails.
  struct open_task {
    stf::task_run run;
    std::optional<starling::stream> user;
    std::thread::id thread;

    explicit open_task(stf::task_run r);
    open_task(const open_task&) = delete;
    open_task& operator=(const open_task&) = delete;
    ~open_task();
    // The task's end comes after what the user's stream has.
    void take_from_user();
  };

  void expect_not_begun(const char* call) const;
  open_task& expect_own_thread(const char* call) const;
  open_task& expect_open() const;
  const detail::any_dependency& dependency(std::size_t which) const;
  [[noreturn]] void refuse_view(std::size_t which, const std::type_info& wanted) const;

  std::shared_ptr<context> context_;
  task_description what_;
  std::vector<std::unique_ptr<detail::any_dependency>> deps_;
  std::unique_ptr<open_task> open_;
  bool begun_ = false;
};

}  // namespace starling::stf
