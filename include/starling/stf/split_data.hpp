// split_data: logical data as parts that are logical data of their own, so that only a part moves, and tasks on
// different parts do not wait for each other. Made by context::split; context::join, or the end of the last handle,
// makes it one again. Meanwhile the whole cannot be used.
//
//   auto rows = ctx.split(x, n);                  // blocks of the slowest dimension
//   auto tiles = ctx.split(x, {2, 3});            // 2 x 3 tiles
//   auto u = ctx.split(x, n, halo{1});            // blocks, and each can be read with a row of either neighbour:
//   ctx.parallel_for(where, v[i].shape(), u.with_halo(i), v[i].write())->* ...
//
// The whole stays where its value is, or where split was told. Parts that a task has there are the whole's own memory,
// if their rows are in one piece and there is no halo; otherwise, and elsewhere, they are copies of the part alone.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "starling/stf/logical_data.hpp"
#include "starling/stf/partition.hpp"

namespace starling::stf {

class context_state;
class splitting;

// Rows of the neighbours that a part can be read with; a row is one index of the slowest dimension.
struct halo {
  index_t rows = 1;
};

namespace detail {

// A part without its type.
struct part_description {
  data_description what;              // without where it lies
  std::vector<memory_part> pieces;    // of the whole: where `start` is null, see in_whole
  std::vector<std::size_t> in_whole;  // by piece: how many bytes into the whole it starts
};

// Where a box of a row-major array lies in it.
part_description pieces_of(const std::vector<index_range>& part, const std::vector<index_t>& extents,
                           std::size_t element_bytes);

// Throw argument_error: a count below 1, parts that overlap or lie outside of the whole, a halo of less than no rows.
void check_count(index_t count);
void check_boxes(const std::vector<std::vector<index_range>>& parts, const std::vector<index_t>& extents);
void check_halo(halo h);
[[noreturn]] void refuse_halo();
[[noreturn]] void refuse_part(int i, int count);  // range_error

// Ends with the last handle.
class split_handle {
 public:
  split_handle(const std::shared_ptr<context_state>& context, const std::shared_ptr<data_state>& whole,
               const data_place& where, std::vector<part_description> parts);
  split_handle(const split_handle&) = delete;
  split_handle& operator=(const split_handle&) = delete;
  ~split_handle();

  const std::shared_ptr<data_state>& part(int i) const;
  const std::shared_ptr<splitting>& state() const { return state_; }

 private:
  std::shared_ptr<splitting> state_;
};

}  // namespace detail

template <class View>
class split_data {
  static_assert(View::rank() >= 1 && View::rank() == View::rank_dynamic(),
                "context::split: slices whose extents are known at run time");

 public:
  static constexpr int n_dimensions = static_cast<int>(View::rank());
  using box_type = stf::box<n_dimensions>;
  using part_type = logical_data<View>;
  using read_type = typename part_type::read_type;

  split_data(const std::shared_ptr<context_state>& context, const part_type& whole, const data_place& where,
             std::vector<box_type> boxes, halo h)
      : boxes_(std::move(boxes)), whole_(whole.shape()), halo_rows_(std::min(h.rows, whole.shape().extent(0))) {
    std::vector<std::vector<index_range>> ranges;
    for (const box_type& b : boxes_) ranges.push_back(ranges_of(b));
    detail::check_boxes(ranges, data_interface<View>::extents(whole.shape()));
    std::vector<detail::part_description> all;
    for (int i = 0; i < size(); ++i) all.push_back(describe(i));
    handle_ = std::make_shared<detail::split_handle>(context, whole.state(), where, std::move(all));
    for (int i = 0; i < size(); ++i) parts_.emplace_back(handle_->part(i), shape_of_box(box(i)));
    if (halo_rows_ > 0)
      for (int i = 0; i < size(); ++i) ghosts_.push_back(ghosts_of(i));
  }

