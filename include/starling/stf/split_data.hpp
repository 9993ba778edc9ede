// split_data: logical data as parts that are logical data of their own, so that only a part moves, and tasks on
// different parts do not wait for each other. Made by context::split; context::join, or the end of the last handle,
// makes it one again. Meanwhile the whole cannot be used.
//
//   auto rows = ctx.split(x, n);        // blocks of the slowest dimension: rows; of column-major data columns
//   auto tiles = ctx.split(x, {2, 3});  // 2 x 3 tiles
//   auto u = ctx.split(x, n, halo{1});  // blocks, each of which can be read with a row of either neighbour:
//   ctx.parallel_for(where, v[i].shape(), u.with_halo(i), v[i].write())->* ...
//
// The whole stays where its value is, or where split was told. Parts that a task has there are the whole's own memory,
// if their rows are in one piece and there is no halo; otherwise, and elsewhere, they are copies of the part alone.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "starling/stf/logical_data.hpp"
#include "starling/stf/partition.hpp"

namespace starling::stf {

class context_state;
class splitting;

// Rows of the neighbours that a part can be read with; a row is one index of the slowest dimension. Periodic: the first
// part and the last are neighbours too, so that every part has all its rows.
struct halo {
  index_t rows = 1;
  bool periodic = false;
};

namespace detail {

// How an array is split, without its type.
struct split_plan {
  std::vector<index_t> extents;  // of the whole, the slowest dimension first
  std::size_t element_bytes = 1;
  std::size_t alignment = 1;
  std::vector<std::vector<index_range>> parts;  // a range for each dimension, as of extents
  halo around{0};
  bool column_major = false;  // indices go in the opposite order

  // The range of part i in the slowest dimension, with its halo; beyond the ends where that is periodic.
  index_range rows_with_halo(int i) const;
};

// Throw argument_error: a count below 1, a halo of less than no rows.
void check_count(index_t count);
void check_halo(halo h);
[[noreturn]] void refuse_halo();
[[noreturn]] void refuse_part(int i, int count);  // range_error

// The parts that a partitioner divides a shape into.
template <class View, class Partitioner>
auto parts_of(const shape_of<View>& shape, index_t count, const Partitioner& p) {
  using box_type = box<static_cast<int>(View::rank())>;
  check_count(count);
  std::vector<box_type> boxes;
  for (index_t i = 0; i < count; ++i) boxes.push_back(box_type(p.part(shape, i, count)));
  return boxes;
}

// A grid of tiles, numbered row by row: how many along each dimension.
template <int Rank>
std::vector<box<Rank>> tiles_of(const box<Rank>& all, const int (&counts)[Rank]) {
  std::vector<box<Rank>> boxes{all};
  for (int d = 0; d < Rank; ++d) {
    check_count(counts[d]);
    std::vector<box<Rank>> finer;
    for (const box<Rank>& b : boxes)
      for (int i = 0; i < counts[d]; ++i) finer.push_back(blocked{d}.part(b, i, counts[d]));
    boxes = std::move(finer);
  }
  return boxes;
}

// The parts; ends with the last handle.
class split_handle {
 public:
  // Throws argument_error for parts that overlap or lie outside of the whole.
  split_handle(const std::shared_ptr<context_state>& context, const std::shared_ptr<data_state>& whole,
               const data_place& where, split_plan plan);
  split_handle(const split_handle&) = delete;
  split_handle& operator=(const split_handle&) = delete;
  ~split_handle();

  const split_plan& plan() const { return plan_; }
  const std::shared_ptr<data_state>& part(int i) const;
  // The rows around a part; null without a halo.
  const std::shared_ptr<const ghost_rows>& ghosts(int i) const { return ghosts_[static_cast<std::size_t>(i)]; }
  const std::shared_ptr<splitting>& state() const { return state_; }

 private:
  std::shared_ptr<const ghost_rows> ghosts_of(int i) const;

  split_plan plan_;
  std::shared_ptr<splitting> state_;
  std::vector<std::shared_ptr<const ghost_rows>> ghosts_;
};

}  // namespace detail

// How a loop over all parts uses them; each of its tasks has one. See starling/stf/parts_loop.hpp.
template <class Dep>
struct part_dependencies {
  using view_type = typename Dep::view_type;

