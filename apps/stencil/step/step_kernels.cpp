#include "stencil/step/kernel_by_shape.hpp"

namespace starling::stencil {
namespace {

template <class T, int Dimensions, bool Dynamic>
struct step {
  step_arguments<T> a;
  step_part part;
  int first_change;
  static constexpr int max_threads = threads_at_most(Dynamic);
  static constexpr int least_blocks = blocks_at_least(Dynamic);

  STARLING_HD void operator()(block& b) const {
    const box& own = own_box(b, a.f);
    tile_queue<T>* queue = queue_of<Dynamic, T>(b);
    const sweep<T, Dimensions> s(a.f, own, b.pe(), a.time_level, a.compute, a.check);
    T change = 0;
    if (part != step_part::interior)
      for (int face = 0; face < faces; ++face) do_face(b, s, face, change);
    if (part != step_part::boundary) s.template interior<Dynamic>(b, a.interior, b.rank(), queue, change);
    if (!a.check) return;
    change = b.reduce(change, maximum{});
    if (b.member() == 0) a.f.changes.on(b.pe())[first_change + b.index()] = change;
  }

  STARLING_HD void do_face(block& b, const sweep<T, Dimensions>& s, int face, T& change) const {
    const int to = s.own().neighbour[face];
    if (to == no_neighbour) return;
    const index_range mine = b.my_share(s.own().face_size(face / 2));
    const received_cells<T> received(a.f, b.pe(), a.time_level - 1);
    with_axis<Dimensions>(face / 2, [&](auto axis) {
      const auto value = [&](index_t i) {
        const index_t at = mine.begin + i;
        const auto f = s.template cell_of<decltype(axis)::value>(face % 2, at);
        return s.template finish<decltype(axis)::value>(face % 2, f, s.gather(f), received(face, at), received, change);
      };
      if (a.store_to_peers) {
        b.put(receive_buffer_of_neighbour(a.f, face, a.time_level) + mine.begin, value, mine.size(), to);
      } else {
        T* out = a.f.send_buffer.on(b.pe()) + a.f.face_start[face] + mine.begin;
        b.for_each(mine.size(), [&](index_t i) { out[i] = value(i); });
      }
    });
  }
};

template <class T, int Dimensions>
struct publish {
  fields<T> f;
  index_t time_level;

  STARLING_HD void operator()(block& b) const {
    const box& own = own_box(b, f);
    const T* values = f.u[time_level % 2].on(b.pe());
    for (int face = 0; face < faces; ++face) {
      if (own.neighbour[face] == no_neighbour) continue;
      const index_range mine = b.my_share(own.face_size(face / 2));
      with_axis<Dimensions>(face / 2, [&](auto axis) {
        const auto value = [&](index_t i) {
          const cell c = own.template face_cell<decltype(axis)::value>(face % 2, mine.begin + i);
          return values[c.at[0] * f.shape.stride[0] + c.at[1] * f.shape.stride[1] + c.at[2]];
        };
        b.put(receive_buffer_of_neighbour(f, face, time_level) + mine.begin, value, mine.size(), own.neighbour[face]);
      });
    }
    b.quiet();
  }
};

}  // namespace

template <class T>
kernel step_kernel(const step_arguments<T>& arguments, step_part part, int first_change) {
  return of_cut<step, T>(arguments.f.shape, arguments.interior, arguments, part, first_change);
}

template <class T>
kernel publish_kernel(const fields<T>& f, index_t time_level) {
  return of_dimension<publish, T>(f.shape, f, time_level);
}

template kernel step_kernel(const step_arguments<float>&, step_part, int);
template kernel step_kernel(const step_arguments<double>&, step_part, int);
template kernel publish_kernel(const fields<float>&, index_t);
template kernel publish_kernel(const fields<double>&, index_t);

}  // namespace starling::stencil