  int size() const { return static_cast<int>(boxes_.size()); }
  const part_type& operator[](int i) const { return parts_[checked(i)]; }
  // The coordinates of the whole that part i has.
  const box_type& box(int i) const { return boxes_[checked(i)]; }

  // Part i and the rows around it that there are, to read; each task gets them as they are after the tasks before it.
  // Of the neighbours these rows move alone.
  dependency<View, read_type> with_halo(int i, const data_place& where = data_place::affine()) const {
    const std::size_t which = checked(i);
    if (halo_rows_ == 0) detail::refuse_halo();
    return {{parts_[which].state(), access_mode::read, where, ghosts_[which]}, shape_of_box(box_with_halo(i))};
  }
  box_type box_with_halo(int i) const {
    index_range r[n_dimensions];
    for (int d = 0; d < n_dimensions; ++d) r[d] = box(i).range(d);
    if (!r[0].empty()) {
      r[0].begin = std::max(whole_.lower(0), r[0].begin - halo_rows_);
      r[0].end = std::min(whole_.upper(0), r[0].end + halo_rows_);
    }
    return box_type(r);
  }

  const std::shared_ptr<splitting>& state() const { return handle_->state(); }

 private:
  using shape_type = typename part_type::shape_type;
  using element_type = typename View::element_type;

  std::size_t checked(int i) const {
    if (i < 0 || i >= size()) detail::refuse_part(i, size());
    return static_cast<std::size_t>(i);
  }
  static shape_type shape_of_box(const box_type& b) {
    return [&]<int... D>(std::integer_sequence<int, D...>) {
      return shape_type(b.extent(D)...);
    }(std::make_integer_sequence<int, n_dimensions>());
  }
  std::size_t row_bytes() const { return static_cast<std::size_t>(whole_.elements(1)) * sizeof(element_type); }
  static std::vector<index_range> ranges_of(const box_type& b) {
    std::vector<index_range> all;
    for (int d = 0; d < n_dimensions; ++d) all.push_back(b.range(d));
    return all;
  }
  detail::part_description describe(int i) const {
    const auto extents = data_interface<View>::extents(shape_of_box(whole_));
    detail::part_description p = detail::pieces_of(ranges_of(box(i)), extents, sizeof(element_type));
    p.what = describe_data<View>(shape_of_box(box(i)));
    const index_range mine = box(i).range(0);
    const index_range wide = box_with_halo(i).range(0);
    p.what.ghosts_before = static_cast<std::size_t>(mine.begin - wide.begin) * row_bytes();
    p.what.ghosts_after = static_cast<std::size_t>(wide.end - mine.end) * row_bytes();
    return p;
  }
  std::shared_ptr<const ghost_rows> ghosts_of(int i) const {
    auto all = std::make_shared<ghost_rows>();
    const index_range mine = box(i).range(0);
    const index_range wide = box_with_halo(i).range(0);
    all->before = static_cast<std::size_t>(mine.begin - wide.begin) * row_bytes();
    for (int j = 0; j < size(); ++j) {
      const index_range theirs = box(j).range(0);
      const index_t begin = std::max(wide.begin, theirs.begin);
      const index_t end = std::min(wide.end, theirs.end);
      if (j == i || begin >= end) continue;
      all->sources.push_back(
          {parts_[static_cast<std::size_t>(j)].state(), static_cast<std::size_t>(begin - theirs.begin) * row_bytes(),
           static_cast<std::ptrdiff_t>(begin - mine.begin) * static_cast<std::ptrdiff_t>(row_bytes()),
           static_cast<std::size_t>(end - begin) * row_bytes()});
    }
    return all;
  }

  std::vector<box_type> boxes_;
  stf::box<n_dimensions> whole_;
  index_t halo_rows_;
  std::shared_ptr<detail::split_handle> handle_;
  std::vector<part_type> parts_;
  std::vector<std::shared_ptr<const ghost_rows>> ghosts_;
};

}  // namespace starling::stf
