// How the blocks of a PE share its faces, what they send for them and what they wait for.
#pragma once

#include <type_traits>

#include "stencil/stencil_kernels.hpp"
#include "stencil/sweep.hpp"

namespace starling::stencil {

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

  STARLING_HD packet_inbox(const fields<T>& f, const block& reader, const box& mine, index_t message)
      : b(reader),
        own(mine),
        slot(f.mail + f.mail_slot(message)),
        start(f.mail_start),
        number(static_cast<std::uint64_t>(message)) {}
  STARLING_HD packet_content<T> take(int face, index_t k) const {
    return b.thread().template take_packet<T>(slot + (start[face] + k), number, own.neighbour[face]);
  }
  STARLING_HD T operator()(int face, index_t i) const {
    constexpr index_t each = elements_per_packet<T>;
    return take(face, i / each).element[i % each];
  }
};

// A piece of a face that one block does.
struct face_chunk {
  int face;
  int chunk;
  int neighbour;
  index_range cells;

  // A cell of the chunk, for threads that have none.
  STARLING_HD index_t within(index_t i) const { return i < cells.end ? i : cells.begin; }
};

struct chunk_list {
  const face_chunk* first;
  int count;

  STARLING_HD const face_chunk* begin() const { return first; }
  STARLING_HD const face_chunk* end() const { return first + count; }
};

// This block's chunks of the faces that the PE has, worked out once: in a step every cycle counts.
template <class T>
STARLING_HD chunk_list own_chunks(block& b, const cpu_free_arguments<T>& a) {
  const box& own = *a.f.own.on(b.pe());
  face_chunk* list = b.scratch<face_chunk>(a.chunks_per_block);
  const int n_faces = a.f.shape.exchanged_faces();
  const int last = b.role() == a.face_role ? n_faces * a.chunks : 0;
  int count = 0;
  for (int item = b.rank(); item < last; item += b.count()) {
    const int face = a.f.shape.exchanged_face(item % n_faces);
    if (own.neighbour[face] == no_neighbour) continue;
    // Equal parts of the largest face; the last ones of a smaller face are short or empty.
    const int chunk = item / n_faces;
    const index_t size = own.face_size(face / 2);
    const index_t begin = chunk * a.chunk_cells[face / 2];
    const index_t end = begin + a.chunk_cells[face / 2];
    const index_range cells{begin < size ? begin : size, end < size ? end : size};
    if (b.member() == 0) list[count] = {face, chunk, own.neighbour[face], cells};
    ++count;
  }
  b.sync();
  return {list, count};
}

// Large faces: put with signal. Chunk after chunk: wait for the neighbour's values, compute, put, signal.
template <class T, int Dimensions>
struct signalled_faces {
  const cpu_free_arguments<T>& a;
  chunk_list chunks;

  STARLING_HD void begin(block&, const box&) {}

  STARLING_HD void step(block& b, const sweep<T, Dimensions>& s, index_t generation, T& change) const {
    const plain_inbox<T> inbox(a.f, b.pe(), generation - 1);
    for (const face_chunk& part : chunks) {
      if (generation > a.first + 1) wait_for_inboxes(b, s.own(), part, generation - 1);
      with_axis<Dimensions>(part.face / 2, [&](auto axis) {
        const auto value = [&](index_t i) {
          const index_t at = part.cells.begin + i;
          const auto f = s.template cell_of<decltype(axis)::value>(part.face % 2, at);
          return s.template finish<decltype(axis)::value>(part.face % 2, f, s.gather(f), inbox(part.face, at), inbox,
                                                          change);
        };
        b.put_signal(inbox_of_neighbour(a.f, part.face, generation) + part.cells.begin, value, part.cells.size(),
                     a.f.arrived + (opposite(part.face) * a.chunks + part.chunk),
                     static_cast<std::uint64_t>(generation), part.neighbour);
      });
    }
  }

