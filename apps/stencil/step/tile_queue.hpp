// Dynamic tile scheduling: the blocks of a PE take tiles of the interior from a queue, which is a counter. Tiles that
// are under way lie side by side in memory, and memory is read and written in its order. With a fixed share of the
// tiles blocks drift apart, which makes memory slower.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/step/column_stream.hpp"
#include "stencil/step/interior_loop.hpp"

namespace starling::stencil {

// The queue as the threads of a block see it, in shared memory: registers are for the cells. Thread 0 writes it.
template <class T>
struct tile_queue {
  struct entry {
    tile_start at;
    bool there;
  };

  step_cells<T> u;
  std::uint32_t* counter;  // tickets that all blocks have drawn
  std::uint32_t before;    // of these, in earlier steps
  int begin_x;             // of the interior
  tile_start first;
  tile_start end;
  entry next[2];

  // For a step, after `steps_before` that took their tiles from the queue.
  STARLING_HD void begin(const step_cells<T>& cells, const box& own, std::uint32_t* of_pe, std::uint32_t steps_before,
                         const interior_partition& cut) {
    u = cells;
    counter = of_pe;
    before = steps_before * static_cast<std::uint32_t>(cut.tiles());
    begin_x = static_cast<int>(own.interior[2].begin);
    first = cut.first_of(own);
    end = {static_cast<int>(own.interior[0].end), static_cast<int>(own.interior[1].end),
           static_cast<int>(own.interior[2].end)};
  }
};

// Null where tiles are not scheduled dynamically.
template <bool Dynamic, class T>
STARLING_HD tile_queue<T>* queue_of(block& b) {
  if constexpr (Dynamic) return b.scratch<tile_queue<T>>(1);
  return nullptr;
}

// A GPU thread's part of each tile: one segment of a vector's columns at most. In one register.
struct thread_in_tile {
  unsigned vector : 10;
  unsigned row : 10;
  unsigned segment : 10;
  bool idle : 1;
};

STARLING_HD inline thread_in_tile thread_of(const interior_partition& cut, int member, int width, int dimensions) {
  const int vectors = cut.queue_extent[2] / width;
  const int beside = member / vectors;
  const int rows = dimensions == 3 ? cut.queue_extent[1] : 1;
  const int segment = beside / rows;
  const auto part = [](int n) { return static_cast<unsigned>(n) & 1023u; };
  return {part(member - beside * vectors), part(beside - segment * rows), part(segment), segment >= cut.segments};
}

template <int Dimensions, bool Check, class T>
STARLING_HD void stream_tile(const coefficients<T>& weight, const tile_queue<T>& queue, const tile_start& at,
                             thread_in_tile mine, T& change) {
  using columns = column_stream<T, Dimensions, false, queue_cells_at_once<T>(Dimensions)>;
  constexpr int length = queue_segment_length<T>(Dimensions);
  const int begin = (Dimensions == 3 ? at.z : at.y) + static_cast<int>(mine.segment) * length;
  const int y = Dimensions == 3 ? at.y + static_cast<int>(mine.row) : begin;
  const int x = at.x + static_cast<int>(mine.vector) * columns::width;
  const int left = (Dimensions == 3 ? queue.end.z : queue.end.y) - begin;
  const int from = queue.begin_x - x;
  const int to = queue.end.x - x;
  if (mine.idle || left <= 0 || to <= 0 || y >= queue.end.y) return;
  const index_t cell = (Dimensions == 3 ? begin : 0) * queue.u.layer + y * queue.u.pitch + x;
  columns(weight, queue.u.in, queue.u.out, queue.u.layer, queue.u.pitch)
      .template column<Check, length>(cell, left < length ? left : length, from > 0 ? from : 0,
                                      to < columns::width ? to : columns::width, change);
}

// Draws a ticket: how many were drawn before. On a GPU without the checks of a block's call, since all threads wait for
// this one at the end of a tile.
template <class T>
STARLING_HD std::uint32_t next_ticket(block_threads t, sym<std::uint32_t> counter, const tile_queue<T>& queue) {
  if constexpr (target::on_gpu) return target::fetch_add(queue.counter, 1u);
  return t.thread().atomic_fetch_add(counter, 1, t.pe());
}

// One step over the tiles that a block takes, the index-th of those that share the partition; returns the largest
// change. Not inlined, so that all registers are there for the cells. Two tiles are known at a time, and the ticket for
// a third is on its way, so that no block waits between tiles.
template <int Dimensions, bool Check, class T>
__attribute__((noinline)) STARLING_HD T run_queue(block_threads t, coefficients<T> weight, sym<std::uint32_t> counter,
                                                  const box& own, interior_partition cut, int index,
                                                  tile_queue<T>* shared) {
  tile_queue<T>& queue = *target::in_scratch(shared);
  const auto tiles = static_cast<std::uint32_t>(cut.tiles());
  const auto blocks = static_cast<std::uint32_t>(cut.blocks);
  const auto tile = [&](std::uint32_t number) -> typename tile_queue<T>::entry {
    if (number >= tiles) return {};
    return {cut.queue_start(queue.first, static_cast<int>(number)), true};
  };
  const auto rank = static_cast<std::uint32_t>(index);
  // The ticket for the tile after the next. A block begins with two tiles that need none; the arithmetic holds when the
  // counter overflows, too.
  std::uint32_t ticket = rank - blocks + queue.before;
  if (t.member() == 0) queue.next[0] = tile(rank);
  t.sync();
  const thread_in_tile mine = thread_of(cut, t.member(), cell_vector<T>::width, Dimensions);
  T change = 0;
  for (int turn = 0; queue.next[turn].there; turn = 1 - turn) {
    const tile_start at = queue.next[turn].at;
    if (t.member() == 0) {
      queue.next[1 - turn] = tile(ticket - queue.before + 2 * blocks);
      ticket = next_ticket(t, counter, queue);
    }
    if constexpr (target::on_gpu) {
      stream_tile<Dimensions, Check>(weight, queue, at, mine, change);
    } else {
      const interior_tile p = cut.queue_tile(own, at);
      if (!p.empty()) loop_interior<Check, Dimensions>(t, p, weight, queue.u, change);
    }
    t.sync();
  }
  return change;
}

}  // namespace starling::stencil
