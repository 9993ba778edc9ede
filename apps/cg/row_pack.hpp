// Some rows of a vector at once: a GPU's thread then has the loads of all of them in flight before it stores anything.
// Formulas over packs read like those over numbers.
#pragma once

#include "starling/device/block.hpp"

namespace starling::cg {

inline constexpr int rows_at_once = target::on_gpu ? 4 : 1;

template <class T>
struct pack {
  T row[rows_at_once];

  template <class F>
  STARLING_HD static pack of(const F& f) {
    pack p;
    unrolled<rows_at_once>([&](auto e) { p.row[e] = f(e); });
    return p;
  }

  friend STARLING_HD pack operator+(const pack& a, const pack& b) {
    return of([&](auto e) { return a.row[e] + b.row[e]; });
  }
  friend STARLING_HD pack operator-(const pack& a, const pack& b) {
    return of([&](auto e) { return a.row[e] - b.row[e]; });
  }
  friend STARLING_HD pack operator*(T a, const pack& b) {
    return of([&](auto e) { return a * b.row[e]; });
  }
  friend STARLING_HD pack operator*(const pack& a, const pack& b) {
    return of([&](auto e) { return a.row[e] * b.row[e]; });
  }
};

// Where a pack lies: rows first, first + step, ... as far as they are below the end.
struct row_places {
  index_t first;
  index_t step;
  index_t end;

  STARLING_HD bool there(int e) const { return first + e * step < end; }

  // Rows that are not there count as zero.
  template <class T>
  STARLING_HD pack<T> load(const T* v) const {
    return pack<T>::of([&](auto e) { return there(e) ? v[first + e * step] : T{0}; });
  }
  template <class T>
  STARLING_HD void store(T* v, const pack<T>& p) const {
    unrolled<rows_at_once>([&](auto e) {
      if (there(e)) v[first + e * step] = p.row[e];
    });
  }
};

// f(places) for n rows, over the threads of a group.
template <class Group, class F>
STARLING_HD void each_rows(const Group& g, index_t n, const F& f) {
  if constexpr (target::on_gpu) {
    const index_t step = g.members();
    for (index_t i = g.member(); i < n; i += rows_at_once * step) f(row_places{i, step, n});
  } else {
    g.for_each(n, [&](index_t i) { f(row_places{i, 1, i + 1}); });
  }
}

}  // namespace starling::cg
