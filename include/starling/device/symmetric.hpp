// sym<T>: a pointer to symmetric memory, where every PE has an object at the same offset. Plain data, for kernels.
// The copies of the PEs lie at one fixed stride, so an address on any PE is one multiply and one add away.
#pragma once

#include <cstddef>
#include <type_traits>

#include "starling/base/view.hpp"
#include "starling/device/target.hpp"

namespace starling {

template <class T>
class sym {
 public:
  constexpr sym() = default;
  constexpr sym(T* on_pe_0, index_t stride_bytes) : on_pe_0_(on_pe_0), stride_(stride_bytes) {}

  // The copy of PE `pe`. Any PE may form it; remote copies are written with put and read with get.
  STARLING_HD T* on(int pe) const {
    using byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<byte*>(on_pe_0_) + pe * stride_);
  }

  STARLING_HD sym operator+(index_t n) const {
    sym s = *this;
    s.on_pe_0_ += n;
    return s;
  }
  STARLING_HD sym& operator+=(index_t n) {
    on_pe_0_ += n;
    return *this;
  }

  STARLING_HD explicit operator bool() const { return on_pe_0_ != nullptr; }
  STARLING_HD index_t stride_bytes() const { return stride_; }

 private:
  T* on_pe_0_ = nullptr;
  index_t stride_ = 0;
};

// A symmetric array with a shape: v.on(pe)(i, j) on a PE, v.at(i, j) as the address for put and get.
template <class T, int Rank>
class sym_view {
 public:
  constexpr sym_view() = default;
  STARLING_HD sym_view(sym<T> data, const view_extents<Rank>& extents) : data_(data), extents_(extents) {}

  STARLING_HD view<T, Rank> on(int pe) const { return view<T, Rank>(data_.on(pe), extents_); }

  template <class... Indices>
  STARLING_HD sym<T> at(Indices... indices) const {
    static_assert(sizeof...(Indices) == Rank, "at() takes one index per dimension");
    return data_ + static_cast<index_t>(on(0).mapping()(static_cast<index_t>(indices)...));
  }

  STARLING_HD sym<T> data() const { return data_; }
  STARLING_HD index_t extent(int axis) const { return extents_.extent(static_cast<std::size_t>(axis)); }

 private:
  sym<T> data_;
  view_extents<Rank> extents_;
};

}  // namespace starling
