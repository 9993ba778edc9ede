// logical_data<View>: a handle to one piece of data, wherever its copies are. Handles share it; when the last one goes,
// the value returns to the user's memory, if it came from there, and all copies are freed, without waiting. When it
// goes because an exception unwinds, nothing is written, and it waits until no task uses the user's memory.
#pragma once

#include <string>
#include <utility>

#include "starling/stf/access.hpp"
#include "starling/stf/data_interface.hpp"
#include "starling/stf/reducer.hpp"

namespace starling::stf {

// A dependency of a task: which data, how it is used, what the task's body gets for it.
template <class View, class Given>
struct dependency {
  using view_type = Given;

  Given view(std::byte* start) const { return data_interface<View>::view(shape, start); }
  // The last use of this copy for a long time: x.read().last_use(). Where a place is full, such copies give way first,
  // and among them those that are not the only ones. It changes no value: later tasks may use the data all the same.
  dependency last_use() const {
    dependency d = *this;
    d.access.last_use = true;
    return d;
  }

  data_access access;
  typename data_interface<View>::shape_type shape;
};

// The result of a parallel loop, of which each thread's share reaches the body as T&; or what a task adds to, which
// gets an instance of its own.
template <class View, class Op>
struct reduction {
  using element_type = typename View::element_type;
  using view_type = accumulated<element_type>;

  element_type* result(std::byte* start) const { return reinterpret_cast<element_type*>(start); }
  View view(std::byte* start) const { return data_interface<View>::view(shape, start); }

  data_access access;
  Op op;
  typename data_interface<View>::shape_type shape;
  bool starts_over = false;  // do_init was given
};

// To a reduction: what is added up is combined with the value that is there, or replaces it. Without either, a loop
// replaces the value, and a task adds to it.
struct no_init {};
struct do_init {};

namespace detail {

template <class Dep>
inline constexpr bool is_reduction = false;
template <class View, class Op>
inline constexpr bool is_reduction<reduction<View, Op>> = true;
template <class Dep>
inline constexpr bool is_dependency = false;
template <class View, class Given>
inline constexpr bool is_dependency<dependency<View, Given>> = true;

[[noreturn]] void refuse_reduction(index_t elements);
void set_name(const std::shared_ptr<data_state>& d, std::string name);
void set_write_back(const std::shared_ptr<data_state>& d, bool on);
void set_secret(const std::shared_ptr<data_state>& d);
std::string name_of(data_state& d);

}  // namespace detail

// What x.read(), x.write(), x.rw() and x.reduce(op) of logical data give.
template <class Dep>
concept task_dependency = detail::is_dependency<Dep> || detail::is_reduction<Dep>;

template <data_view View>
class logical_data {
 public:
  using view_type = View;
  using read_type = typename data_interface<View>::read_type;
  using shape_type = typename data_interface<View>::shape_type;

  // None; using it is an argument_error.
  logical_data() = default;
  logical_data(std::shared_ptr<data_state> data, shape_type shape) : data_(std::move(data)), shape_(std::move(shape)) {}

  // The task reads it. Tasks that read run at the same time.
  dependency<View, read_type> read(const data_place& where = data_place::affine(),
                                   call_site at = call_site::current()) const {
    return {access(access_mode::read, where, at), shape_};
  }
  // The task gives it a new value and does not look at the old one.
  dependency<View, View> write(const data_place& where = data_place::affine(),
                               call_site at = call_site::current()) const {
    check_writable();
    return {access(access_mode::write, where, at), shape_};
  }
  // The task reads and changes it.
  dependency<View, View> rw(const data_place& where = data_place::affine(), call_site at = call_site::current()) const {
    check_writable();
    return {access(access_mode::rw, where, at), shape_};
  }

  // By an operator of starling/stf/reducer.hpp or one like them. Of one element: a parallel loop's result. Of any
  // number: tasks that add to it at the same time, element by element; the next other access sees it all, combined in
  // the order in which the tasks were submitted.
  template <class Op>
  reduction<View, Op> reduce(Op op, call_site at = call_site::current()) const {
    check_writable();
    check_operator<Op>();
    return {access(access_mode::write, data_place::affine(), at), std::move(op), shape_};
  }
  template <class Op>
  reduction<View, Op> reduce(Op op, no_init, call_site at = call_site::current()) const {
    check_writable();
    check_operator<Op>();
    return {access(access_mode::rw, data_place::affine(), at), std::move(op), shape_};
  }
  template <class Op>
  reduction<View, Op> reduce(Op op, do_init, call_site at = call_site::current()) const {
    check_writable();
    check_operator<Op>();
    return {access(access_mode::write, data_place::affine(), at), std::move(op), shape_, true};
  }

  const shape_type& shape() const { return shape_; }

  // A name for errors, drawings and traces.
  logical_data& set_symbol(std::string name) {
    detail::set_name(data_, std::move(name));
    return *this;
  }

  // The name that it has; empty: none.
  std::string symbol() const { return data_ ? detail::name_of(*data_) : std::string(); }

  // Whether the user's memory has to have the value in the end, as it has unless this says otherwise. Without, no copy
  // goes back for that alone: the memory is still the context's to use until the data and its tasks are over, and then
  // holds some value that the data has had, or parts of several. Throws argument_error for data that has none of the
  // user's memory.
  logical_data& set_write_back(bool on) {
    detail::set_write_back(data_, on);
    return *this;
  }

  // From here on for good: memory of the context in which copies of the value have been is filled with zeros after its
  // last use, and no copy is made to make room, so that the value is only where tasks and calls of the context ask for
  // it. The user's own memory, and what tasks put elsewhere, is the user's to wipe. Throws argument_error for data that
  // is frozen or split.
  logical_data& set_secret() {
    detail::set_secret(data_);
    return *this;
  }

  const std::shared_ptr<data_state>& state() const { return data_; }

 private:
  data_access access(access_mode mode, const data_place& where, call_site at) const {
    return {data_, mode, where, nullptr, nullptr, at};
  }
  template <class Op>
  static constexpr void check_operator() {
    static_assert(reducer::combines<Op, std::remove_const_t<typename View::element_type>>,
                  "logical_data::reduce: the operator has no T operator()(const T&, const T&) const or no T identity() "
                  "const for these elements. sum and product need + or * and construction from 0 or 1, maxval and "
                  "minval comparisons and std::numeric_limits; or write an operator (examples/10_reduction.cpp)");
  }
  static constexpr void check_writable() {
    static_assert(!only_read<View>,
                  "logical data of const elements can only be read; make it of memory that may change");
  }

  std::shared_ptr<data_state> data_;
  shape_type shape_;
};

}  // namespace starling::stf
