#include "stencil/stencil_kernels.hpp"

#include "stencil/sweep.hpp"

namespace starling::stencil {
namespace {

// The address in a neighbour's inbox for what this PE's face `face` holds.
template <class T>
STARLING_HD sym<T> inbox_of_neighbour(const fields<T>& f, int face, index_t generation) {
  return f.inbox + f.inbox_offset(opposite(face), generation);
}

template <class T, int Dimensions>
struct step {
  step_arguments<T> a;
  step_part part;
  int first_change;

  STARLING_HD void operator()(block& b) const {
    const box own = box_of(a.f.shape, b.pe());
    const sweep<T, Dimensions> s{a.f, own, a.generation, a.compute, a.check, b.pe()};
    T change = 0;
    if (part != step_part::inside)
      for (int face = 0; face < faces; ++face) do_face(b, s, face, change);
    if (part != step_part::border) s.inside(b, b.my_share(s.inside_rows()), change);
    if (!a.check) return;
    change = b.reduce(change, maximum{});
    if (b.member() == 0) a.f.changes.on(b.pe())[first_change + b.index()] = change;
  }

  STARLING_HD void do_face(block& b, const sweep<T, Dimensions>& s, int face, T& change) const {
    const int to = s.own.neighbour[face];
    if (to == no_neighbour) return;
    const index_range mine = b.my_share(s.own.face_size(face));
    const auto value = [&](index_t i) { return s.face_value(face, mine.begin + i, change); };
    if (a.store_to_peers) {
      b.put(inbox_of_neighbour(a.f, face, a.generation) + mine.begin, value, mine.size(), to);
    } else {
      T* out = a.f.outbox.on(b.pe()) + a.f.outbox_offset(face) + mine.begin;
      b.for_each(mine.size(), [&](index_t i) { out[i] = value(i); });
    }
  }
};

template <class T>
struct publish {
  fields<T> f;
  index_t generation;

  STARLING_HD void operator()(block& b) const {
    const box own = box_of(f.shape, b.pe());
    const T* values = f.u[generation % 2].on(b.pe());
    for (int face = 0; face < faces; ++face) {
      if (own.neighbour[face] == no_neighbour) continue;
      const index_range mine = b.my_share(own.face_size(face));
      const auto value = [&](index_t i) { return values[f.offset(own.face_cell(face, mine.begin + i))]; };
      b.put(inbox_of_neighbour(f, face, generation) + mine.begin, value, mine.size(), own.neighbour[face]);
    }
    b.quiet();
  }
};

template <class T, int Dimensions>
struct cpu_free {
  cpu_free_arguments<T> a;

  STARLING_HD void operator()(block& b) const {
    const box own = box_of(a.f.shape, b.pe());
    index_t generation = a.first;
    double checked = 0;
    for (index_t t = 1; t <= a.steps; ++t) {
      ++generation;
      const bool check = a.check_every > 0 && t % a.check_every == 0;
      const sweep<T, Dimensions> s{a.f, own, generation, a.compute, check, b.pe()};
      T change = 0;
      if (b.role() == a.face_role) exchange_faces(b, s, change);
      if (b.role() == a.inside_role) s.inside(b, b.my_share(s.inside_rows()), change);
      if (!check) {
        b.sync_pe();
        continue;
      }
      checked = static_cast<double>(b.all_reduce(b.reduce(change, maximum{}), maximum{}));
      if (checked <= a.tolerance) break;
    }
    if (b.pe() == 0 && b.index() == 0 && b.member() == 0)
      *a.status.on(0) = {generation, checked};
  }

  // This block's chunks of the faces: wait for the neighbours' values, compute, put, signal.
  STARLING_HD void exchange_faces(block& b, const sweep<T, Dimensions>& s, T& change) const {
    const int n_faces = a.f.shape.exchanged_faces();
    for (int item = b.rank(); item < n_faces * a.chunks; item += b.count()) {
      const int face = a.f.shape.exchanged_face(item % n_faces);
      const int chunk = item / n_faces;
      const int to = s.own.neighbour[face];
      if (to == no_neighbour) continue;
      wait_for_inboxes(b, s, face, chunk);
      const index_range cells = share(s.own.face_size(face), a.chunks, chunk);
      const auto value = [&](index_t i) { return s.face_value(face, cells.begin + i, change); };
      b.put_signal(inbox_of_neighbour(a.f, face, s.generation) + cells.begin, value, cells.size(),
                   a.f.arrived + (opposite(face) * a.chunks + chunk), static_cast<std::uint64_t>(s.generation), to);
    }
  }

  // A chunk needs the same chunk of its own face's inbox; where faces meet, also the others'.
  STARLING_HD void wait_for_inboxes(block& b, const sweep<T, Dimensions>& s, int face, int chunk) const {
    if (s.generation == a.first + 1) return;  // the launch found these in place
    const auto wanted = static_cast<std::uint64_t>(s.generation - 1);
    for (int other = 0; other < faces; ++other) {
      const int from = s.own.neighbour[other];
      if (from == no_neighbour) continue;
      if (other == face)
        b.wait(a.f.arrived + (other * a.chunks + chunk), wanted, from);
      else if (other / 2 != face / 2 || s.own.extent[face / 2] == 1)
        b.wait_all(a.f.arrived + other * a.chunks, a.chunks, wanted, from);
    }
  }
};

// One kernel per dimension; the domain says which.
template <template <class, int> class Kernel, class T, class... Arguments>
kernel of_dimension(const geometry& g, const Arguments&... arguments) {
  if (g.active[0]) return make_kernel(Kernel<T, 3>{arguments...});
  return make_kernel(Kernel<T, 2>{arguments...});
}

}  // namespace

template <class T>
kernel step_kernel(const step_arguments<T>& arguments, step_part part, int first_change) {
  return of_dimension<step, T>(arguments.f.shape, arguments, part, first_change);
}

template <class T>
kernel publish_kernel(const fields<T>& f, index_t generation) {
  return make_kernel(publish<T>{f, generation});
}

template <class T>
kernel cpu_free_kernel(const cpu_free_arguments<T>& arguments) {
  return of_dimension<cpu_free, T>(arguments.f.shape, arguments);
}

template kernel step_kernel(const step_arguments<float>&, step_part, int);
template kernel step_kernel(const step_arguments<double>&, step_part, int);
template kernel publish_kernel(const fields<float>&, index_t);
template kernel publish_kernel(const fields<double>&, index_t);
template kernel cpu_free_kernel(const cpu_free_arguments<float>&);
template kernel cpu_free_kernel(const cpu_free_arguments<double>&);

}  // namespace starling::stencil
