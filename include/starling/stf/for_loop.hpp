// The coordinates of any shape, partitioned among blocks and their threads. Every block has a contiguous part, whose
// sizes differ by at most a warp's width; the threads take turns in it, so that neighbours touch neighbours. No
// division for each element where the shape is a box or a part of one.
#pragma once

#include "starling/device/block.hpp"
#include "starling/stf/sub_shape.hpp"

namespace starling::stf {

namespace detail {

// Numbers of coordinates are handed out in runs of so many, that blocks start where memory transactions do.
inline constexpr index_t run = 32;

STARLING_HD constexpr index_range part_of_block(index_t n, index_t blocks, index_t which) {
  const index_range runs = share(ceil_div(n, run), blocks, which);
  const index_t end = runs.end * run;
  return {runs.begin * run < n ? runs.begin * run : n, end < n ? end : n};
}

template <class Shape>
concept walkable = requires(const Shape& s) { s.walk(0, 1, 1); };

// Rows are plain loops, so that the compiler can use vector instructions.
template <int Rank, class F>
void visit_rows(const box<Rank>& s, index_range r, const F& f) {
  coords<Rank> c = s.index_to_coords(r.begin);
  for (index_t i = r.begin; i < r.end;) {
    const index_t start = c[Rank - 1];
    const index_t left = s.upper(Rank - 1) - start;
    const index_t stop = start + (left < r.end - i ? left : r.end - i);
    for (index_t x = start; x < stop; ++x) {
      c[Rank - 1] = x;
      f(c);
    }
    i += stop - start;
    c[Rank - 1] = s.lower(Rank - 1);
    for (int d = Rank - 2; d >= 0 && ++c[d] == s.upper(d); --d) c[d] = s.lower(d);
  }
}

template <int Rank, class F>
void visit_rows(const column_box<Rank>& s, index_range r, const F& f) {
  visit_rows(s.turned(), r, [&](const coords<Rank>& c) { f(s.turned(c)); });
}

// Coordinates number r.begin to r.end by one thread.
template <class Shape, class F>
void visit_alone(const Shape& s, index_range r, const F& f) {
  if (r.empty()) return;
  if constexpr (requires { visit_rows(s, r, f); }) {
    visit_rows(s, r, f);
  } else if constexpr (walkable<Shape>) {
    for (const auto c : s.walk(r.begin, 1, r.size())) f(c);
  } else {
    for (index_t i = r.begin; i < r.end; ++i) f(s.index_to_coords(i));
  }
}

// Coordinates number r.begin to r.end by `members` threads that take turns.
template <class Shape, class F>
STARLING_HD void visit_in_turn(const Shape& s, index_range r, index_t member, index_t members, const F& f) {
  if constexpr (walkable<Shape> && Shape::rank() == 1) {
    const index_t first = (*s.walk(0, 1, 1).begin())[0];
    const index_t unit = (*s.walk(1, 1, 1).begin())[0] - first;
    const index_t step = unit * members;
    index_t x = first + unit * (r.begin + member);
    const index_t end = first + unit * r.end;
    // Four at a time, so that a thread has several loads under way.
    for (; x + 3 * step < end; x += 4 * step) unrolled<4>([&](auto k) { f(coords<1>{{x + k * step}}); });
    for (; x < end; x += step) f(coords<1>{{x}});
  } else if constexpr (walkable<Shape>) {
    const index_t n = r.size() > member ? (r.size() - member - 1) / members + 1 : 0;
    for (const auto c : s.walk(r.begin + member, members, n)) f(c);
  } else {
    for (index_t i = r.begin + member; i < r.end; i += members) f(s.index_to_coords(i));
  }
}

template <class Shape, class F>
STARLING_HD void visit(const block& b, const Shape& s, index_range r, const F& f) {
  if constexpr (target::on_gpu) {
    visit_in_turn(s, r, b.member(), b.members(), f);
  } else if constexpr (target::checked) {
    if (b.members() > 1) return visit_in_turn(s, r, b.member(), b.members(), f);
    b.lanes().visit(r, [&](index_t i) { f(s.index_to_coords(i)); });
  } else {
    visit_alone(s, r, f);
  }
}

}  // namespace detail

// f(coordinates) for this block's part of a shape, which all blocks of the launch share.
template <shape_like Shape, class F>
STARLING_HD void for_each_of(const block& b, const Shape& s, const F& f) {
  const index_range mine = detail::part_of_block(s.size(), b.blocks_per_pe(), b.index());
  if constexpr (requires { s.piece(0); }) {
    const index_t each = s.pieces() > 0 ? s.piece(0).size() : 1;  // all but the last are as large
    for (index_t p = mine.empty() ? 0 : mine.begin / each; p * each < mine.end; ++p) {
      const index_t before = p * each;
      const auto piece = s.piece(p);
      const index_range inside{mine.begin > before ? mine.begin - before : 0,
                               mine.end - before < piece.size() ? mine.end - before : piece.size()};
      detail::visit(b, piece, inside, f);
    }
  } else {
    detail::visit(b, s, mine, f);
  }
}

}  // namespace starling::stf
