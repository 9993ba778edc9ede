// run_once: what context::run_once returns. A function whose result the context remembers: it is called when there is
// none yet for these arguments, and calls it with the same ones give that result.
//
//   auto keys = ctx.run_once(n, x)->*[&](index_t n, stf::logical_data<slice<double>> x) { ... return y; };
//
// Arguments are compared by value: floating-point numbers by their bits' order, text by its characters, logical data by
// which it is and which value it has: when a task has written it since the call, or added to it, the function is called
// again, and its result replaces the one before. Functions are told apart by their types, so that what one captures
// does not count. Results, and what they hold, live until the last handle to the context goes.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "starling/stf/logical_data.hpp"

namespace starling::stf {

class context_state;

namespace detail {

// Throw argument_error for data that is none. The data's context and its number there; changes of its value so far.
std::pair<const void*, std::uint64_t> number_of(const std::shared_ptr<data_state>& d);
std::uint64_t version_of(const std::shared_ptr<data_state>& d);

// What an argument is compared by, and the value that it has by now of what changes.
template <class T>
struct memo_key {
  static_assert(
      requires(const T& a, const T& b) {
        { a < b } -> std::convertible_to<bool>;
      }, "run_once: arguments are compared by <; give the type an operator<, or pass what tells its values apart");
  using type = T;
  static const T& of(const T& x) { return x; }
};
template <std::floating_point T>
struct memo_key<T> {
  struct type {
    T value;
    friend bool operator<(const type& a, const type& b) { return std::strong_order(a.value, b.value) < 0; }
  };
  static type of(T x) { return {x}; }
};
template <>
struct memo_key<const char*> {
  using type = std::string;
  static type of(const char* text) { return text; }
};
template <class View>
struct memo_key<logical_data<View>> {
  using type = std::pair<const void*, std::uint64_t>;
  static type of(const logical_data<View>& d) { return number_of(d.state()); }
};

// The changes of its value so far, for logical data.
template <class T>
void add_version(const T&, std::vector<std::uint64_t>&) {}
template <class View>
void add_version(const logical_data<View>& d, std::vector<std::uint64_t>& all) {
  all.push_back(version_of(d.state()));
}

// One result. A thread has it for the length of a call.
class memo_turn {
 public:
  // Until no other thread has it. Throws argument_error when this one has, task_error after `patience`.
  void enter(std::chrono::duration<double> patience);
  void leave();

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  std::thread::id owner_;  // none: it is free
};

template <class Result>
struct memo_entry : memo_turn {
  std::optional<Result> result;
  std::vector<std::uint64_t> versions;  // of the data among the arguments
};

template <class Result, class... Args>
struct memo_table {
  std::mutex mutex;
  std::map<std::tuple<typename memo_key<Args>::type...>, std::shared_ptr<memo_entry<Result>>> entries;
};

// The results of a context.
class memo_store {
 public:
  // The table of this function.
  std::shared_ptr<void> table(std::type_index function, const std::function<std::shared_ptr<void>()>& make);

 private:
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<void>> tables_;
};

struct nothing {};  // the result of a function that has none

std::chrono::duration<double> patience_of(context_state& context);
// Throws argument_error while this thread's tasks are recorded: the result would be there before its tasks are done.
void expect_not_recorded(context_state& context);

}  // namespace detail

template <class... Args>
class run_once {
 public:
  run_once(std::shared_ptr<context_state> context, std::shared_ptr<detail::memo_store> store, Args... args)
      : context_(std::move(context)), store_(std::move(store)), args_(std::move(args)...) {}

  // Throws what the function throws, after which there is no result; argument_error for a function that asks for its
  // own result, or is called in what is recorded; task_error when another thread takes longer than STARLING_DEADLINE.
  template <class F>
  auto operator->*(F&& function) && {
    static_assert(std::is_invocable_v<F, const Args&...>, "run_once: the function cannot be called with the arguments");
    using given = std::invoke_result_t<F, const Args&...>;
    using result = std::conditional_t<std::is_void_v<given>, detail::nothing, std::decay_t<given>>;
    using table = detail::memo_table<result, Args...>;
    const auto all = std::static_pointer_cast<table>(
        store_->table(typeid(table_of<std::decay_t<F>>), [] { return std::make_shared<table>(); }));
    std::shared_ptr<detail::memo_entry<result>> mine;
    {
      const std::lock_guard lock(all->mutex);
      auto& found = all->entries[std::apply(
          [](const Args&... a) { return std::make_tuple(detail::memo_key<Args>::of(a)...); }, args_)];
      if (!found) found = std::make_shared<detail::memo_entry<result>>();
      mine = found;
    }
    struct turn {
      detail::memo_turn& of;
      ~turn() { of.leave(); }
    };
    mine->enter(detail::patience_of(*context_));
    const turn at_end{*mine};
    std::vector<std::uint64_t> versions;
    std::apply([&](const Args&... a) { (detail::add_version(a, versions), ...); }, args_);
    if (!mine->result || mine->versions != versions) {
      detail::expect_not_recorded(*context_);
      mine->result.reset();
      if constexpr (std::is_void_v<given>) {
        std::apply(std::forward<F>(function), std::as_const(args_));
        mine->result.emplace();
      } else {
        mine->result.emplace(std::apply(std::forward<F>(function), std::as_const(args_)));
      }
      mine->versions = std::move(versions);
    }
    if constexpr (!std::is_void_v<given>) return result(*mine->result);
  }

 private:
  template <class F>
  struct table_of {};

  std::shared_ptr<context_state> context_;
  std::shared_ptr<detail::memo_store> store_;
  std::tuple<Args...> args_;
};

}  // namespace starling::stf
