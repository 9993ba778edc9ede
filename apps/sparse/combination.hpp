// What a product with a matrix computes: for each row, what its entries give with the vector's values, all joined. Sums
// of products usually; shortest paths come from the same reading of the same entries.
#pragma once

#include <limits>

#include "sparse/options.hpp"
#include "starling/device/target.hpp"

namespace starling::sparse {

// Sums of products: the product of linear algebra.
struct plus_times {
  template <class T>
  STARLING_HD static constexpr T none() {  // of a row without entries; joined to anything it changes nothing
    return T{0};
  }
  template <class T>
  STARLING_HD static T entry(T a, T x) {
    return a * x;
  }
  template <class T>
  STARLING_HD static T join(T all, T one) {
    return all + one;
  }
};

// The least of sums: with distances as the vector, the shortest way that ends with an edge of the row. No value may be
// NaN. The result does not depend on the order.
struct min_plus {
  template <class T>
  STARLING_HD static constexpr T none() {
    return std::numeric_limits<T>::infinity();
  }
  template <class T>
  STARLING_HD static T entry(T a, T x) {
    return a + x;
  }
  template <class T>
  STARLING_HD static T join(T all, T one) {
    return one < all ? one : all;
  }
};

}  // namespace starling::sparse
