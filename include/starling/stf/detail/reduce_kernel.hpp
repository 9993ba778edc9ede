// The steps by which the threads' values of a loop become one: threads of a block, then blocks in their order. The
// block that finishes last does the second step where the plan says so; otherwise finish_kernel, after the loop.
#pragma once

#include "starling/device/block.hpp"
#include "starling/stf/detail/pack.hpp"
#include "starling/stf/reducer.hpp"

namespace starling::stf {

template <class Arg>
inline constexpr bool is_accumulator = false;
template <class T, class Op>
inline constexpr bool is_accumulator<accumulator<T, Op>> = true;
template <class... Args>
inline constexpr bool has_accumulators = (is_accumulator<Args> || ...);

namespace detail {

// A value in words that a shuffle can move.
template <class T>
struct alignas(alignof(T) < 4 ? 4 : alignof(T)) in_words {
  T value;
};

template <class T, class Op>
STARLING_HD T reduce_threads(block& b, const T& value, const Op& op) {
  auto combine = [op](const in_words<T>& x, const in_words<T>& y) { return in_words<T>{op(x.value, y.value)}; };
  return b.reduce(in_words<T>{value}, combine).value;
}

// The memory of partials: the count of blocks that have finished, then a value of each block.
template <class T>
STARLING_HD T& partial(void* partials, int block) {
  return *reinterpret_cast<T*>(static_cast<std::byte*>(partials) + (1 + block) * target::reduce_slot_bytes);
}

template <class T, class Op>
STARLING_HD void* partials_of(const accumulator<T, Op>& a) {
  return a.partials;
}
template <class Arg>
STARLING_HD void* partials_of(const Arg&) {
  return nullptr;
}

template <class T, class Op>
STARLING_HD void give(const block& b, const accumulator<T, Op>& a, const T& value) {
  if (b.member() == 0) *a.result = a.keep ? a.op(*a.result, value) : value;
}

}  // namespace detail

// Whether an accumulator has its memory; other arguments need none.
template <class Arg>
bool complete(const Arg&) {
  return true;
}
template <class T, class Op>
bool complete(const accumulator<T, Op>& a) {
  return a.result != nullptr && a.partials != nullptr;
}

// The block's value, into its place; by all its threads.
template <class T, class Op>
STARLING_HD void leave_value(block& b, const accumulator<T, Op>& a, const T& mine) {
  const T value = detail::reduce_threads(b, mine, a.op);
  if (b.blocks_per_pe() == 1)
    detail::give(b, a, value);
  else if (b.member() == 0)
    detail::partial<T>(a.partials, b.index()) = value;
}

// The partials whose counter the loop uses: the first accumulator's.
template <class... Args>
STARLING_HD void* first_partials(const Args&... args) {
  void* found = nullptr;
  ((found = found != nullptr ? found : detail::partials_of(args)), ...);
  return found;
}

// Whether this block is the last one to have left its values. Never on virtual devices, whose blocks share no counter.
STARLING_HD inline bool last_to_finish(block& b, bool wanted, void* partials) {
  if (!target::on_gpu || !wanted || b.blocks_per_pe() == 1) return false;
  auto& finished = *static_cast<std::uint32_t*>(partials);
  std::uint32_t before = 0;
  if (b.member() == 0) before = gpu::device_atomic(finished).fetch_add(1, cuda::memory_order_acq_rel);
  if (b.first(before) + 1 != static_cast<std::uint32_t>(b.blocks_per_pe())) return false;
  if (b.member() == 0) finished = 0;  // for the next loop
  return true;
}

// Combines the blocks' values; by all threads of one block.
template <class T, class Op>
STARLING_HD void finish(block& b, const accumulator<T, Op>& a, int blocks) {
  T sum = reducer::identity_of<Op, T>(a.op);
  for (int i = b.member(); i < blocks; i += b.members()) sum = a.op(sum, detail::partial<T>(a.partials, i));
  detail::give(b, a, detail::reduce_threads(b, sum, a.op));
}
template <class Arg>
STARLING_HD void finish(block&, const Arg&, int) {}

// After a loop of `blocks` blocks that left the last step to another kernel. One block.
template <class... Args>
struct finish_kernel {
  pack<Args...> args;
  int blocks;

  STARLING_HD void operator()(block& b) const { run(b, std::index_sequence_for<Args...>()); }

 private:
  template <std::size_t... I>
  STARLING_HD void run(block& b, std::index_sequence<I...>) const {
    (finish(b, get<I>(args), blocks), ...);
  }
};

// The values of several places, one after another in memory, into an accumulator's result, in that order.
template <class T, class Op>
struct combine_kernel {
  accumulator<T, Op> total;
  const T* values;
  int count;

  STARLING_HD void operator()(block& b) const {
    if (b.member() != 0) return;
    T sum = total.keep ? *total.result : reducer::identity_of<Op, T>(total.op);
    for (int i = 0; i < count; ++i) sum = total.op(sum, values[i]);
    *total.result = sum;
  }
};

}  // namespace starling::stf
