// How the blocks of a PE share its faces, what they send for them and what they wait for.
#pragma once

#include <bit>

#include "stencil/halo/face_strip.hpp"
#include "stencil/step/stencil_kernels.hpp"

namespace starling::stencil {

// The box of this PE in shared memory: all threads read it, at indices known only at run time.
template <class T>
STARLING_HD const box& own_box(block& b, const fields<T>& f) {
  box* own = b.scratch<box>(1);
  if (b.member() == 0) *own = *f.own.on(b.pe());
  b.sync();
  return *own;
}

// The address in a neighbour's receive buffer for what this PE's face `face` holds.
template <class T>
STARLING_HD sym<T> receive_buffer_of_neighbour(const fields<T>& f, int face, index_t time_level) {
  return f.receive_buffer + f.receive_slot(time_level) + f.face_start[opposite(face)];
}

// A piece of a face that one block does.
struct face_chunk {
  int face;
  int chunk;
  int neighbour;
  index_range cells;
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
  const int last = b.role() == a.boundary_role ? n_faces * a.chunks : 0;
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

// What neighbours have sent for a step, from the slots of the time level before it.
template <class T>
struct received_cells {
  const T* slot;
  const index_t* start;

  STARLING_HD received_cells(const fields<T>& f, int pe, index_t time_level)
      : slot(f.receive_buffer.on(pe) + f.receive_slot(time_level)), start(f.face_start) {}
  STARLING_HD T operator()(int face, index_t i) const { return slot[start[face] + i]; }

  // What lies across the cells of a strip that begins at cell `first`.
  template <class Strip>
  STARLING_HD typename Strip::values across(const face_chunk& part, index_t first) const {
    return *reinterpret_cast<const typename Strip::values*>(slot + start[part.face] + first);
  }
};

// The same from packets, of which a strip is one; waits for each as it is needed.
template <class T>
struct received_packets {
  const block& b;
  const box& own;
  sym<packet> slot;
  const index_t* start;
  std::uint64_t number;
  static constexpr index_t each = elements_per_packet<T>;

  STARLING_HD received_packets(const fields<T>& f, const block& reader, const box& mine, index_t message)
      : b(reader),
        own(mine),
        slot(f.packet_buffer + f.packet_slot(message)),
        start(f.packet_start),
        number(static_cast<std::uint64_t>(message)) {}
  STARLING_HD T operator()(int face, index_t i) const { return take(face, i / each).element[i % each]; }

  template <class Strip>
  STARLING_HD typename Strip::values across(const face_chunk& part, index_t first) const {
    return std::bit_cast<typename Strip::values>(take(part.face, first / each));
  }

 private:
  STARLING_HD packet_content<T> take(int face, index_t k) const {
    return b.thread().template take_packet<T>(slot + (start[face] + k), number, own.neighbour[face]);
  }
};

// The cells of a chunk from `first` on, as many as a strip has.
template <class Strip, class T, int Dimensions, class Received>
STARLING_HD typename Strip::values make_strip(const sweep<T, Dimensions>& s, const face_chunk& part, index_t first,
                                              const Received& received, T& change) {
  const Strip strip(s, part.face % 2, part.cells, first);
  return strip.finish(received.template across<Strip>(part, first), received, change);
}

// Large faces: put with signal, 16 bytes at a time or, where cells do not follow one another in memory, one. Chunk
// after chunk: wait for the neighbour's values, compute, put, signal.
template <class T, int Dimensions>
struct signalled_halo {
  const cpu_free_arguments<T>& a;
  chunk_list chunks;
  static constexpr int in_row = static_cast<int>(signalled_cells<T>);

  STARLING_HD void begin(block&, const box&) const {}

