// The edges of a tile as plain vectors: a message for each neighbour, and one signal that says it is there. For edges
// of many cells: half as much travels as in packets, and nothing is listed; but a message takes a barrier and a fence
// more.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/cell_vector.hpp"
#include "stencil/tile_cells.hpp"

namespace starling::stencil {

// What one neighbour gets: the cells at the edge towards it, line by line, in vectors of which the last of a line may
// be filled in part. A vector has cells that follow one another in a row. Where lines run across rows, its cells are as
// far apart as there are vectors: threads side by side then have rows side by side, which lie in other banks. What the
// neighbour sends are as many, to the ring `depth` layers beyond those cells.
struct tile_face {
  int pe;      // of the neighbour
  int out;     // first vector in a slot of its mail
  int in;      // the same in the own mail, for what it sends
  int there;   // its signal
  int here;    // the own signal that it raises
  int number;  // of the direction
  int first[axes];
  int line_cells;
  int line_vectors;
  int middle_lines;  // lines that follow each other along the direction's middle axis
  int vectors;
};

// Block: block, or what plays one.
template <class T, int Dimensions, bool OneArray, bool Streams, class Block = block>
class tile_faces {
 public:
  using cells = tile_cells<T, Dimensions, Streams>;
  using vector = cell_vector<T>;
  // Edges are sent as they are after a step.
  static constexpr bool ahead = false;

  STARLING_HD tile_faces(Block& b, const tiling& t, const tile_mail<T>& mail)
      : b_(b),
        t_(t),
        mail_(mail.vectors),
        arrived_(mail.arrived),
        faces_(b.template scratch<tile_face>(t.directions_used())) {}

  // Ends with a barrier of the block.
  STARLING_HD void plan(const geometry& g, const tile& mine, bool) {
    const int used = t_.directions_used();
    for (int i = b_.member(); i < used; i += b_.members()) {
      const int d = t_.direction_used(i);
      faces_[i] = face(mine, d, beside(g, t_, b_.pe(), b_.index(), direction(d)));
    }
    b_.sync();
    count_ = 0;
    for (int i = 0; i < used; ++i) count_ += faces_[i].pe == no_neighbour ? 0 : 1;
    b_.sync();
    // Those with a neighbour first.
    if (b_.member() == 0)
      for (int i = 0, n = 0; i < used; ++i)
        if (faces_[i].pe != no_neighbour) faces_[n++] = faces_[i];
    b_.sync();
  }

  // The neighbours' cells of a message into the rings of `now` and, if `both`, of `other`.
  STARLING_HD void take(index_t message, const cells& now, const cells& other, bool both) const {
    b_.wait_each(
        count_, [&](int i) { return awaited_signal{arrived_ + faces_[i].here, faces_[i].pe}; },
        static_cast<std::uint64_t>(message));
    const vector* slot = mail_.on(b_.pe()) + t_.mail_slot(message);
    int k = b_.member();
    for (int i = 0; i < count_;) {
      // Loads run together.
      constexpr int together = 4;
      vector got[together];
      int from[together];
      int number[together];
      unrolled<together>([&](auto j) {
        while (i < count_ && k >= faces_[i].vectors) k -= faces_[i++].vectors;
        from[j] = i;
        number[j] = k;
        if (i < count_) got[j] = slot[faces_[i].in + k];
        k += b_.members();
      });
      unrolled<together>([&](auto j) {
        if (from[j] == count_) return;
        const tile_face& f = faces_[from[j]];
        const direction d(f.number);
        line_part p = part(f, number[j]);
        unrolled<axes>([&](auto axis) { p.at[axis] += t_.depth * d.step[axis]; });
        store(now, p, got[j]);
        if (both) store(other, p, got[j]);
      });
    }
  }

  STARLING_HD void send(index_t message, const cells& now) const {
    const sym<vector> slot = mail_ + t_.mail_slot(message);
    b_.template put_signals<vector>(
        count_,
        [&](int i) {
          const tile_face& f = faces_[i];
          return signalled_put<vector>{slot + f.out, f.vectors, arrived_ + f.there, f.pe};
        },
        [&](int i, index_t k) { return load(now, faces_[i], static_cast<int>(k)); },
        static_cast<std::uint64_t>(message));
  }

