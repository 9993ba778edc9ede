// One step of a star stencil on one PE, for kernels: the inside, which needs no other PE, and the faces, which do.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/fields.hpp"

namespace starling::stencil {

// The view of one PE during the step that makes `generation`.
template <class T, int Dimensions>
struct sweep {
  const fields<T>& f;
  const box& own;
  index_t generation;
  bool compute;
  bool check;  // whether this step looks for the largest change
  int pe;

  STARLING_HD const T* before() const { return f.u[(generation - 1) % 2].on(pe); }
  STARLING_HD T* after() const { return f.u[generation % 2].on(pe); }

  // The sum in its fixed order; at(axis, side) gives the neighbours.
  template <class Neighbour>
  STARLING_HD T weigh(T centre, const Neighbour& at) const {
    T sum = f.weight.centre * centre;
    for (int a = axes - Dimensions; a < axes; ++a) {
      sum = sum + f.weight.low[a] * at(a, 0);
      sum = sum + f.weight.high[a] * at(a, 1);
    }
    return sum;
  }

  // The new value of a cell that may lie on faces.
  STARLING_HD T at_face(const cell& c) const {
    const T* in = before() + f.offset(c);
    if (!compute || !own.is_updated(c)) return *in;
    return weigh(*in, [&](int axis, int side) -> T {
      const bool outermost = c.at[axis] == (side == 0 ? 0 : own.extent[axis] - 1);
      if (!outermost) return in[side == 0 ? -f.shape.stride[axis] : f.shape.stride[axis]];
      return f.inbox.on(pe)[f.inbox_offset(2 * axis + side, generation - 1) + own.face_index(axis, c)];
    });
  }

  // What the generator of a put does for cell i of a face: computes it, keeps it if the face owns it.
  STARLING_HD T face_value(int face, index_t i, T& change) const {
    const cell c = own.face_cell(face, i);
    const T value = at_face(c);
    if (check) note_change(before()[f.offset(c)], value, change);
    if (own.owned_by_face(face, c)) after()[f.offset(c)] = value;
    return value;
  }

  STARLING_HD static void note_change(T was, T is, T& change) {
    const T difference = is > was ? is - was : was - is;
    change = maximum{}(change, difference);
  }

  // This block's part of the inside.
  STARLING_HD void inside(const block& b, index_range part_of_rows, T& change) const {
    if (!compute) return;
    const index_t rows_per_plane = own.inner[1].size();
    // Runs of rows within one plane, so that no element needs a division.
    for (index_t row = part_of_rows.begin; row < part_of_rows.end;) {
      const index_t z = row / rows_per_plane;
      const index_t first = row - z * rows_per_plane;
      const index_t left = part_of_rows.end - row;
      const index_t run = left < rows_per_plane - first ? left : rows_per_plane - first;
      const index_range ys{own.inner[1].begin + first, own.inner[1].begin + first + run};
      if (check)
        plane<true>(b, own.inner[0].begin + z, ys, change);
      else
        plane<false>(b, own.inner[0].begin + z, ys, change);
      row += run;
    }
  }

  STARLING_HD index_t inside_rows() const {
    if (own.inner[0].empty() || own.inner[1].empty() || own.inner[2].empty()) return 0;
    return own.inner[0].size() * own.inner[1].size();
  }

 private:
  // Check is known when compiled: without it the loop has no reduction and vectorises.
  template <bool Check>
  STARLING_HD void plane(const block& b, index_t z, index_range ys, T& change) const {
    const T* in = before() + z * f.shape.stride[0];
    T* out = after() + z * f.shape.stride[0];
    const index_t pitch = f.shape.stride[1];
    const index_t layer = f.shape.stride[0];
    const coefficients<T> w = f.weight;
    T largest = change;
    b.for_each(ys, own.inner[2], [&](index_t y, index_t x) {
      const T* c = in + y * pitch + x;
      T sum = w.centre * c[0];
      if constexpr (Dimensions == 3) {
        sum = sum + w.low[0] * c[-layer];
        sum = sum + w.high[0] * c[layer];
      }
      sum = sum + w.low[1] * c[-pitch];
      sum = sum + w.high[1] * c[pitch];
      sum = sum + w.low[2] * c[-1];
      sum = sum + w.high[2] * c[1];
      if constexpr (Check) note_change(c[0], sum, largest);
      out[y * pitch + x] = sum;
    });
    change = largest;
  }
};

}  // namespace starling::stencil