  STARLING_HD void step(block& b, const sweep<T, Dimensions>& s, index_t time_level, T& change) const {
    const received_cells<T> received(a.f, b.pe(), time_level - 1);
    for (const face_chunk& part : chunks) {
      if (time_level > a.first + 1) wait_for_neighbours_cells(b, s.own(), part, time_level - 1);
      with_strips<T, Dimensions, in_row, 1>(part.face / 2, a.in_rows, [&](auto kind) {
        using strip = typename decltype(kind)::type;
        const auto value = [&](index_t k) {
          return make_strip<strip>(s, part, part.cells.begin + k * strip::width, received, change);
        };
        const sym<T> to = receive_buffer_of_neighbour(a.f, part.face, time_level) + part.cells.begin;
        const sym<typename strip::values> strips(reinterpret_cast<typename strip::values*>(to.on(0)),
                                                 to.stride_bytes());
        b.put_signal(strips, value, part.cells.size() / strip::width,
                     a.f.arrived + (opposite(part.face) * a.chunks + part.chunk),
                     static_cast<std::uint64_t>(time_level), part.neighbour);
      });
    }
  }

  // The launch finds the receive buffers of its first step in place; later ones are awaited. A chunk needs the same
  // chunk of its own face's receive buffer; where faces meet, also the others'.
  STARLING_HD void wait_for_neighbours_cells(block& b, const box& own, const face_chunk& part,
                                             index_t time_level) const {
    const auto wanted = static_cast<std::uint64_t>(time_level);
    b.wait(a.f.arrived + (part.face * a.chunks + part.chunk), wanted, part.neighbour);
    if (!a.faces_meet) return;
    for (int other = 0; other < faces; ++other)
      if (own.neighbour[other] != no_neighbour)
        b.wait_all(a.f.arrived + other * a.chunks, a.chunks, wanted, own.neighbour[other]);
  }
};

// Small faces: packets. Each thread waits for the packet that it needs and sends the one that it made; threads that
// have none go on to the interior.
template <class T, int Dimensions>
struct packet_halo {
  const cpu_free_arguments<T>& a;
  chunk_list chunks;
  static constexpr int each = static_cast<int>(elements_per_packet<T>);

  STARLING_HD void begin(block& b, const box& own) const {
    const T* values = a.f.u[a.first % 2].on(b.pe());
    for (const face_chunk& part : chunks) {
      with_axis<Dimensions>(part.face / 2, [&](auto axis) {
        const auto content = [&](index_t k) {
          packet_content<T> packed{};
          for (index_t e = 0; e < each; ++e) {
            const index_t i = part.cells.begin + k * each + e;
            if (i >= part.cells.end) break;
            const cell c = own.template face_cell<decltype(axis)::value>(part.face % 2, i);
            packed.element[e] = values[c.at[0] * a.f.shape.stride[0] + c.at[1] * a.f.shape.stride[1] + c.at[2]];
          }
          return packed;
        };
        send(b, part, a.first, content);
      });
    }
  }

  STARLING_HD void step(block& b, const sweep<T, Dimensions>& s, index_t time_level, T& change) const {
    const received_packets<T> received(a.f, b, s.own(), message_of(time_level - 1));
    for (const face_chunk& part : chunks) {
      with_strips<T, Dimensions, each, each>(part.face / 2, a.in_rows, [&](auto kind) {
        using strip = typename decltype(kind)::type;
        const auto content = [&](index_t k) {
          const auto made = make_strip<strip>(s, part, part.cells.begin + k * each, received, change);
          return std::bit_cast<packet_content<T>>(made);
        };
        send(b, part, time_level, content);
      });
    }
  }

 private:
  // Messages are numbered on from run to run: a packet of an earlier run is never taken for one of this.
  STARLING_HD index_t message_of(index_t time_level) const { return a.first_message + (time_level - a.first); }

  template <class F>
  STARLING_HD void send(block& b, const face_chunk& part, index_t time_level, const F& content) const {
    const index_t message = message_of(time_level);
    const sym<packet> to = a.f.packet_buffer + (a.f.packet_slot(message) + a.f.packet_start[opposite(part.face)]);
    b.put_packets<T>(to + part.cells.begin / each, content, packets_for<T>(part.cells.size()),
                     static_cast<std::uint64_t>(message), part.neighbour);
  }
};

}  // namespace starling::stencil