 private:
  // The cells of one vector: where in the tile the first one is, how many rows and how far in a row the next one is
  // from it, how many there are, and whether they are a vector in the array too.
  struct line_part {
    int at[axes];
    int rows_on;
    int on;
    int cells;
    bool whole;
  };

  STARLING_HD tile_face face(const tile& mine, int number, const tile_place& to) const {
    const direction d(number);
    const auto sent = [&](int axis) { return static_cast<int>(extent_sent(d, axis, mine.extent[axis], t_.depth)); };
    const int back = opposite_direction(number);
    const auto mail = static_cast<int>(t_.mail_per_block());
    tile_face f{};
    f.pe = to.pe;
    f.out = to.block * mail + static_cast<int>(t_.start[back]);
    f.in = b_.index() * mail + static_cast<int>(t_.start[number]);
    f.there = to.block * directions + back;
    f.here = b_.index() * directions + number;
    f.number = number;
    for (int a = 0; a < axes; ++a) f.first[a] = d.step[a] > 0 ? mine.extent[a] - t_.depth : 0;
    f.line_cells = sent(d.fast());
    f.line_vectors = (f.line_cells + vector::width - 1) / vector::width;
    f.middle_lines = sent(d.middle());
    f.vectors = sent(0) * f.middle_lines * f.line_vectors;
    return f;
  }

  STARLING_HD static line_part part(const tile_face& f, int k) {
    const auto number = static_cast<unsigned>(k);  // its divisions are the cheaper ones
    const unsigned line = number / static_cast<unsigned>(f.line_vectors);
    const int in_line = static_cast<int>(number - line * static_cast<unsigned>(f.line_vectors));
    const unsigned above = line / static_cast<unsigned>(f.middle_lines);
    const int outer = static_cast<int>(above);
    const int middle = static_cast<int>(line - above * static_cast<unsigned>(f.middle_lines));
    const direction d(f.number);
    if (d.fast() == 1) {
      int cells = 0;
      unrolled<vector::width>([&](auto i) { cells += in_line + i * f.line_vectors < f.line_cells ? 1 : 0; });
      return {{f.first[0] + outer, f.first[1] + in_line, f.first[2] + middle}, f.line_vectors, 0, cells, false};
    }
    const int x = vector::width * in_line;
    const int left = f.line_cells - x;
    // In one array rows begin at multiples of a vector's size, so that vectors at edges along rows do.
    const bool whole = OneArray && d.step[2] == 0 && left >= vector::width;
    return {{f.first[0] + outer, f.first[1] + middle, f.first[2] + x},
            0,
            1,
            left < vector::width ? left : vector::width,
            whole};
  }

  STARLING_HD vector load(const cells& c, const tile_face& f, int k) const {
    const line_part p = part(f, k);
    if (p.whole) return *reinterpret_cast<const vector*>(c.at(p.at[0], p.at[1], p.at[2]));
    vector v{};
    unrolled<vector::width>([&](auto i) {
      if (i < p.cells) v.cell[i] = *c.at(p.at[0], p.at[1] + i * p.rows_on, p.at[2] + i * p.on);
    });
    return v;
  }

  STARLING_HD static void store(const cells& c, const line_part& p, const vector& v) {
    if (p.whole) {
      *reinterpret_cast<vector*>(c.at(p.at[0], p.at[1], p.at[2])) = v;
      return;
    }
    unrolled<vector::width>([&](auto i) {
      if (i < p.cells) *c.at(p.at[0], p.at[1] + i * p.rows_on, p.at[2] + i * p.on) = v.cell[i];
    });
  }

  Block& b_;
  const tiling& t_;
  sym<vector> mail_;
  sym<signal> arrived_;
  tile_face* faces_;
  int count_ = 0;
};

}  // namespace starling::stencil
