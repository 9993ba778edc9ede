#include "stencil/stencil_kernels.hpp"

#include <type_traits>

#include "stencil/sweep.hpp"

namespace starling::stencil {
namespace {

// The box of this PE in the block's fast memory: all threads read it, at indices known only at run time.
template <class T>
STARLING_HD const box& own_box(block& b, const fields<T>& f) {
  box* own = b.scratch<box>(1);
  if (b.member() == 0) *own = *f.own.on(b.pe());
  b.sync();
  return *own;
}

// Calls f(axis) with the axis as a compile-time constant, so that a face's cells are indexed without memory.
template <int Dimensions, class F>
STARLING_HD void with_axis(int axis, const F& f) {
  if constexpr (Dimensions == 3) {
    if (axis == 0) return f(std::integral_constant<int, 0>());
  }
  if (axis == 1) return f(std::integral_constant<int, 1>());
  f(std::integral_constant<int, 2>());
}

// The address in a neighbour's inbox for what this PE's face `face` holds.
template <class T>
STARLING_HD sym<T> inbox_of_neighbour(const fields<T>& f, int face, index_t generation) {
  return f.inbox + f.inbox_slot(generation) + f.face_start[opposite(face)];
}

// What neighbours have sent for a step, from the slots of the generation before it.
template <class T>
struct plain_inbox {
  const T* slot;
  const index_t* start;

  STARLING_HD plain_inbox(const fields<T>& f, int pe, index_t generation)
      : slot(f.inbox.on(pe) + f.inbox_slot(generation)), start(f.face_start) {}
  STARLING_HD T operator()(int face, index_t i) const { return slot[start[face] + i]; }
};

// The same from packets; waits for each as it is needed.
template <class T>
struct packet_inbox {
  const block& b;
  const box& own;
  sym<packet> slot;
  const index_t* start;
  std::uint64_t number;

  STARLING_HD packet_inbox(const fields<T>& f, const block& reader, const box& mine, index_t generation)
      : b(reader),
        own(mine),
        slot(f.mail + f.mail_slot(generation)),
        start(f.mail_start),
        number(static_cast<std::uint64_t>(generation)) {}
  STARLING_HD packet_content<T> take(int face, index_t k) const {
    return b.thread().template take_packet<T>(slot + (start[face] + k), number, own.neighbour[face]);
  }
  STARLING_HD T operator()(int face, index_t i) const {
    constexpr index_t each = elements_per_packet<T>;
    return take(face, i / each).element[i % each];
  }
};

template <class T, int Dimensions>
struct step {
  step_arguments<T> a;
  step_part part;
  int first_change;

  STARLING_HD void operator()(block& b) const {
    const box& own = own_box(b, a.f);
    const sweep<T, Dimensions> s(a.f, own, b.pe(), a.generation, a.compute, a.check);
    T change = 0;
    if (part != step_part::inside)
      for (int face = 0; face < faces; ++face) do_face(b, s, face, change);
    if (part != step_part::border) s.inside(b, b.my_share(s.inside_rows()), change);
    if (!a.check) return;
    change = b.reduce(change, maximum{});
    if (b.member() == 0) a.f.changes.on(b.pe())[first_change + b.index()] = change;
  }

  STARLING_HD void do_face(block& b, const sweep<T, Dimensions>& s, int face, T& change) const {
    const int to = s.own().neighbour[face];
    if (to == no_neighbour) return;
    const index_range mine = b.my_share(s.own().face_size(face / 2));
    const plain_inbox<T> inbox(a.f, b.pe(), a.generation - 1);
    with_axis<Dimensions>(face / 2, [&](auto axis) {
      const auto value = [&](index_t i) {
        const index_t at = mine.begin + i;
        return s.template face_value<decltype(axis)::value>(face % 2, at, inbox(face, at), inbox, change);
      };
      if (a.store_to_peers) {
        b.put(inbox_of_neighbour(a.f, face, a.generation) + mine.begin, value, mine.size(), to);
      } else {
        T* out = a.f.outbox.on(b.pe()) + a.f.face_start[face] + mine.begin;
        b.for_each(mine.size(), [&](index_t i) { out[i] = value(i); });
      }
    });
  }
};

template <class T, int Dimensions>
struct publish {
  fields<T> f;
  index_t generation;

