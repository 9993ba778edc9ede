// array<T, Rank, Axis>: an array of a generated program as its kernel sees it: elements by their indices in the whole
// array, of which this PE has a part along one axis.
#pragma once

#include "starling/device/symmetric.hpp"

namespace starling::generated {

template <class T, int Rank, int Axis>
class array {
 public:
  // `data`: this PE's memory, whose first element is number `first` along the axis. `extents`: of what the PE has.
  template <class... Extents>
  STARLING_HD array(sym<T> data, int pe, index_t first, Extents... extents)
      : data_(data), extents_{static_cast<index_t>(extents)...} {
    static_assert(sizeof...(Extents) == Rank);
    index_t stride = 1;
    for (int k = Rank - 1; k >= 0; --k) {
      strides_[k] = stride;
      stride *= extents_[k];
    }
    start_ = data.on(pe) - first * strides_[Axis];
  }

  template <class... Indices>
  STARLING_HD T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank);
    const index_t index[] = {static_cast<index_t>(indices)...};
    index_t at = index[Rank - 1];
    for (int k = 0; k < Rank - 1; ++k) at += index[k] * strides_[k];
    return start_[at];
  }

  // The address for puts and gets of an element at a PE whose part begins with number `first` along the axis; without
  // indices, of element 0, ...
  template <class... Indices>
  STARLING_HD sym<T> at(index_t first, Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank || sizeof...(Indices) == 0);
    const index_t index[Rank] = {static_cast<index_t>(indices)...};
    index_t at = -first * strides_[Axis];
    for (int k = 0; k < Rank; ++k) at += index[k] * strides_[k];
    return data_ + at;
  }

  STARLING_HD index_t stride(int k) const { return strides_[k]; }
  STARLING_HD index_t extent(int k) const { return extents_[k]; }
  STARLING_HD T* start() const { return start_; }

 private:
  sym<T> data_;
  index_t extents_[Rank];
  index_t strides_[Rank];
  T* start_;
};

}  // namespace starling::generated
