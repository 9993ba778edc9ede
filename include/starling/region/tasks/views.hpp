// What kernels of tasks see of a region: its newest epoch, as one device has it, and how it is partitioned. To loops it
// becomes a region_view before they begin.
#pragma once

#include "starling/region/region.hpp"
#include "starling/stf/partition.hpp"

namespace starling {

// Which PE writes which elements, as a partitioner (starling/stf/partition.hpp) of any loop and place: boxes of as many
// indices as the region has elements are cut along their slowest dimension. Another number of indices, and of owners
// than one or the region's PEs, are a task_error.
class region_partition {
 public:
  region_partition() = default;
  explicit region_partition(const std::vector<index_t>& bounds) : bounds_(&bounds) {}

  template <stf::detail::box_like Shape>
  auto part(const Shape& s, index_t which, index_t count) const {
    using box_type = stf::detail::box_type_of<Shape>;
    index_range r[box_type::rank()];
    for (int d = 0; d < box_type::rank(); ++d) r[d] = s.range(d);
    check(r[box_type::slowest], which, count);
    if (count > 1) r[box_type::slowest] = of(which);
    return box_type(stf::box<box_type::rank()>(r));
  }
  template <stf::detail::box_like Shape>
  index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    constexpr int d = stf::detail::box_type_of<Shape>::slowest;
    check(s.range(d), 0, count);
    index_t pe = 0;
    while (count > 1 && c[d] >= of(pe).end) ++pe;
    return pe;
  }

  friend bool operator==(const region_partition&, const region_partition&) = default;

 private:
  index_range of(index_t pe) const {
    const auto p = static_cast<std::size_t>(pe);
    return {(*bounds_)[p], (*bounds_)[p + 1]};
  }
  void check(index_range elements, index_t which, index_t count) const;

  const std::vector<index_t>* bounds_ = nullptr;
};

namespace region_words {

// In check mode: that the PE gets the element.
void check_read(const region_state& s, int pe, index_t element, where at);

}  // namespace region_words

// The newest epoch as one PE has it: v(i) is element i. Only within kernels.
template <class T, bool Checked = target::checked>
class region_view {
 public:
  STARLING_HD region_view(const region_state& s, const T* data, int pe) : data_(data), state_(&s), pe_(pe) {}

  STARLING_HD const T& operator()(index_t i, where at = where::current()) const {
    if constexpr (Checked) region_words::check_read(*state_, pe_, i, at);
    return data_[i];
  }
  STARLING_HD const T* data() const { return data_; }
  STARLING_HD index_t size() const { return state_->size; }

 private:
  const T* data_;
  const region_state* state_;
  int pe_;
};

// What tasks get for x.read() and hand to kernels, where it becomes a region_view, or is read like one.
template <class T>
class region_source {
 public:
  region_source(const region_handle<T>& h, int pe) : handle_(h), pe_(pe) {}

  STARLING_HD region_view<T> view() const {
    const region_state& s = handle_.state();
    return {s, (handle_.values() + s.buffer_of(*s.newest.on(pe_)) * handle_.pitch()).on(pe_), pe_};
  }
  STARLING_HD operator region_view<T>() const { return view(); }  // NOLINT: bodies take either
  STARLING_HD const T& operator()(index_t i, where at = where::current()) const { return view()(i, at); }
  STARLING_HD index_t size() const { return handle_.size(); }
  // The same on another PE, for tasks on several.
  region_source on(int pe) const { return {handle_, pe}; }

 private:
  region_handle<T> handle_;
  int pe_;
};

}  // namespace starling