  std::vector<Dep> each;
};

template <class View>
class split_data {
  static_assert(View::rank() >= 1 && View::rank() == View::rank_dynamic(),
                "context::split: slices whose extents are known at run time");
  static_assert(order_of<typename View::layout_type> != element_order::other,
                "context::split: arrays in row-major or column-major order; specialise stf::order_of for a layout of "
                "your own that is one of them");

 public:
  static constexpr int n_dimensions = static_cast<int>(View::rank());
  using box_type = stf::box<n_dimensions>;
  using part_type = logical_data<View>;
  using read_type = typename part_type::read_type;

  split_data(const std::shared_ptr<context_state>& context, const part_type& whole, const data_place& where,
             std::vector<box_type> boxes, halo h)
      : boxes_(std::move(boxes)) {
    detail::split_plan plan{
        data_interface<View>::extents(whole.shape()), sizeof(element_type), alignof(element_type), {}, h, column_major};
    for (const box_type& b : boxes_) {
      plan.parts.emplace_back();
      for (int d = 0; d < n_dimensions; ++d) plan.parts.back().push_back(b.range(from_slowest(d)));
    }
    handle_ = std::make_shared<detail::split_handle>(context, whole.state(), where, std::move(plan));
    for (int i = 0; i < size(); ++i) parts_.emplace_back(handle_->part(i), shape_of_box(box(i)));
  }

  int size() const { return static_cast<int>(boxes_.size()); }
  const part_type& operator[](int i) const { return parts_[checked(i)]; }
  // The coordinates of the whole that part i has.
  const box_type& box(int i) const { return boxes_[checked(i)]; }

  // Part i and the rows around it that there are, to read; each task gets them as they are after the tasks before it.
  // With a periodic halo the box may begin below 0 and end beyond the whole: row k is row k modulo the extent.
  // Of the neighbours these rows move alone.
  dependency<View, read_type> with_halo(int i, const data_place& where = data_place::affine(),
                                        call_site at = call_site::current()) const {
    const std::size_t which = checked(i);
    if (handle_->ghosts(i) == nullptr) detail::refuse_halo();
    return {{parts_[which].state(), access_mode::read, where, handle_->ghosts(i), nullptr, at},
            shape_of_box(box_with_halo(i))};
  }
  // Of all parts, for a loop that has a task for each of them.
  part_dependencies<dependency<View, read_type>> read(const data_place& where = data_place::affine(),
                                                      call_site at = call_site::current()) const {
    return all([&](int i) { return parts_[checked(i)].read(where, at); });
  }
  part_dependencies<dependency<View, View>> write(const data_place& where = data_place::affine(),
                                                  call_site at = call_site::current()) const {
    return all([&](int i) { return parts_[checked(i)].write(where, at); });
  }
  part_dependencies<dependency<View, View>> rw(const data_place& where = data_place::affine(),
                                               call_site at = call_site::current()) const {
    return all([&](int i) { return parts_[checked(i)].rw(where, at); });
  }
  part_dependencies<dependency<View, read_type>> with_halo(const data_place& where = data_place::affine(),
                                                           call_site at = call_site::current()) const {
    return all([&](int i) { return with_halo(i, where, at); });
  }
  box_type box_with_halo(int i) const {
    index_range r[n_dimensions];
    for (int d = 0; d < n_dimensions; ++d) r[d] = box(i).range(d);
    r[from_slowest(0)] = handle_->plan().rows_with_halo(i);
    return box_type(r);
  }

  const detail::split_handle& handle() const { return *handle_; }

 private:
  using shape_type = typename part_type::shape_type;
  using element_type = typename View::element_type;
  static constexpr bool column_major = data_interface<View>::column_major;

  // The number of a dimension that is counted from the slowest one.
  static constexpr int from_slowest(int d) { return column_major ? n_dimensions - 1 - d : d; }
  template <class F>
  auto all(const F& f) const {
    part_dependencies<decltype(f(0))> d;
    for (int i = 0; i < size(); ++i) d.each.push_back(f(i));
    return d;
  }
  std::size_t checked(int i) const {
    if (i < 0 || i >= size()) detail::refuse_part(i, size());
    return static_cast<std::size_t>(i);
  }
  static shape_type shape_of_box(const box_type& b) {
    return [&]<int... D>(std::integer_sequence<int, D...>) {
      return shape_type(b.extent(D)...);
    }(std::make_integer_sequence<int, n_dimensions>());
  }

  std::vector<box_type> boxes_;
  std::shared_ptr<detail::split_handle> handle_;
  std::vector<part_type> parts_;
};

}  // namespace starling::stf
