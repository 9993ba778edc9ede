#include "stencil/step/stencil_kernels.hpp"

#include "stencil/halo/halo_exchange.hpp"

namespace starling::stencil {

template <class T>
constexpr std::size_t room_in_scratch() {
  return (sizeof(T) + 15) / 16 * 16;
}
static_assert(room_in_scratch<box>() + room_in_scratch<tile_queue<double>>() <= scratch_bytes);

// Registers for a whole step without spilling; what is spilled has to come back from beyond the L1 cache, which
// every wait empties.
constexpr int threads_at_most(bool dynamic) { return dynamic ? queue_most_threads : 512; }
constexpr int blocks_at_least(bool dynamic) { return dynamic ? queue_least_blocks : 1; }

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

// The part of the persistent program that does not depend on how faces travel.
template <class T, int Dimensions, bool Dynamic, class Exchange>
STARLING_HD void run_cpu_free(block& b, const cpu_free_arguments<T>& a, Exchange exchange) {
  const box& own = own_box(b, a.f);
  tile_queue<T>* queue = queue_of<Dynamic, T>(b);
  exchange.begin(b, own);
  const bool reports = b.pe() == 0 && b.index() == 0 && b.member() == 0;
  index_t time_level = a.first;
  index_t until_check = a.check_every;
  while (time_level < a.first + a.steps) {
    ++time_level;
    const bool check = --until_check == 0;
    const sweep<T, Dimensions> s(a.f, own, b.pe(), time_level, a.compute, check);
    T change = 0;
    if (b.role() == a.boundary_role) exchange.step(b, s, time_level, change);
    if (b.role() == a.interior_role) s.template interior<Dynamic>(b, a.interior, b.rank(), queue, change);
    if (!check) {
      b.sync_pe();
      continue;
    }
    until_check = a.check_every;
    const auto checked = static_cast<double>(b.all_reduce(b.reduce(change, maximum{}), maximum{}));
    if (reports) a.status.on(0)->change = checked;
    if (checked <= a.tolerance) break;
  }
  if (reports) a.status.on(0)->time_level = time_level;
}

template <class T, int Dimensions, bool Dynamic>
struct cpu_free_signalled {
  cpu_free_arguments<T> a;
  static constexpr int max_threads = threads_at_most(Dynamic);
  static constexpr int least_blocks = blocks_at_least(Dynamic);
  STARLING_HD void operator()(block& b) const {
    run_cpu_free<T, Dimensions, Dynamic>(b, a, signalled_halo<T, Dimensions>{a, own_chunks(b, a)});
  }
};

template <class T, int Dimensions, bool Dynamic>
struct cpu_free_packets {
  cpu_free_arguments<T> a;
  static constexpr int max_threads = threads_at_most(Dynamic);
  static constexpr int least_blocks = blocks_at_least(Dynamic);
  STARLING_HD void operator()(block& b) const {
    run_cpu_free<T, Dimensions, Dynamic>(b, a, packet_halo<T, Dimensions>{a, own_chunks(b, a)});
  }
};

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

// One kernel per dimension; the domain says which.
template <template <class, int> class Kernel, class T, class... Arguments>
kernel of_dimension(const geometry& g, const Arguments&... arguments) {
  if (g.active[0]) return make_kernel(Kernel<T, 3>{arguments...});
  return make_kernel(Kernel<T, 2>{arguments...});
}

// And one for each way to partition the interior.
template <template <class, int, bool> class Kernel, class T, class... Arguments>
kernel of_cut(const geometry& g, const interior_partition& cut, const Arguments&... arguments) {
  if (g.active[0]) {
    if (cut.dynamic()) return make_kernel(Kernel<T, 3, true>{arguments...});
    return make_kernel(Kernel<T, 3, false>{arguments...});
  }
  if (cut.dynamic()) return make_kernel(Kernel<T, 2, true>{arguments...});
  return make_kernel(Kernel<T, 2, false>{arguments...});
}

}  // namespace

template <class T>
kernel step_kernel(const step_arguments<T>& arguments, step_part part, int first_change) {
  return of_cut<step, T>(arguments.f.shape, arguments.interior, arguments, part, first_change);
}

template <class T>
kernel publish_kernel(const fields<T>& f, index_t time_level) {
  return of_dimension<publish, T>(f.shape, f, time_level);
}

template <class T>
kernel cpu_free_kernel(const cpu_free_arguments<T>& arguments) {
  if (arguments.packets) return of_cut<cpu_free_packets, T>(arguments.f.shape, arguments.interior, arguments);
  return of_cut<cpu_free_signalled, T>(arguments.f.shape, arguments.interior, arguments);
}

template <class T>
kernel flagged_step_kernel(const flagged_step_arguments<T>& arguments) {
  return of_cut<flagged_step, T>(arguments.a.f.shape, arguments.a.interior, arguments);
}

template <class T>
kernel announce_kernel(const flagged_step_arguments<T>& arguments, index_t time_level) {
  return of_dimension<announce, T>(arguments.a.f.shape, arguments, time_level);
}

kernel count_kernel(sym<index_t> reached, index_t steps) { return make_kernel(count_steps{reached, steps}); }

template kernel step_kernel(const step_arguments<float>&, step_part, int);
template kernel step_kernel(const step_arguments<double>&, step_part, int);
template kernel publish_kernel(const fields<float>&, index_t);
template kernel publish_kernel(const fields<double>&, index_t);
template kernel cpu_free_kernel(const cpu_free_arguments<float>&);
template kernel cpu_free_kernel(const cpu_free_arguments<double>&);
template kernel flagged_step_kernel(const flagged_step_arguments<float>&);
template kernel flagged_step_kernel(const flagged_step_arguments<double>&);
template kernel announce_kernel(const flagged_step_arguments<float>&, index_t);
template kernel announce_kernel(const flagged_step_arguments<double>&, index_t);

}  // namespace starling::stencil
