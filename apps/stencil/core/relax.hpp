// What one step makes of a cell, from values that are at hand.
#pragma once

#include "starling/device/reduce.hpp"
#include "stencil/core/fields.hpp"

namespace starling::stencil {

// The neighbours of a cell; those along z only in three dimensions.
template <class T>
struct surroundings {
  T centre;
  T below, above;  // z
  T north, south;  // y
  T west, east;    // x
};

// The order of the additions is the problem's.
template <int Dimensions, class T>
STARLING_HD T relaxed(const coefficients<T>& w, const surroundings<T>& s) {
  T sum = w.centre * s.centre;
  if constexpr (Dimensions == 3) {
    sum = sum + w.low[0] * s.below;
    sum = sum + w.high[0] * s.above;
  }
  sum = sum + w.low[1] * s.north;
  sum = sum + w.high[1] * s.south;
  sum = sum + w.low[2] * s.west;
  return sum + w.high[2] * s.east;
}

template <class T>
STARLING_HD void note_difference(T was, T is, T& change) {
  const T difference = is > was ? is - was : was - is;
  change = maximum{}(change, difference);
}

}  // namespace starling::stencil
