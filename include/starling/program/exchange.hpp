// Halos of a generated program: a box at an edge of a PE's part goes to a neighbour, with a signal. Made by the blocks
// that own its layers, which are also those that read the halo on that side.
#pragma once

#include "starling/program/array.hpp"
#include "starling/program/pe_grid.hpp"

namespace starling::generated {

// Elements `from`, ... of an array, `count` along each axis.
template <int Rank>
struct box {
  index_t from[Rank];
  index_t count[Rank];
};

namespace detail {

// A block for a call out of line. On GPUs the callee makes it anew from its parts: a reference to the caller's would
// keep that one in memory, from which every look at a signal would then load it. Programs along two axes have no
// registers to spare for that: their strips take the reference.
class block_parts {
 public:
  STARLING_HD explicit block_parts(block& b)
      : whole_(target::on_gpu ? nullptr : &b), state_(&b.state()), kind_(b.kind()) {}

  template <class F>
  STARLING_HD void with_block(const F& f) const {
    if constexpr (target::on_gpu) {
      block made(*state_, kind_);
      f(made);
    } else {
      f(*whole_);
    }
  }

 private:
  block* whole_;
  const program_state* state_;
  target::entry_kind kind_;
};

// Calls out of line: the loops over elements, in the same kernel, then have the registers that these would take.
template <class T>
__attribute__((noinline)) STARLING_HD void put_run(block_parts parts, sym<T> to, const T* source, index_t n, int pe,
                                                   where at) {
  parts.with_block([&](block& b) { b.put(to, source, n, pe, at); });
}

template <class T>
__attribute__((noinline)) STARLING_HD void put_run_signal(block_parts parts, sym<T> to, const T* source, index_t n,
                                                          sym<signal> sig, std::uint64_t value, int pe, where at) {
  parts.with_block([&](block& b) { b.put_signal(to, source, n, sig, value, pe, signal_op::set, at); });
}

// Columns of n elements each, `stride` apart, at both ends.
template <class T>
__attribute__((noinline)) STARLING_HD void put_strips(block& b, sym<T> to, const T* source, index_t stride, index_t n,
                                                      index_t columns, int pe, where at) {
  for (index_t k = 0; k < columns; ++k) b.iput(to + k, stride, source + k, stride, n, pe, at);
}

__attribute__((noinline)) STARLING_HD inline void signal_after(block_parts parts, sym<signal> sig, std::uint64_t value,
                                                               int pe, where at) {
  parts.with_block([&](block& b) {
    b.fence();
    b.signal_set(sig, value, pe, at);
  });
}

template <class T>
__attribute__((noinline)) STARLING_HD void put_strips_signal(block& b, sym<T> to, const T* source, index_t stride,
                                                             index_t n, index_t columns, sym<signal> sig,
                                                             std::uint64_t value, int pe, where at) {
  for (index_t k = 0; k < columns; ++k) b.iput(to + k, stride, source + k, stride, n, pe, at);
  b.fence();
  b.signal_set(sig, value, pe, at);
}

// f(offset) for each of the pieces of a box along its first `Axes` axes.
template <int Axes, class T, int Rank, class F>
STARLING_HD void for_each_piece(const array<T, Rank>& a, const box<Rank>& x, const F& f) {
  index_t pieces = 1;
  for (int k = 0; k < Axes; ++k) pieces *= x.count[k];
  for (index_t piece = 0; piece < pieces; ++piece) {
    index_t rest = piece;
    index_t offset = 0;
    for (int k = Axes - 1; k >= 0; --k) {
      offset += rest % x.count[k] * a.stride(k);
      rest /= x.count[k];
    }
    f(offset);
  }
}

}  // namespace detail

// A box to the same elements at `pe`, whose memory begins with element `first`; then the signal. `Last`: the last axis
// along which the box is not all of the array. One put where it lies in one piece.
template <int Last, class T, int Rank>
STARLING_HD void put_box(block& b, const array<T, Rank>& a, const box<Rank>& x, const index_t (&first)[Rank],
                         sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) {
  const detail::block_parts parts(b);
  const index_t run = x.count[Last] * a.stride(Last);
  const sym<T> to = a.at_part(first, x.from);
  const T* source = a.address(x.from);
  bool one = true;
  for (int k = 0; k < Last; ++k) one = one && x.count[k] == 1;
  if (one) return detail::put_run_signal(parts, to, source, run, sig, value, pe, at);
  detail::for_each_piece<Last>(a, x, [&](index_t k) { detail::put_run(parts, to + k, source + k, run, pe, at); });
  detail::signal_after(parts, sig, value, pe, at);
}

// The same of a box that is thin along the last axis: one strided put for each of its columns.
template <class T, int Rank>
STARLING_HD void put_columns(block& b, const array<T, Rank>& a, const box<Rank>& x, const index_t (&first)[Rank],
                             sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) {
  static_assert(Rank > 1);
  const index_t stride = a.stride(Rank - 2);
  const sym<T> to = a.at_part(first, x.from);
  const T* source = a.address(x.from);
  const index_t n = x.count[Rank - 2];
  const index_t columns = x.count[Rank - 1];
  if constexpr (Rank == 2) return detail::put_strips_signal(b, to, source, stride, n, columns, sig, value, pe, at);
  detail::for_each_piece<Rank - 2>(
      a, x, [&](index_t k) { detail::put_strips(b, to + k, source + k, stride, n, columns, pe, at); });
  detail::signal_after(detail::block_parts(b), sig, value, pe, at);
}

// Waits for the signals of this block and of `reach` more to either side, which stand one after the other.
STARLING_HD inline void wait_blocks(block& b, sym<signal> signals, std::uint64_t value, int pe, int reach,
                                    where at = where::current()) {
  const index_t begin = most(b.index() - reach, 0);
  const index_t end = least(b.index() + reach + 1, b.blocks_per_pe());
  b.wait_all(signals + begin, end - begin, value, pe, at);
}

}  // namespace starling::generated
