// Low pieces of the interior, which the blocks of a PE take in turn: whoever is done takes the next, so that what is
// under way lies side by side in memory and memory is read and written in its order. Blocks with a fixed share of the
// pieces drift apart, and memory is slower for that.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/step/column_march.hpp"
#include "stencil/step/interior_loop.hpp"

namespace starling::stencil {

// What the threads of a block look at for each piece, in its fast memory: registers are for the cells. Thread 0 writes
// it.
template <class T>
struct piece_board {
  struct entry {
    piece_start at;
    bool there;
  };

  step_cells<T> u;
  std::uint32_t* asked;  // for pieces, by all blocks
  std::uint32_t before;  // of these, in earlier steps
  int begin_x;           // of the interior
  piece_start first;
  piece_start end;
  entry next[2];

  // For a step, after so many.
  STARLING_HD void begin(const step_cells<T>& cells, const box& own, std::uint32_t* counter, std::uint32_t steps_before,
                         const interior_partition& cut) {
    u = cells;
    asked = counter;
    before = steps_before * static_cast<std::uint32_t>(cut.pieces());
    begin_x = static_cast<int>(own.interior[2].begin);
    first = cut.first_of(own);
    end = {static_cast<int>(own.interior[0].end), static_cast<int>(own.interior[1].end),
           static_cast<int>(own.interior[2].end)};
  }
};

// Nothing if blocks do not take pieces in turn.
template <bool InTurn, class T>
STARLING_HD piece_board<T>* board_of(block& b) {
  if constexpr (InTurn) return b.scratch<piece_board<T>>(1);
  return nullptr;
}

// What a thread of a GPU has of each piece: a segment of a vector's columns at most. In one register.
struct thread_in_piece {
  unsigned vector : 10;
  unsigned row : 10;
  unsigned segment : 10;
  bool idle : 1;
};

STARLING_HD inline thread_in_piece thread_of(const interior_partition& cut, int member, int width, int dimensions) {
  const int vectors = cut.low[2] / width;
  const int beside = member / vectors;
  const int rows = dimensions == 3 ? cut.low[1] : 1;
  const int segment = beside / rows;
  const auto part = [](int n) { return static_cast<unsigned>(n) & 1023u; };
  return {part(member - beside * vectors), part(beside - segment * rows), part(segment), segment >= cut.segments};
}

template <int Dimensions, bool Check, class T>
STARLING_HD void march_piece(const coefficients<T>& weight, const piece_board<T>& board, const piece_start& at,
                             thread_in_piece mine, T& change) {
  using march = column_march<T, Dimensions, false, cells_at_once_in_turn<T>(Dimensions)>;
  constexpr int length = segment_in_turn<T>(Dimensions);
  const int begin = (Dimensions == 3 ? at.z : at.y) + static_cast<int>(mine.segment) * length;
  const int y = Dimensions == 3 ? at.y + static_cast<int>(mine.row) : begin;
  const int x = at.x + static_cast<int>(mine.vector) * march::width;
  const int left = (Dimensions == 3 ? board.end.z : board.end.y) - begin;
  const int from = board.begin_x - x;
  const int to = board.end.x - x;
  if (mine.idle || left <= 0 || to <= 0 || y >= board.end.y) return;
  const index_t cell = (Dimensions == 3 ? begin : 0) * board.u.layer + y * board.u.pitch + x;
  march(weight, board.u.in, board.u.out, board.u.layer, board.u.pitch)
      .template column<Check, length>(cell, left < length ? left : length, from > 0 ? from : 0,
                                      to < march::width ? to : march::width, change);
}

// How many times blocks asked before. On a GPU without what a call of the block looks at, since all threads wait for
// this one at the end of a piece.
template <class T>
STARLING_HD std::uint32_t ask_for_piece(block_threads t, sym<std::uint32_t> counter, const piece_board<T>& board) {
  if constexpr (target::on_gpu) return target::fetch_add(board.asked, 1u);
  return t.thread().atomic_fetch_add(counter, 1, t.pe());
}

// A step of those that the index-th of the blocks takes which share the cut; returns the largest change. A function of
// its own, so that all registers are there for the cells. Two pieces are known at a time, and the number of a third is
// asked for, so that nothing is waited for between pieces.
template <int Dimensions, bool Check, class T>
__attribute__((noinline)) STARLING_HD T take_pieces(block_threads t, coefficients<T> weight, sym<std::uint32_t> counter,
                                                    const box& own, interior_partition cut, int index,
                                                    piece_board<T>* shared) {
  piece_board<T>& board = *target::in_scratch(shared);
  const auto pieces = static_cast<std::uint32_t>(cut.pieces());
  const auto blocks = static_cast<std::uint32_t>(cut.blocks);
  const auto piece = [&](std::uint32_t number) -> typename piece_board<T>::entry {
    if (number >= pieces) return {};
    return {cut.low_start(board.first, static_cast<int>(number)), true};
  };
  const auto rank = static_cast<std::uint32_t>(index);
  // What was counted when the piece after the next was asked for. A block begins with two that nobody asks for; the
  // arithmetic is right for more pieces than can be counted, too.
  std::uint32_t counted = rank - blocks + board.before;
  if (t.member() == 0) board.next[0] = piece(rank);
  t.sync();
  const thread_in_piece mine = thread_of(cut, t.member(), cell_vector<T>::width, Dimensions);
  T change = 0;
  for (int turn = 0; board.next[turn].there; turn = 1 - turn) {
    const piece_start at = board.next[turn].at;
    if (t.member() == 0) {
      board.next[1 - turn] = piece(counted - board.before + 2 * blocks);
      counted = ask_for_piece(t, counter, board);
    }
    if constexpr (target::on_gpu) {
      march_piece<Dimensions, Check>(weight, board, at, mine, change);
    } else {
      const interior_piece p = cut.low_piece(own, at);
      if (!p.empty()) loop_interior<Check, Dimensions>(t, p, weight, board.u, change);
    }
    t.sync();
  }
  return change;
}

}  // namespace starling::stencil
