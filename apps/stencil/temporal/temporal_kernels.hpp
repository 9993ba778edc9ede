// The persistent program that makes several steps in one pass over cells in memory: `temporal` in two dimensions, where
// cells do not fit on chip.
#pragma once

#include "starling/machine/kernel.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/step/stencil_kernels.hpp"
#include "stencil/temporal/strip_layout.hpp"

namespace starling::stencil {

// Of a block, so that a thread has the registers for all steps of a pass.
inline constexpr int temporal_most_threads = 384;
// Steps of a pass at most.
inline constexpr int temporal_most_depth = 8;

template <class T>
struct temporal_arguments : persistent_run {
  fields<T> f;
  strip_layout layout;
  sym<T> cells[2];  // in the layout; passes read one and write the other
};

// Ends with the cells in the array of the time level that it reached.
template <class T>
kernel temporal_kernel(const temporal_arguments<T>& arguments);

// What block::scratch gives out in it, for blocks of so many threads (1 on virtual devices).
template <class T>
std::size_t temporal_scratch(int threads);

}  // namespace starling::stencil
