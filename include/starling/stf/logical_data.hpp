// logical_data<View>: a handle to one piece of data, wherever its copies are. Handles share it; when the last one goes,
// the value returns to the user's memory, if it came from there, and all copies are freed, without waiting.
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

  data_access access;
  typename data_interface<View>::shape_type shape;
};

// The result of a parallel loop: each thread's share of it reaches the body as T&.
template <class View, class Op>
struct reduction {
  using element_type = typename View::element_type;
  using view_type = accumulated<element_type>;

  element_type* result(std::byte* start) const { return reinterpret_cast<element_type*>(start); }

  data_access access;
  Op op;
};

// To a reduction: what the loop adds up is combined with the value that is there, instead of replacing it.
struct no_init {};

namespace detail {

[[noreturn]] void refuse_reduction(index_t elements);
void set_name(const std::shared_ptr<data_state>& d, std::string name);
std::string name_of(data_state& d);

}  // namespace detail

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
  dependency<View, read_type> read(const data_place& where = data_place::affine()) const {
    return {{data_, access_mode::read, where}, shape_};
  }
  // The task gives it a new value and does not look at the old one.
  dependency<View, View> write(const data_place& where = data_place::affine()) const {
    return {{data_, access_mode::write, where}, shape_};
  }
  // The task reads and changes it.
  dependency<View, View> rw(const data_place& where = data_place::affine()) const {
    return {{data_, access_mode::rw, where}, shape_};
  }

  // Of one element: a parallel loop's result, by an operator of starling/stf/reducer.hpp or one like them.
  template <class Op>
  reduction<View, Op> reduce(Op op) const {
    return reduce_with(std::move(op), access_mode::write);
  }
  template <class Op>
  reduction<View, Op> reduce(Op op, no_init) const {
    return reduce_with(std::move(op), access_mode::rw);
  }

  const shape_type& shape() const { return shape_; }

  // A name for errors, drawings and traces.
  logical_data& set_symbol(std::string name) {
    detail::set_name(data_, std::move(name));
    return *this;
  }

  const std::shared_ptr<data_state>& state() const { return data_; }

 private:
  template <class Op>
  reduction<View, Op> reduce_with(Op op, access_mode mode) const {
    if (shape_.size() != 1) detail::refuse_reduction(shape_.size());
    return {{data_, mode, data_place::affine()}, std::move(op)};
  }

  std::shared_ptr<data_state> data_;
  shape_type shape_;
};

}  // namespace starling::stf
