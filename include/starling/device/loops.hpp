// for_each: spreads a range over the threads of a group. On a virtual device a group is one thread and for_each is the
// plain loop. No division per element in any dimension: threads form a tile whose sides are powers of two.
#pragma once

#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/target.hpp"

namespace starling {

// f(0), f(1), ... f(N - 1) with each number as a compile-time constant: a loop that is certainly unrolled, so that
// arrays indexed in it can live in registers.
template <int N, class F>
STARLING_HD void unrolled(const F& f) {
  if constexpr (N > 0) {
    unrolled<N - 1>(f);
    f(std::integral_constant<int, N - 1>());
  }
}

// f(n), Low <= n <= High, with n as a compile-time constant; found by halving, so that few branches are taken.
template <int Low, int High, class F>
STARLING_HD void with_constant(int n, const F& f) {
  if constexpr (Low == High) {
    f(std::integral_constant<int, Low>());
  } else {
    constexpr int middle = Low + (High - Low) / 2;
    if (n <= middle)
      with_constant<Low, middle>(n, f);
    else
      with_constant<middle + 1, High>(n, f);
  }
}

// The tile: x fastest. Sides multiply to the number of threads when that is a power of two; left-over threads idle.
struct thread_tile {
  index_t x, y, z;     // this thread
  index_t nx, ny, nz;  // sides; nx = 0: this thread has no place in the tile

  STARLING_HD static int side(index_t extent, int threads) {
    int s = 1 << target::log2_floor(static_cast<std::uint32_t>(threads));
    while (s > 1 && s / 2 >= extent) s /= 2;
    return s;
  }

  STARLING_HD thread_tile(int member, int members, index_t ex, index_t ey) {
    const int sx = side(ex, members);
    const int lx = target::log2_floor(static_cast<std::uint32_t>(sx));
    const int sy = side(ey, members >> lx);
    const int ly = target::log2_floor(static_cast<std::uint32_t>(sy));
    const int sz = 1 << target::log2_floor(static_cast<std::uint32_t>(members >> (lx + ly)));
    x = member & (sx - 1);
    y = (member >> lx) & (sy - 1);
    z = member >> (lx + ly);
    nx = z < sz ? sx : 0;
    ny = sy;
    nz = sz;
  }
};

// Mixin for groups: Self has member() and members().
template <class Self>
class loops {
 public:
  // f(i) for 0 <= i < n. No order among elements, no barrier at the end.
  template <class F>
  STARLING_HD void for_each(index_t n, F&& f) const {
    for_each(index_range{0, n}, f);
  }

  template <class F>
  STARLING_HD void for_each(index_range r, F&& f) const {
    if constexpr (target::on_gpu) {
      for (index_t i = r.begin + self().member(); i < r.end; i += self().members()) f(i);
    } else if constexpr (target::checked) {
      if (self().members() > 1)
        for (index_t i = r.begin + self().member(); i < r.end; i += self().members()) f(i);
      else
        self().lanes().visit(r, f);
    } else {
      for (index_t i = r.begin; i < r.end; ++i) f(i);
    }
  }

  // f(y, x), rows by columns, x fastest.
  template <class F>
  STARLING_HD void for_each(index_range ys, index_range xs, F&& f) const {
    if constexpr (target::on_gpu) {
      tiled(ys, xs, f);
    } else if constexpr (target::checked) {
      if (self().members() > 1) return tiled(ys, xs, f);
      const auto order = self().lanes();
      order.visit(ys, [&](index_t y) { order.visit(xs, [&](index_t x) { f(y, x); }); });
    } else {
      for (index_t y = ys.begin; y < ys.end; ++y)
        for (index_t x = xs.begin; x < xs.end; ++x) f(y, x);
    }
  }

  template <class F>
  STARLING_HD void for_each(index_t ny, index_t nx, F&& f) const {
    for_each(index_range{0, ny}, index_range{0, nx}, f);
  }

  // f(z, y, x), x fastest.
  template <class F>
  STARLING_HD void for_each(index_range zs, index_range ys, index_range xs, F&& f) const {
    if constexpr (target::on_gpu) {
      tiled(zs, ys, xs, f);
    } else if constexpr (target::checked) {
      if (self().members() > 1) return tiled(zs, ys, xs, f);
      const auto order = self().lanes();
      order.visit(
          zs, [&](index_t z) { order.visit(ys, [&](index_t y) { order.visit(xs, [&](index_t x) { f(z, y, x); }); }); });
    } else {
      for (index_t z = zs.begin; z < zs.end; ++z)
        for (index_t y = ys.begin; y < ys.end; ++y)
          for (index_t x = xs.begin; x < xs.end; ++x) f(z, y, x);
    }
  }

  template <class F>
  STARLING_HD void for_each(index_t nz, index_t ny, index_t nx, F&& f) const {
    for_each(index_range{0, nz}, index_range{0, ny}, index_range{0, nx}, f);
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  template <class F>
  STARLING_HD void tiled(index_range ys, index_range xs, F&& f) const {
    const thread_tile t(self().member(), self().members(), xs.size(), ys.size());
    // A plane has no third side: rows take it, so that all threads have work.
    const index_t step = t.ny * t.nz;
    if (t.nx == 0) return;
    for (index_t y = ys.begin + t.z * t.ny + t.y; y < ys.end; y += step)
      for (index_t x = xs.begin + t.x; x < xs.end; x += t.nx) f(y, x);
  }
  template <class F>
  STARLING_HD void tiled(index_range zs, index_range ys, index_range xs, F&& f) const {
    const thread_tile t(self().member(), self().members(), xs.size(), ys.size());
    if (t.nx == 0) return;
    for (index_t z = zs.begin + t.z; z < zs.end; z += t.nz)
      for (index_t y = ys.begin + t.y; y < ys.end; y += t.ny)
        for (index_t x = xs.begin + t.x; x < xs.end; x += t.nx) f(z, y, x);
  }
};

}  // namespace starling
