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

  // A cell of a face: what does not change from step to step.
  struct face_cell {
    cell c;
    index_t at;           // where it is in memory
    unsigned neighbours;  // bit 2a + s: the neighbour along axis a on side s is in this PE's memory
    bool updated;
    bool kept;  // this face owns it
  };

  template <int Axis>
  STARLING_HD face_cell cell_of(int side, index_t i) const {
    face_cell f{};
    f.c = own_.template face_cell<Axis>(side, i);
    f.at = offset(f.c);
    f.updated = compute_ && own_.is_updated(f.c);
    f.kept = own_.template owned_by_face<Axis>(side, f.c);
    for (int a = axes - Dimensions; a < axes; ++a) {
      if (f.c.at[a] > 0) f.neighbours |= 1u << (2 * a);
      if (f.c.at[a] < own_.extent[a] - 1) f.neighbours |= 2u << (2 * a);
    }
    return f;
  }

  // What this PE's memory tells of a cell's neighbourhood. Gathered before the neighbours' values are awaited, so that
  // the loads run meanwhile.
  struct neighbourhood {
    T centre;
    T low[axes];
    T high[axes];
  };

  STARLING_HD neighbourhood gather(const face_cell& f) const {
    neighbourhood n{};
    const T* in = in_ + f.at;
    n.centre = *in;
    if (!f.updated) return n;
    unrolled<Dimensions>([&](auto k) {
      constexpr int a = axes - Dimensions + decltype(k)::value;
      if ((f.neighbours & (1u << (2 * a))) != 0) n.low[a] = *(in - stride(a));
      if ((f.neighbours & (2u << (2 * a))) != 0) n.high[a] = *(in + stride(a));
    });
    return n;
  }

  // Computes the cell and keeps it if the face owns it; the neighbour wants the value. `beyond` is the neighbour's cell
  // across the face, inbox(face, i) gives those across other faces.
  template <int Axis, class Inbox>
  STARLING_HD T finish(int side, const face_cell& f, const neighbourhood& n, T beyond, const Inbox& inbox,
                       T& change) const {
    T value = n.centre;
    if (f.updated) {
      const auto across = [&](int axis, int s) {
        return axis == Axis && s == side ? beyond : inbox(2 * axis + s, own_.face_index(axis, f.c));
      };
      value = weight_.centre * n.centre;  // the order of the additions is the problem's
      unrolled<Dimensions>([&](auto k) {
        constexpr int a = axes - Dimensions + decltype(k)::value;
        value = value + weight_.low[a] * ((f.neighbours & (1u << (2 * a))) != 0 ? n.low[a] : across(a, 0));
        value = value + weight_.high[a] * ((f.neighbours & (2u << (2 * a))) != 0 ? n.high[a] : across(a, 1));
      });
    }
    if (check_) note_change(n.centre, value, change);
    if (f.kept) out_[f.at] = value;
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
    if constexpr (target::on_gpu) {
      ys = groups_of<4, Check>(b, z, ys, change);
      ys = groups_of<2, Check>(b, z, ys, change);
    }
    groups_of<1, Check>(b, z, ys, change);
  }

  // Goes over the rows N at a time; returns those left.
  template <int N, bool Check>
  STARLING_HD index_range groups_of(const block& b, index_t z, index_range ys, T& change) const {
    const index_t groups = ys.size() / N;
    if (groups > 0)
      b.for_each({0, groups}, own_.inner[2],
                 [&](index_t g, index_t x) { rows<N, Check>(z, ys.begin + g * N, x, change); });
    return {ys.begin + groups * N, ys.end};
  }

  // N cells one above the other. All loads come before the first store: the compiler may not move them there, and they
  // have to run together to use a GPU's memory.
  template <int N, bool Check>
  STARLING_HD void rows(index_t z, index_t y, index_t x, T& change) const {
    const index_t at = z * layer_ + y * pitch_ + x;
    const T* in = in_ + at;
    T column[N + 2];
    T west[N];
    T east[N];
    T below[N];
    T above[N];
    for (int i = 0; i < N + 2; ++i) column[i] = in[(i - 1) * pitch_];
    for (int i = 0; i < N; ++i) {
      west[i] = in[i * pitch_ - 1];
      east[i] = in[i * pitch_ + 1];
      if constexpr (Dimensions == 3) {
        below[i] = in[i * pitch_ - layer_];
        above[i] = in[i * pitch_ + layer_];
      }
    }
    for (int i = 0; i < N; ++i) {
      T sum = weight_.centre * column[i + 1];
      if constexpr (Dimensions == 3) {
        sum = sum + weight_.low[0] * below[i];
        sum = sum + weight_.high[0] * above[i];
      }
      sum = sum + weight_.low[1] * column[i];
      sum = sum + weight_.high[1] * column[i + 2];
      sum = sum + weight_.low[2] * west[i];
      sum = sum + weight_.high[2] * east[i];
      if constexpr (Check) note_change(column[i + 1], sum, change);
      out_[at + i * pitch_] = sum;
    }
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
