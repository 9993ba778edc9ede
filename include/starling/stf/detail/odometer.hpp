// Walks through a box in steps of any size without a division for each element: the step is taken apart once, and added
// digit by digit with a carry. The iterators of boxes and of what partitions make of them.
#pragma once

#include <compare>
#include <iterator>

#include "starling/stf/coords.hpp"

namespace starling::stf {

// Digit d of `i` runs below extent[d], but for the first, which takes what is left.
template <int Rank>
STARLING_HD constexpr coords<Rank> digits_of(index_t i, const index_t* extent) {
  coords<Rank> c{};
  for (int d = Rank - 1; d > 0; --d) {
    const index_t n = extent[d] > 0 ? extent[d] : 1;
    const index_t left = i / n;
    c[d] = i - left * n;
    i = left;
  }
  c[0] = i;
  return c;
}

// A random access iterator over coordinates, whose last dimension is the fastest, or the first. Two of them compare if
// they come from one range.
template <int Rank, bool FirstFastest = false>
class odometer_iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // it makes its values
  using value_type = coords<Rank>;
  using difference_type = index_t;
  using pointer = void;
  using reference = coords<Rank>;

  odometer_iterator() = default;
  STARLING_HD constexpr odometer_iterator(const index_t* lower, const index_t* extent, index_t first, index_t step,
                                          index_t number)
      : first_(first), step_(step), number_(number) {
    for (int d = 0; d < Rank; ++d) {
      lower_[d] = lower[dimension(d)];
      extent_[d] = extent[dimension(d)];
    }
    if constexpr (Rank > 1) {
      digits_ = digits_of<Rank>(first + number * step, extent_);
      step_digits_ = digits_of<Rank>(step, extent_);
    }
  }

  STARLING_HD constexpr coords<Rank> operator*() const {
    coords<Rank> c{};
    if constexpr (Rank == 1) {
      c[0] = lower_[0] + first_ + number_ * step_;
    } else {
      for (int d = 0; d < Rank; ++d) c[dimension(d)] = lower_[d] + digits_[d];
    }
    return c;
  }
  STARLING_HD constexpr coords<Rank> operator[](index_t n) const { return *(*this + n); }

  STARLING_HD constexpr odometer_iterator& operator++() {
    ++number_;
    if constexpr (Rank > 1) {
      index_t carry = 0;
      for (int d = Rank - 1; d > 0; --d) {
        digits_[d] += step_digits_[d] + carry;
        carry = digits_[d] >= extent_[d] ? 1 : 0;
        digits_[d] -= carry != 0 ? extent_[d] : 0;
      }
      digits_[0] += step_digits_[0] + carry;
    }
    return *this;
  }
  STARLING_HD constexpr odometer_iterator& operator+=(index_t n) {
    number_ += n;
    if constexpr (Rank > 1) digits_ = digits_of<Rank>(first_ + number_ * step_, extent_);
    return *this;
  }
  STARLING_HD constexpr odometer_iterator operator++(int) {
    const odometer_iterator before = *this;
    ++*this;
    return before;
  }
  STARLING_HD constexpr odometer_iterator& operator--() { return *this += -1; }
  STARLING_HD constexpr odometer_iterator operator--(int) {
    const odometer_iterator before = *this;
    --*this;
    return before;
  }
  STARLING_HD constexpr odometer_iterator& operator-=(index_t n) { return *this += -n; }
  STARLING_HD friend constexpr odometer_iterator operator+(odometer_iterator a, index_t n) { return a += n; }
  STARLING_HD friend constexpr odometer_iterator operator+(index_t n, odometer_iterator a) { return a += n; }
  STARLING_HD friend constexpr odometer_iterator operator-(odometer_iterator a, index_t n) { return a -= n; }
  STARLING_HD friend constexpr index_t operator-(const odometer_iterator& a, const odometer_iterator& b) {
    return a.number_ - b.number_;
  }
  STARLING_HD friend constexpr bool operator==(const odometer_iterator& a, const odometer_iterator& b) {
    return a.number_ == b.number_;
  }
  STARLING_HD friend constexpr std::strong_ordering operator<=>(const odometer_iterator& a,
                                                                const odometer_iterator& b) {
    return a.number_ <=> b.number_;
  }

 private:
  // Which one digit d counts; the last digit is the fastest.
  STARLING_HD static constexpr int dimension(int d) { return FirstFastest ? Rank - 1 - d : d; }

  index_t lower_[Rank] = {};
  index_t extent_[Rank] = {};
  index_t first_ = 0;
  index_t step_ = 1;
  index_t number_ = 0;
  coords<Rank> digits_{};
  coords<Rank> step_digits_{};
};

template <int Rank, bool FirstFastest = false>
class odometer_range {
 public:
  using iterator = odometer_iterator<Rank, FirstFastest>;

  STARLING_HD constexpr odometer_range(const index_t* lower, const index_t* extent, index_t first, index_t step,
                                       index_t count)
      : begin_(lower, extent, first, step, 0), end_(lower, extent, first, step, count) {}

  STARLING_HD constexpr iterator begin() const { return begin_; }
  STARLING_HD constexpr iterator end() const { return end_; }

 private:
  iterator begin_;
  iterator end_;
};

// The same over any shape, by its index_to_coords.
template <class Shape>
class shape_iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = typename Shape::coords_t;
  using difference_type = index_t;
  using pointer = void;
  using reference = value_type;

  shape_iterator() = default;
  // The shape must live as long.
  STARLING_HD constexpr shape_iterator(const Shape& s, index_t number) : shape_(&s), number_(number) {}

  STARLING_HD constexpr value_type operator*() const { return shape_->index_to_coords(number_); }
  STARLING_HD constexpr value_type operator[](index_t n) const { return shape_->index_to_coords(number_ + n); }
  STARLING_HD constexpr shape_iterator& operator++() { return *this += 1; }
  STARLING_HD constexpr shape_iterator& operator--() { return *this += -1; }
  STARLING_HD constexpr shape_iterator operator++(int) {
    const shape_iterator before = *this;
    ++number_;
    return before;
  }
  STARLING_HD constexpr shape_iterator operator--(int) {
    const shape_iterator before = *this;
    --number_;
    return before;
  }
  STARLING_HD constexpr shape_iterator& operator+=(index_t n) {
    number_ += n;
    return *this;
  }
  STARLING_HD constexpr shape_iterator& operator-=(index_t n) { return *this += -n; }
  STARLING_HD friend constexpr shape_iterator operator+(shape_iterator a, index_t n) { return a += n; }
  STARLING_HD friend constexpr shape_iterator operator+(index_t n, shape_iterator a) { return a += n; }
  STARLING_HD friend constexpr shape_iterator operator-(shape_iterator a, index_t n) { return a -= n; }
  STARLING_HD friend constexpr index_t operator-(const shape_iterator& a, const shape_iterator& b) {
    return a.number_ - b.number_;
  }
  STARLING_HD friend constexpr bool operator==(const shape_iterator& a, const shape_iterator& b) {
    return a.number_ == b.number_;
  }
  STARLING_HD friend constexpr std::strong_ordering operator<=>(const shape_iterator& a, const shape_iterator& b) {
    return a.number_ <=> b.number_;
  }

 private:
  const Shape* shape_ = nullptr;
  index_t number_ = 0;
};

}  // namespace starling::stf
