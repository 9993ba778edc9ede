// Some rows of a vector at once: a GPU's thread then moves 16 bytes with each instruction, and has the loads of all
// vectors in flight before it stores anything. Neighbouring threads move neighbouring 16 bytes, so that shared memory
// has no conflicts; what a thread moves with another instruction lies further on. Formulas over packs read like those
// over numbers.
//
// A block's rows begin at a multiple of `pack_rows`, and vectors are zero behind a PE's last row up to such a multiple,
// so that no pack needs a look at where it ends.
#pragma once

#include "starling/device/block.hpp"

namespace starling::sparse {

inline constexpr int pack_rows = 4;
// How many of them a thread does at once: one on a virtual device, whose compiler makes vectors by itself.
inline constexpr int rows_at_once = target::on_gpu ? pack_rows : 1;

template <class T>
struct pack {
  T row[rows_at_once];

  template <class F>
  STARLING_HD static pack of(const F& f) {
    pack p = {};
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

// Where a pack lies: in each vector of the same type, in the same rows.
struct row_place {
  int number;  // among the packs of a group's rows
  int packs;

  template <class T>
  STARLING_HD pack<T> load(const T* v) const {
    if constexpr (target::on_gpu) {
      words<T> bits = {};
      unrolled<words<T>::count>([&](auto i) { bits.word[i] = target::load16(word_of(v, i)); });
      return std::bit_cast<pack<T>>(bits);
    } else {
      return {{v[number]}};
    }
  }
  template <class T>
  STARLING_HD void store(T* v, const pack<T>& p) const {
    if constexpr (target::on_gpu) {
      const auto bits = std::bit_cast<words<T>>(p);
      unrolled<words<T>::count>([&](auto i) { target::store16(word_of(v, i), bits.word[i]); });
    } else {
      v[number] = p.row[0];
    }
  }

 private:
  template <class T>
  struct words {
    static constexpr int count = sizeof(pack<T>) / sizeof(target::vector16);
    target::vector16 word[count];
  };
  STARLING_HD const target::vector16* word_of(const void* v, int i) const {
    return static_cast<const target::vector16*>(v) + (number + i * packs);
  }
  STARLING_HD target::vector16* word_of(void* v, int i) const {
    return static_cast<target::vector16*>(v) + (number + i * packs);
  }
};

// f(place) for n rows, over the threads of a group.
template <class Group, class F>
STARLING_HD void each_pack(const Group& g, index_t n, const F& f) {
  if constexpr (target::on_gpu) {
    const int packs = static_cast<int>((n + pack_rows - 1) / pack_rows);
    for (int i = g.member(); i < packs; i += g.members()) f(row_place{i, packs});
  } else if (target::checked && g.members() > 1) {
    // Packs to threads as on a GPU, where others than in for_each over rows have a row.
    for (index_t i = pack_rows * index_t{g.member()}; i < n; i += pack_rows * index_t{g.members()})
      for (index_t row = i; row < n && row < i + pack_rows; ++row)
        f(row_place{static_cast<int>(row), static_cast<int>(n)});
  } else {
    const int rows = static_cast<int>(n);
    g.for_each(n, [&](index_t i) { f(row_place{static_cast<int>(i), rows}); });
  }
}

}  // namespace starling::sparse