  STARLING_HD void operator()(block& b) const {
    const box& own = own_box(b, f);
    const T* values = f.u[generation % 2].on(b.pe());
    for (int face = 0; face < faces; ++face) {
      if (own.neighbour[face] == no_neighbour) continue;
      const index_range mine = b.my_share(own.face_size(face / 2));
      with_axis<Dimensions>(face / 2, [&](auto axis) {
        const auto value = [&](index_t i) {
          const cell c = own.template face_cell<decltype(axis)::value>(face % 2, mine.begin + i);
          return values[c.at[0] * f.shape.stride[0] + c.at[1] * f.shape.stride[1] + c.at[2]];
        };
        b.put(inbox_of_neighbour(f, face, generation) + mine.begin, value, mine.size(), own.neighbour[face]);
      });
    }
    b.quiet();
  }
};

// The part of the persistent program that does not depend on how faces travel.
template <class T, int Dimensions, class Exchange>
STARLING_HD void run_cpu_free(block& b, const cpu_free_arguments<T>& a, const Exchange& exchange) {
  const box& own = own_box(b, a.f);
  exchange.begin(b, own);
  const index_range rows =
      b.my_share(sweep<T, Dimensions>(a.f, own, b.pe(), a.first + 1, a.compute, false).inside_rows());
  index_t generation = a.first;
  double checked = 0;
  for (index_t t = 1; t <= a.steps; ++t) {
    ++generation;
    const bool check = a.check_every > 0 && t % a.check_every == 0;
    const sweep<T, Dimensions> s(a.f, own, b.pe(), generation, a.compute, check);
    T change = 0;
    if (b.role() == a.face_role) exchange.step(b, s, generation, change);
    if (b.role() == a.inside_role) s.inside(b, rows, change);
    if (!check) {
      b.sync_pe();
      continue;
    }
    checked = static_cast<double>(b.all_reduce(b.reduce(change, maximum{}), maximum{}));
    if (checked <= a.tolerance) break;
  }
  if (b.pe() == 0 && b.index() == 0 && b.member() == 0) *a.status.on(0) = {generation, checked};
}

// Calls f(face, chunk, its cells) for this block's chunks of the faces that the PE has.
template <class T, class F>
STARLING_HD void for_own_chunks(block& b, const cpu_free_arguments<T>& a, const box& own, const F& f) {
  const int n_faces = a.f.shape.exchanged_faces();
  for (int item = b.rank(); item < n_faces * a.chunks; item += b.count()) {
    const int face = a.f.shape.exchanged_face(item % n_faces);
    if (own.neighbour[face] == no_neighbour) continue;
    const int chunk = item / n_faces;
    // Equal parts of the largest face; the last ones of a smaller face are short or empty.
    const index_t size = own.face_size(face / 2);
    const index_t begin = chunk * a.chunk_cells[face / 2];
    const index_t end = begin + a.chunk_cells[face / 2];
    f(face, chunk, index_range{begin < size ? begin : size, end < size ? end : size});
  }
}

// Large faces: put with signal. Chunk after chunk: wait for the neighbour's values, compute, put, signal.
template <class T, int Dimensions>
struct signalled_faces {
  const cpu_free_arguments<T>& a;

  STARLING_HD void begin(block&, const box&) const {}

  STARLING_HD void step(block& b, const sweep<T, Dimensions>& s, index_t generation, T& change) const {
    const plain_inbox<T> inbox(a.f, b.pe(), generation - 1);
    for_own_chunks(b, a, s.own(), [&](int face, int chunk, index_range cells) {
      if (generation > a.first + 1) wait_for_inboxes(b, s.own(), face, chunk, generation - 1);
      with_axis<Dimensions>(face / 2, [&](auto axis) {
        const auto value = [&](index_t i) {
          const index_t at = cells.begin + i;
          return s.template face_value<decltype(axis)::value>(face % 2, at, inbox(face, at), inbox, change);
        };
        b.put_signal(inbox_of_neighbour(a.f, face, generation) + cells.begin, value, cells.size(),
                     a.f.arrived + (opposite(face) * a.chunks + chunk), static_cast<std::uint64_t>(generation),
                     s.own().neighbour[face]);
      });
    });
  }

