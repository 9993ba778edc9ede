// Halos of a generated program: layers at the ends of a PE's part go to its neighbours. Made by the block that owns
// these layers, which is also the one that reads the halo on that side.
#pragma once

#include "starling/program/array.hpp"
#include "starling/program/layers.hpp"

namespace starling::generated {

// `width` layers from number `from` on, along the array's split axis, to the same numbers at `pe`, whose part
// begins with number `first`; then the signal. One put where they lie in one piece.
template <class T, int Rank, int Axis>
STARLING_HD void put_layers(block& b, const array<T, Rank, Axis>& a, index_t from, index_t width, index_t first,
                            sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) {
  index_t outer = 1;
  for (int k = 0; k < Axis; ++k) outer *= a.extent(k);
  const index_t inner = a.stride(Axis);
  const index_t apart = a.extent(Axis) * inner;
  const sym<T> to = a.at(first) + from * inner;
  const T* source = a.start() + from * inner;
  if (outer == 1) {
    b.put_signal(to, source, width * inner, sig, value, pe, signal_op::set, at);
    return;
  }
  for (index_t k = 0; k < outer; ++k) b.put(to + k * apart, source + k * apart, width * inner, pe, at);
  b.fence();
  b.signal_set(sig, value, pe, at);
}

// The number of the first layer that a PE's memory holds, halo included.
STARLING_HD inline index_t first_layer(index_t length, int n_pes, int pe, index_t shift, index_t low) {
  return share(length, n_pes, pe).begin - shift - low;
}

}  // namespace starling::generated
