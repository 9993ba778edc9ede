// Tasks that change all elements of data or of a part of it, by where the element lies in the whole.
#pragma once

#include "starling/stf/context.hpp"
#include "support/random.hpp"

namespace starling::test {

// One of so many devices, or the host.
inline stf::exec_place anywhere(random& r, int n_pes) {
  const auto pe = static_cast<int>(r.below(n_pes + 1));
  return pe == n_pes ? stf::exec_place::host() : stf::exec_place::device(pe);
}

// Below a million, so that it can be done again and again.
constexpr std::int64_t changed(std::int64_t x, std::int64_t by) { return (3 * x + by) % 1'000'003; }

// x = changed(x, 1000 i + what), with i the row of the whole: told where the part begins.
inline void change(stf::context& ctx, const stf::exec_place& where,
                   const stf::logical_data<stf::slice<std::int64_t, 2>>& d, index_t first, std::int64_t what) {
  ctx.parallel_for(where, d.shape(), d.rw())->*STARLING_KERNEL(index_t i, index_t j, stf::slice<std::int64_t, 2> x) {
    x(i, j) = changed(x(i, j), 1000 * (first + i) + what);
  };
}

}  // namespace starling::test
