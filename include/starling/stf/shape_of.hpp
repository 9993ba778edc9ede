// shape_of<View>: data without its memory. What a logical data is before an instance of it exists: enough to allocate
// one, and to make the view that task bodies get. Users specialise it for data of their own.
#pragma once

#include "starling/stf/shape.hpp"
#include "starling/stf/slice.hpp"

namespace starling::stf {

template <class View>
class shape_of;

// A box from 0 that knows its element type, and the order of its elements.
template <class T, class Extents, class Layout>
class shape_of<cuda::std::mdspan<T, Extents, Layout>>
    : public box_of_layout<static_cast<int>(Extents::rank()), Layout> {
  using base = box_of_layout<static_cast<int>(Extents::rank()), Layout>;

 public:
  using view_type = cuda::std::mdspan<T, Extents, Layout>;
  using element_type = T;
  static constexpr int n_dimensions = static_cast<int>(Extents::rank());

  shape_of() = default;
  template <std::integral... Numbers>
    requires(sizeof...(Numbers) == Extents::rank())
  STARLING_HD constexpr explicit shape_of(Numbers... extents)
      : base(box<n_dimensions>(static_cast<index_t>(extents)...)) {}
  STARLING_HD constexpr explicit shape_of(const view_type& v) : base(stf::shape(v)) {}

  STARLING_HD constexpr Extents extents() const { return extents(std::make_index_sequence<Extents::rank()>()); }
  STARLING_HD constexpr std::size_t bytes() const { return static_cast<std::size_t>(this->size()) * sizeof(T); }
  // The data in memory of bytes() bytes that starts at `start`.
  STARLING_HD constexpr view_type view(T* start) const {
    return view_type(start, typename Layout::template mapping<Extents>(extents()));
  }

 private:
  template <std::size_t... D>
  STARLING_HD constexpr Extents extents(std::index_sequence<D...>) const {
    return Extents(this->extent(static_cast<int>(D))...);
  }
};

// One element.
template <class T, class Extents, class Layout>
  requires(Extents::rank() == 0)
class shape_of<cuda::std::mdspan<T, Extents, Layout>> : public box<1> {
 public:
  using view_type = cuda::std::mdspan<T, Extents, Layout>;
  using element_type = T;

  STARLING_HD constexpr shape_of() : box<1>(1) {}
  STARLING_HD constexpr explicit shape_of(const view_type&) : shape_of() {}
  STARLING_HD constexpr std::size_t bytes() const { return sizeof(T); }
  STARLING_HD constexpr view_type view(T* start) const { return view_type(start); }
};

template <class T>
class shape_of<scalar_view<T>> : public box<1> {
 public:
  using view_type = scalar_view<T>;
  using element_type = T;

  STARLING_HD constexpr shape_of() : box<1>(1) {}
  STARLING_HD constexpr std::size_t bytes() const { return sizeof(T); }
  STARLING_HD constexpr view_type view(T* start) const { return view_type(start); }
};

}  // namespace starling::stf
