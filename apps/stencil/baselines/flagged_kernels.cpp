#include "stencil/step/kernel_by_shape.hpp"

namespace starling::stencil {
namespace {

template <class T, int Dimensions, bool Dynamic>
struct flagged_step {
  flagged_step_arguments<T> s;
  static constexpr int max_threads = threads_at_most(Dynamic);
  static constexpr int least_blocks = blocks_at_least(Dynamic);

  STARLING_HD void operator()(block& b) const {
    const box& own = own_box(b, s.a.f);
    tile_queue<T>* queue = queue_of<Dynamic, T>(b);
    const signalled_halo<T, Dimensions> faces{s.a, own_chunks(b, s.a)};
    const index_t time_level = *s.reached.on(b.pe()) + s.ahead;
    const sweep<T, Dimensions> step(s.a.f, own, b.pe(), time_level, s.a.compute, s.check);
    T change = 0;
    faces.step(b, step, time_level, change);
    const int without_boundary = b.index() - s.boundary_blocks;
    if (without_boundary >= 0) step.template interior<Dynamic>(b, s.a.interior, without_boundary, queue, change);
    if (!s.check) return;
    change = b.reduce(change, maximum{});
    if (b.member() == 0) s.a.f.changes.on(b.pe())[b.index()] = change;
  }
};

template <class T, int Dimensions>
struct announce {
  flagged_step_arguments<T> s;
  index_t time_level;

  STARLING_HD void operator()(block& b) const {
    const fields<T>& f = s.a.f;
    const box& own = own_box(b, f);
    const T* values = f.u[time_level % 2].on(b.pe());
    for (const face_chunk& part : own_chunks(b, s.a))
      with_axis<Dimensions>(part.face / 2, [&](auto axis) {
        const auto value = [&](index_t i) {
          const cell c = own.template face_cell<decltype(axis)::value>(part.face % 2, part.cells.begin + i);
          return values[c.at[0] * f.shape.stride[0] + c.at[1] * f.shape.stride[1] + c.at[2]];
        };
        b.put_signal(receive_buffer_of_neighbour(f, part.face, time_level) + part.cells.begin, value, part.cells.size(),
                     f.arrived + (opposite(part.face) * s.a.chunks + part.chunk),
                     static_cast<std::uint64_t>(time_level), part.neighbour);
      });
    if (b.index() == 0 && b.member() == 0) *s.reached.on(b.pe()) = time_level;
  }
};

struct count_steps {
  sym<index_t> reached;
  index_t steps;

  STARLING_HD void operator()(block& b) const {
    if (b.index() == 0 && b.member() == 0) *reached.on(b.pe()) += steps;
  }
};

}  // namespace

template <class T>
kernel flagged_step_kernel(const flagged_step_arguments<T>& arguments) {
  return of_cut<flagged_step, T>(arguments.a.f.shape, arguments.a.interior, arguments);
}

template <class T>
kernel announce_kernel(const flagged_step_arguments<T>& arguments, index_t time_level) {
  return of_dimension<announce, T>(arguments.a.f.shape, arguments, time_level);
}

kernel count_kernel(sym<index_t> reached, index_t steps) { return make_kernel(count_steps{reached, steps}); }

template kernel flagged_step_kernel(const flagged_step_arguments<float>&);
template kernel flagged_step_kernel(const flagged_step_arguments<double>&);
template kernel announce_kernel(const flagged_step_arguments<float>&, index_t);
template kernel announce_kernel(const flagged_step_arguments<double>&, index_t);

}  // namespace starling::stencil
