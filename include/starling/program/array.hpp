// array<T, Rank>: an array of a generated program as its kernel sees it: elements by their indices in the whole array,
// of which this PE has a part.
#pragma once

#include "starling/device/symmetric.hpp"

namespace starling::generated {

template <class T, int Rank>
class array {
 public:
  using place = index_t[Rank];

  // `data`: this PE's memory, which begins with element `first`. `extents`: of what the PE has,
  // the last of which is the pitch: elements from a row of memory to the next.
  STARLING_HD array(sym<T> data, int pe, const place& first, const place& extents) : data_(data), start_(data.on(pe)) {
    index_t stride = 1;
    for (int k = Rank - 1; k >= 0; --k) {
      strides_[k] = stride;
      stride *= extents[k];
      start_ -= first[k] * strides_[k];
    }
  }

  template <class... Indices>
  STARLING_HD T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank);
    return start_[offset_of({static_cast<index_t>(indices)...})];
  }

  STARLING_HD T* address(const place& index) const { return start_ + offset_of(index); }

  // The address for puts and gets of an element of an array that begins with element 0, ... at all PEs.
  template <class... Indices>
  STARLING_HD sym<T> at(Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank);
    return data_ + offset_of({static_cast<index_t>(indices)...});
  }

  // The same at a PE whose memory begins with element `first`.
  STARLING_HD sym<T> at_part(const place& first, const place& index) const {
    return data_ + (offset_of(index) - offset_of(first));
  }

  // Of an array with the same extents and the same part: they change places.
  STARLING_HD void trade(array& other) {
    const array mine = *this;
    data_ = other.data_;
    start_ = other.start_;
    other.data_ = mine.data_;
    other.start_ = mine.start_;
  }

  STARLING_HD index_t stride(int k) const { return strides_[k]; }

 private:
  STARLING_HD index_t offset_of(const place& index) const {
    index_t at = index[Rank - 1];
    for (int k = 0; k < Rank - 1; ++k) at += index[k] * strides_[k];
    return at;
  }

  sym<T> data_;
  T* start_;
  index_t strides_[Rank];
};

}  // namespace starling::generated