  // The launch finds the inboxes of its first step in place; later ones are awaited. A chunk needs the same chunk of its
  // own face's inbox; where faces meet, also the others'.
  STARLING_HD void wait_for_inboxes(block& b, const box& own, int face, int chunk, index_t generation) const {
    const auto wanted = static_cast<std::uint64_t>(generation);
    b.wait(a.f.arrived + (face * a.chunks + chunk), wanted, own.neighbour[face]);
    if (!a.faces_meet) return;
    for (int other = 0; other < faces; ++other)
      if (own.neighbour[other] != no_neighbour)
        b.wait_all(a.f.arrived + other * a.chunks, a.chunks, wanted, own.neighbour[other]);
  }
};

// Small faces: packets. Each thread waits for the packet that it needs and sends the one that it made.
template <class T, int Dimensions>
struct packet_faces {
  const cpu_free_arguments<T>& a;
  static constexpr index_t each = elements_per_packet<T>;

  STARLING_HD void begin(block& b, const box& own) const {
    if (b.role() != a.face_role) return;
    const T* values = a.f.u[a.first % 2].on(b.pe());
    for_own_chunks(b, a, own, [&](int face, int, index_range cells) {
      with_axis<Dimensions>(face / 2, [&](auto axis) {
        b.put_packets<T>(mail_of_neighbour(face, a.first) + cells.begin / each, [&](index_t k) {
          packet_content<T> content{};
          for (index_t e = 0; e < each; ++e) {
            const index_t i = cells.begin + k * each + e;
            if (i >= cells.end) break;
            const cell c = own.template face_cell<decltype(axis)::value>(face % 2, i);
            content.element[e] = values[c.at[0] * a.f.shape.stride[0] + c.at[1] * a.f.shape.stride[1] + c.at[2]];
          }
          return content;
        }, packets_for<T>(cells.size()), static_cast<std::uint64_t>(a.first), own.neighbour[face]);
      });
    });
  }

  STARLING_HD void step(block& b, const sweep<T, Dimensions>& s, index_t generation, T& change) const {
    const packet_inbox<T> inbox(a.f, b, s.own(), generation - 1);
    for_own_chunks(b, a, s.own(), [&](int face, int, index_range cells) {
      with_axis<Dimensions>(face / 2, [&](auto axis) {
        const index_t first = cells.begin / each;
        b.put_packets<T>(mail_of_neighbour(face, generation) + first, [&](index_t k) {
          const packet_content<T> beyond = inbox.take(face, first + k);
          packet_content<T> content{};
          for (index_t e = 0; e < each; ++e) {
            const index_t i = cells.begin + k * each + e;
            if (i < cells.end)
              content.element[e] =
                  s.template face_value<decltype(axis)::value>(face % 2, i, beyond.element[e], inbox, change);
          }
          return content;
        }, packets_for<T>(cells.size()), static_cast<std::uint64_t>(generation), s.own().neighbour[face]);
      });
    });
  }

  STARLING_HD sym<packet> mail_of_neighbour(int face, index_t generation) const {
    return a.f.mail + (a.f.mail_slot(generation) + a.f.mail_start[opposite(face)]);
  }
};

template <class T, int Dimensions>
struct cpu_free_signalled {
  cpu_free_arguments<T> a;
  STARLING_HD void operator()(block& b) const {
    run_cpu_free<T, Dimensions>(b, a, signalled_faces<T, Dimensions>{a});
  }
};

template <class T, int Dimensions>
struct cpu_free_packets {
  cpu_free_arguments<T> a;
  STARLING_HD void operator()(block& b) const { run_cpu_free<T, Dimensions>(b, a, packet_faces<T, Dimensions>{a}); }
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
  return of_dimension<publish, T>(f.shape, f, generation);
}

template <class T>
kernel cpu_free_kernel(const cpu_free_arguments<T>& arguments) {
  if (arguments.packets) return of_dimension<cpu_free_packets, T>(arguments.f.shape, arguments);
  return of_dimension<cpu_free_signalled, T>(arguments.f.shape, arguments);
}

template kernel step_kernel(const step_arguments<float>&, step_part, int);
template kernel step_kernel(const step_arguments<double>&, step_part, int);
template kernel publish_kernel(const fields<float>&, index_t);
template kernel publish_kernel(const fields<double>&, index_t);
template kernel cpu_free_kernel(const cpu_free_arguments<float>&);
template kernel cpu_free_kernel(const cpu_free_arguments<double>&);

}  // namespace starling::stencil
