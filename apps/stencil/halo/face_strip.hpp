// The cells of a face that a thread makes at once: some that follow one another in the numbering of the face. What they
// need of this PE's memory is loaded when a strip is made, before a packet is awaited, so that the loads run meanwhile;
// `finish` computes and keeps them, and returns what the neighbour wants.
#pragma once

#include <type_traits>

#include "stencil/step/sweep.hpp"

namespace starling::stencil {

template <class T, int Width>
struct alignas(Width * sizeof(T)) strip_values {
  T cell[Width];
};

// Of any face: cells may lie in several rows or on other faces too, and the last strip may end before its width does.
template <class T, int Dimensions, int Axis, int Width>
class scattered_strip {
 public:
  using values = strip_values<T, Width>;
  static constexpr int width = Width;

  // From cell `first` of the face on; `cells` are those that the caller may ask for.
  STARLING_HD scattered_strip(const sweep<T, Dimensions>& s, int side, index_range cells, index_t first)
      : sweep_(s), side_(side), count_(cells.end - first) {
    unrolled<Width>([&](auto e) {
      cells_[e] = s.template cell_of<Axis>(side, e < count_ ? first + e : first);
      around_[e] = s.gather(cells_[e]);
    });
  }

  // `beyond` are the neighbour's cells across the face, received(face, i) gives those across other faces.
  template <class Received>
  STARLING_HD values finish(const values& beyond, const Received& received, T& change) const {
    values made{};
    unrolled<Width>([&](auto e) {
      if (e < count_)
        made.cell[e] = sweep_.template finish<Axis>(side_, cells_[e], around_[e], beyond.cell[e], received, change);
    });
    return made;
  }

 private:
  const sweep<T, Dimensions>& sweep_;
  int side_;
  index_t count_;
  typename sweep<T, Dimensions>::face_cell cells_[Width];
  typename sweep<T, Dimensions>::neighbourhood around_[Width];
};

// Of a face whose rows are rows of the array, a multiple of Width long, and none of whose cells is on another face: one
// vector, as in column_stream.hpp.
template <class T, int Dimensions, int Axis, int Width>
class row_strip {
  static_assert(Axis != 2);

 public:
  using values = strip_values<T, Width>;
  static constexpr int width = Width;

  STARLING_HD row_strip(const sweep<T, Dimensions>& s, int side, index_range, index_t first) : sweep_(s), side_(side) {
    const box& own = s.own();
    const cell c = own.template face_cell<Axis>(side, first);
    const index_t x = c.at[2];
    at_ = s.offset(c);
    if (s.computes() && within(own.updated[across], c.at[across])) {
      from_ = own.updated[2].begin > x ? static_cast<int>(own.updated[2].begin - x) : 0;
      to_ = own.updated[2].end - x < Width ? static_cast<int>(own.updated[2].end - x) : Width;
    }
    const T* in = s.in() + at_;
    centre_ = load(in);
    if (from_ >= to_) return;
    inward_ = load(side == 0 ? in + s.stride(Axis) : in - s.stride(Axis));
    if constexpr (Dimensions == 3) {
      low_ = load(in - s.stride(across));
      high_ = load(in + s.stride(across));
    }
    west_ = in[x > 0 ? -1 : 0];
    east_ = in[x + Width < own.extent[2] ? Width : Width - 1];
  }

  template <class Received>
  STARLING_HD values finish(const values& beyond, const Received&, T& change) const {
    values made;
    unrolled<Width>([&](auto k) {
      constexpr int i = decltype(k)::value;
      const T made_here = relaxed<Dimensions>(sweep_.weight(), around<i>(beyond));
      made.cell[i] = i >= from_ && i < to_ ? made_here : centre_.cell[i];
      if (sweep_.checks()) note_difference(centre_.cell[i], made.cell[i], change);
    });
    *reinterpret_cast<values*>(sweep_.out() + at_) = made;
    return made;
  }

 private:
  // The other axis of the face beside x.
  static constexpr int across = box::slow_axis(Axis);

  STARLING_HD static bool within(index_range r, index_t i) { return i >= r.begin && i < r.end; }
  STARLING_HD static values load(const T* p) { return *reinterpret_cast<const values*>(p); }

  template <int I>
  STARLING_HD surroundings<T> around(const values& beyond) const {
    const T low = side_ == 0 ? beyond.cell[I] : inward_.cell[I];
    const T high = side_ == 0 ? inward_.cell[I] : beyond.cell[I];
    surroundings<T> r{};
    r.centre = centre_.cell[I];
    r.below = Axis == 0 ? low : low_.cell[I];
    r.above = Axis == 0 ? high : high_.cell[I];
    r.north = Axis == 0 ? low_.cell[I] : low;
    r.south = Axis == 0 ? high_.cell[I] : high;
    if constexpr (I == 0)
      r.west = west_;
    else
      r.west = centre_.cell[I - 1];
    if constexpr (I + 1 == Width)
      r.east = east_;
    else
      r.east = centre_.cell[I + 1];
    return r;
  }

  const sweep<T, Dimensions>& sweep_;
  int side_;
  index_t at_;
  int from_ = 0;  // of the strip, cells [from, to) are computed
  int to_ = 0;
  values centre_{};
  values inward_{};  // next to the face, in this PE
  values low_{};     // along the other axis
  values high_{};
  T west_{};
  T east_{};
};

// Calls f(strip) with the type of strip for a face across an axis known only at run time, as a std::type_identity: rows
// of RowWidth cells where the face has such, or any ScatteredWidth cells.
template <class T, int Dimensions, int RowWidth, int ScatteredWidth, class F>
STARLING_HD void with_strips(int axis, bool in_rows, const F& f) {
  with_axis<Dimensions>(axis, [&](auto a) {
    constexpr int Axis = decltype(a)::value;
    if constexpr (Axis != 2) {
      if (in_rows) return f(std::type_identity<row_strip<T, Dimensions, Axis, RowWidth>>());
    }
    f(std::type_identity<scattered_strip<T, Dimensions, Axis, ScatteredWidth>>());
  });
}

}  // namespace starling::stencil
