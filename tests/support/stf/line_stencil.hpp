// Steps of a stencil on a line that is split with a halo, and the same by a plain loop: sums of `width` neighbours on
// both sides, which there are round the ends or not.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "starling/stf/context.hpp"

namespace starling::test {

struct line_stencil {
  index_t n = 0;
  index_t width = 1;
  bool periodic = false;

  using parts = stf::split_data<stf::slice<std::int64_t>>;

  stf::halo around() const { return {width, periodic}; }
  STARLING_HD bool has(index_t k) const { return periodic || (k >= 0 && k < n); }

  // Part i of v from u.
  void step(stf::context& ctx, const stf::exec_place& where, const parts& u, const parts& v, int i) const;
  std::vector<std::int64_t> step(const std::vector<std::int64_t>& u) const;
};

inline void line_stencil::step(stf::context& ctx, const stf::exec_place& where, const parts& u, const parts& v,
                               int i) const {
  const index_t first = u.box(i).lower(0);
  const index_t before = first - u.box_with_halo(i).lower(0);
  const line_stencil s = *this;
  ctx.parallel_for(where, v[i].shape(), u.with_halo(i), v[i].write())
          ->*STARLING_KERNEL(index_t k, stf::slice<const std::int64_t> in, stf::slice<std::int64_t> out) {
    std::int64_t sum = 0;
    for (index_t w = -s.width; w <= s.width; ++w)
      if (s.has(first + k + w)) sum += (w + s.width + 1) * in(before + k + w);
    out(k) = sum % 1000;
  };
}

inline std::vector<std::int64_t> line_stencil::step(const std::vector<std::int64_t>& u) const {
  std::vector<std::int64_t> next(u.size());
  for (index_t k = 0; k < n; ++k) {
    std::int64_t sum = 0;
    for (index_t w = -width; w <= width; ++w)
      if (has(k + w)) sum += (w + width + 1) * u[static_cast<std::size_t>((k + w + n) % n)];
    next[static_cast<std::size_t>(k)] = sum % 1000;
  }
  return next;
}

}  // namespace starling::test
