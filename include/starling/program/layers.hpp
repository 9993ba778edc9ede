// Who owns what of the arrays of a generated program: the layers of an axis are shared out to PEs, those of a PE to its
// blocks, so that a block finds in its own layers what it has written. Plain numbers; all constexpr.
#pragma once

#include "starling/device/block.hpp"

namespace starling::generated {

STARLING_HD constexpr index_t least(index_t a, index_t b) { return a < b ? a : b; }
STARLING_HD constexpr index_t most(index_t a, index_t b) { return a > b ? a : b; }

// The layers of an axis that belong to this PE, and of these those of this block.
struct layers {
  index_range pe;
  index_range mine;

  // Values of a parameter from begin to end - 1 for which layer scale * parameter + shift is of this block.
  STARLING_HD constexpr index_range of(index_t begin, index_t end, index_t shift, index_t scale = 1) const {
    return {most(begin, round_down_up(mine.begin - shift, scale)), least(end, round_down_up(mine.end - shift, scale))};
  }
  STARLING_HD constexpr bool has(index_t layer) const { return layer >= mine.begin && layer < mine.end; }
  STARLING_HD constexpr bool has_first() const { return mine.begin == pe.begin && !mine.empty(); }
  STARLING_HD constexpr bool has_last() const { return mine.end == pe.end && !mine.empty(); }
  // Whether a block that reads layers from `low` below its own to `high` above may read this one.
  STARLING_HD constexpr bool sees(index_t layer, index_t low, index_t high) const {
    return !mine.empty() && layer >= mine.begin - low && layer < mine.end + high;
  }

 private:
  // a / scale, rounded up.
  STARLING_HD static constexpr index_t round_down_up(index_t a, index_t scale) {
    return a >= 0 ? (a + scale - 1) / scale : -(-a / scale);
  }
};

// Of n layers those of a block. Blocks that have one more than others stand in the middle: those at the ends have halos
// to send, too.
STARLING_HD constexpr index_range share_of_block(index_t n, index_t blocks, index_t which) {
  const index_t each = n / blocks, more = n % blocks, first = (blocks - more) / 2;
  const auto begin = [&](index_t k) { return k * each + most(0, least(k - first, more)); };
  return {begin(which), begin(which + 1)};
}

// Of an axis that every PE has all of.
template <class Block>
STARLING_HD layers layers_of_all(const Block& b, index_t length) {
  return {{0, length}, share_of_block(length, b.blocks_per_pe(), b.index())};
}

}  // namespace starling::generated
