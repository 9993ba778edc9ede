// What task bodies get for their data: slice<T, Rank>, a row-major view of an array that somebody else owns, and
// scalar_view<T>, one element.
//
// Compiled with STARLING_STF_CHECK_BOUNDS, every access a(i, j) looks at its indices. An index outside ends the kernel
// before memory is touched, and the host throws range_error with the index, the dimension and the extent: at once on
// virtual devices and in code of the host, from stream::synchronize and the like on GPUs, where the thread ends and the
// device stays usable. (Indices given as an array or a span come from functions that must not throw: use numbers.)
// Sources with and without the definition may be mixed in a program, but a slice does not go from one kind to the
// other.
#pragma once

#include "starling/base/view.hpp"
#include "starling/stf/detail/checked_layout.hpp"

namespace starling::stf {

#if defined(STARLING_STF_CHECK_BOUNDS)
using slice_layout = checked_layout;
#else
using slice_layout = cuda::std::layout_right;
#endif

template <class T, int Rank = 1>
using slice = cuda::std::mdspan<T, cuda::std::dextents<index_t, Rank>, slice_layout>;

template <class T>
class scalar_view {
 public:
  using element_type = T;

  scalar_view() = default;
  STARLING_HD constexpr explicit scalar_view(T* element) : element_(element) {}
  // scalar_view<double> goes where a scalar_view<const double> is wanted.
  template <class U = T>
    requires(!std::is_const_v<U>)
  STARLING_HD constexpr operator scalar_view<const U>() const {  // NOLINT: as with pointers
    return scalar_view<const U>(element_);
  }

  STARLING_HD constexpr T& operator*() const { return *element_; }
  STARLING_HD constexpr T* operator->() const { return element_; }
  STARLING_HD constexpr T* get() const { return element_; }

 private:
  T* element_ = nullptr;
};

template <class View>
inline constexpr bool is_scalar = false;
template <class T>
inline constexpr bool is_scalar<scalar_view<T>> = true;
// An array of no dimensions has one element too.
template <class T, class Extents, class Layout>
  requires(Extents::rank() == 0)
inline constexpr bool is_scalar<cuda::std::mdspan<T, Extents, Layout>> = true;

template <class T>
T& element_of(const scalar_view<T>& v) {
  return *v;
}
template <class T, class Extents, class Layout>
  requires(Extents::rank() == 0)
T& element_of(const cuda::std::mdspan<T, Extents, Layout>& v) {
  return v();
}

}  // namespace starling::stf
