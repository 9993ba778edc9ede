// One step of a star stencil on one PE, for kernels: the inside, which needs no other PE, and the faces, which do.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/fields.hpp"

namespace starling::stencil {

// What a step of one PE reads and writes. Made once per step; holds by value what the loops use.
template <class T, int Dimensions>
class sweep {
 public:
  // The step that makes `generation`. check: look for the largest change.
  STARLING_HD sweep(const fields<T>& f, const box& own, int pe, index_t generation, bool compute, bool check)
      : own_(own),
        in_(f.u[(generation - 1) % 2].on(pe)),
        out_(f.u[generation % 2].on(pe)),
        weight_(f.weight),
        layer_(f.shape.stride[0]),
        pitch_(f.shape.stride[1]),
        compute_(compute),
        check_(check) {}

  STARLING_HD const box& own() const { return own_; }

  // Computes cell i of a face and keeps it if the face owns it; the neighbour wants the value. `beyond` is the
  // neighbour's cell across the face, inbox(face, i) gives those across other faces.
  template <int Axis, class Inbox>
  STARLING_HD T face_value(int side, index_t i, T beyond, const Inbox& inbox, T& change) const {
    const cell c = own_.template face_cell<Axis>(side, i);
    const index_t at = offset(c);
    T value = in_[at];
    if (compute_ && own_.is_updated(c)) {
      value = at_face(c, in_ + at, [&](int axis, int s) {
        return axis == Axis && s == side ? beyond : inbox(2 * axis + s, own_.face_index(axis, c));
      });
    }
    if (check_) note_change(in_[at], value, change);
    if (own_.template owned_by_face<Axis>(side, c)) out_[at] = value;
    return value;
  }

  // Rows of the inside over all its planes, for sharing among blocks.
  STARLING_HD index_t inside_rows() const {
    if (own_.inner[0].empty() || own_.inner[1].empty() || own_.inner[2].empty()) return 0;
    return own_.inner[0].size() * own_.inner[1].size();
  }

  STARLING_HD void inside(const block& b, index_range rows, T& change) const {
    if (!compute_ || rows.empty()) return;
    if constexpr (Dimensions == 2) {
      plane(b, own_.inner[0].begin, {own_.inner[1].begin + rows.begin, own_.inner[1].begin + rows.end}, change);
    } else {
      // Runs of rows within one plane, so that no element needs a division.
      const index_t per_plane = own_.inner[1].size();
      index_t z = rows.begin / per_plane;
      index_t first = rows.begin - z * per_plane;
      for (index_t left = rows.size(); left > 0; ++z) {
        const index_t run = left < per_plane - first ? left : per_plane - first;
        const index_t y = own_.inner[1].begin + first;
        plane(b, own_.inner[0].begin + z, {y, y + run}, change);
        left -= run;
        first = 0;
      }
    }
  }

 private:
  STARLING_HD index_t offset(const cell& c) const { return c.at[0] * layer_ + c.at[1] * pitch_ + c.at[2]; }
  STARLING_HD index_t stride(int axis) const { return axis == 0 ? layer_ : axis == 1 ? pitch_ : 1; }

  // The new value of a cell some of whose neighbours are across faces. The order of the additions is the problem's.
  template <class Across>
  STARLING_HD T at_face(const cell& c, const T* in, const Across& across) const {
    T sum = weight_.centre * *in;
    for (int a = axes - Dimensions; a < axes; ++a) {
      const T low = c.at[a] == 0 ? across(a, 0) : *(in - stride(a));
      sum = sum + weight_.low[a] * low;
      const T high = c.at[a] == own_.extent[a] - 1 ? across(a, 1) : *(in + stride(a));
      sum = sum + weight_.high[a] * high;
    }
    return sum;
  }

  STARLING_HD static void note_change(T was, T is, T& change) {
    const T difference = is > was ? is - was : was - is;
    change = maximum{}(change, difference);
  }

  STARLING_HD void plane(const block& b, index_t z, index_range ys, T& change) const {
    if (check_)
      plane<true>(b, z, ys, change);
    else
      plane<false>(b, z, ys, change);
  }

  // Check is known when compiled: without it the loop has no reduction and vectorises.
  template <bool Check>
  STARLING_HD void plane(const block& b, index_t z, index_range ys, T& change) const {
    const T* in = in_ + z * layer_;
    T* out = out_ + z * layer_;
    const index_t pitch = pitch_;
    const index_t layer = layer_;
    const coefficients<T> w = weight_;
    T largest = change;
    b.for_each(ys, own_.inner[2], [&](index_t y, index_t x) {
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

  const box& own_;
  const T* in_;
  T* out_;
  coefficients<T> weight_;
  index_t layer_;
  index_t pitch_;
  bool compute_;
  bool check_;
};

}  // namespace starling::stencil