  // The launch finds the inboxes of its first step in place; later ones are awaited. A chunk needs the same chunk of
  // its own face's inbox; where faces meet, also the others'.
  STARLING_HD void wait_for_inboxes(block& b, const box& own, const face_chunk& part, index_t generation) const {
    const auto wanted = static_cast<std::uint64_t>(generation);
    b.wait(a.f.arrived + (part.face * a.chunks + part.chunk), wanted, part.neighbour);
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
  chunk_list chunks;
  static constexpr index_t each = elements_per_packet<T>;
  using face_cell = typename sweep<T, Dimensions>::face_cell;

  // A thread that sends one packet in each step works out its cells once.
  bool one_packet = false;
  face_cell planned[each]{};

  STARLING_HD void begin(block& b, const box& own) {
    one_packet = chunks.count == 1 && packets_for<T>(chunks.first->cells.size()) <= b.members();
    if (one_packet) plan(b, own, *chunks.first);
    const T* values = a.f.u[a.first % 2].on(b.pe());
    for (const face_chunk& part : chunks) {
      with_axis<Dimensions>(part.face / 2, [&](auto axis) {
        const auto content = [&](index_t k) {
          packet_content<T> held{};
          for (index_t e = 0; e < each; ++e) {
            const index_t i = part.cells.begin + k * each + e;
            if (i >= part.cells.end) break;
            const cell c = own.template face_cell<decltype(axis)::value>(part.face % 2, i);
            held.element[e] = values[c.at[0] * a.f.shape.stride[0] + c.at[1] * a.f.shape.stride[1] + c.at[2]];
          }
          return held;
        };
        send(b, part, a.first, content);
      });
    }
  }

  STARLING_HD void step(block& b, const sweep<T, Dimensions>& s, index_t generation, T& change) const {
    const packet_inbox<T> inbox(a.f, b, s.own(), message_of(generation - 1));
    for (const face_chunk& part : chunks) {
      with_axis<Dimensions>(part.face / 2, [&](auto axis) {
        constexpr int Axis = decltype(axis)::value;
        const int side = part.face % 2;
        const auto content = [&](index_t k) {
          const index_t first = part.cells.begin + k * each;
          face_cell cells[each]{};
          typename sweep<T, Dimensions>::neighbourhood around[each]{};
          unrolled<each>([&](auto e) {
            cells[e] = one_packet ? planned[e] : s.template cell_of<Axis>(side, part.within(first + e));
            around[e] = s.gather(cells[e]);
          });
          const packet_content<T> beyond = inbox.take(part.face, first / each);
          packet_content<T> made{};
          unrolled<each>([&](auto e) {
            if (first + e < part.cells.end)
              made.element[e] = s.template finish<Axis>(side, cells[e], around[e], beyond.element[e], inbox, change);
          });
          return made;
        };
        send(b, part, generation, content);
      });
    }
  }

 private:
  STARLING_HD void plan(const block& b, const box& own, const face_chunk& part) {
    const sweep<T, Dimensions> s(a.f, own, b.pe(), a.first + 1, a.compute, false);
    with_axis<Dimensions>(part.face / 2, [&](auto axis) {
      unrolled<each>([&](auto e) {
        planned[e] = s.template cell_of<decltype(axis)::value>(part.face % 2,
                                                               part.within(part.cells.begin + b.member() * each + e));
      });
    });
  }

  // Messages are numbered on from run to run: a packet of an earlier run is never taken for one of this.
  STARLING_HD index_t message_of(index_t generation) const { return a.first_message + (generation - a.first); }

  template <class F>
  STARLING_HD void send(block& b, const face_chunk& part, index_t generation, const F& content) const {
    const index_t message = message_of(generation);
    const sym<packet> to = a.f.mail + (a.f.mail_slot(message) + a.f.mail_start[opposite(part.face)]);
    b.put_packets<T>(to + part.cells.begin / each, content, packets_for<T>(part.cells.size()),
                     static_cast<std::uint64_t>(message), part.neighbour);
  }
};

}  // namespace starling::stencil
