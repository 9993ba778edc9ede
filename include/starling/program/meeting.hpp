// How the blocks of a PE meet in a generated program.
#pragma once

#include "starling/device/block.hpp"

namespace starling::generated {

// All blocks of the PE; of one block, its threads.
STARLING_HD inline void meet(block& b, where at = where::current()) {
  if (b.blocks_per_pe() > 1)
    b.sync_pe(at);
  else
    b.sync();
}

// What a block leaves for the others of its PE, for reductions: two sets, so that one meeting a reduction is enough.
struct slot {
  alignas(8) std::byte bytes[8];
};

template <class T>
STARLING_HD T& as(slot& s) {
  return *reinterpret_cast<T*>(&s);
}

// Combines one value per thread over the blocks of this PE, in the order of the blocks. Every block gets the result.
template <class T, class Op>
STARLING_HD T reduce_pe(block& b, sym<slot> slots, int& round, const T& value, Op op, where at = where::current()) {
  const T mine = b.reduce(value, op, at);
  if (b.blocks_per_pe() == 1) return mine;
  slot* set = slots.on(b.pe()) + round % 2 * b.blocks_per_pe();
  ++round;
  if (b.member() == 0) as<T>(set[b.index()]) = mine;
  b.sync_pe(at);
  T sum = as<T>(set[0]);
  for (int i = 1; i < b.blocks_per_pe(); ++i) sum = op(sum, as<T>(set[i]));
  return sum;
}

// The same over all blocks of all PEs.
template <class T, class Op>
STARLING_HD T reduce_all(block& b, const T& value, Op op, where at = where::current()) {
  return b.all_reduce(b.reduce(value, op, at), op, at);
}

}  // namespace starling::generated
