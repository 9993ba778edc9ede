// One PE's part of a grid, and one step of it: each of its four edges, and the inside.
#pragma once

#include "starling/machine/machine.hpp"

namespace starling::gio {

enum side : int { north, south, west, east };
inline constexpr int sides = 4;
inline constexpr int no_part = -1;
STARLING_HD constexpr int opposite(int s) { return s ^ 1; }

struct grid_part {
  index_t rows = 0;
  index_t columns = 0;
  index_t first_row = 0;  // in the whole grid
  index_t first_column = 0;
  int beside[sides] = {no_part, no_part, no_part, no_part};  // PEs
};

// How a grid is cut: parts of nearly the same size, PEs row after row.
struct grid_cut {
  index_t rows = 0;
  index_t columns = 0;
  int part_rows = 1;
  int part_columns = 1;

  STARLING_HD grid_part part(int pe) const {
    const int y = pe / part_columns;
    const int x = pe % part_columns;
    grid_part p;
    p.first_row = rows * y / part_rows;
    p.first_column = columns * x / part_columns;
    p.rows = rows * (y + 1) / part_rows - p.first_row;
    p.columns = columns * (x + 1) / part_columns - p.first_column;
    if (y > 0) p.beside[north] = pe - part_columns;
    if (y + 1 < part_rows) p.beside[south] = pe + part_columns;
    if (x > 0) p.beside[west] = pe - 1;
    if (x + 1 < part_columns) p.beside[east] = pe + 1;
    return p;
  }
};

// What kernels need. Step t reads what step t - 1 has left, and writes beside it.
struct grid_memory {
  grid_cut cut;
  index_t pitch = 0;           // of a row of cells
  index_t longest = 0;         // edge
  sym<double> cells[2];        // by parity of the step
  sym<double> receive_buffer;  // [2][sides][longest]: the neighbours' edges
  sym<double> send_buffer;     // the own ones
  sym<signal> arrived;         // by side: the last step whose edge is in the receive_buffer
  sym<double> residual;        // by block of a kernel that the host starts

  STARLING_HD index_t edge_at(index_t step, int s) const { return ((step & 1) * sides + s) * longest; }
};

// A step of one part, by a block.
class grid_step {
 public:
  STARLING_HD grid_step(const grid_memory& m, int pe, index_t step)
      : part(m.cut.part(pe)),
        pitch_(m.pitch),
        old_(m.cells[(step - 1) & 1].on(pe)),
        fresh_(m.cells[step & 1].on(pe)),
        receive_buffer_(m.receive_buffer.on(pe) + m.edge_at(step - 1, 0)),
        send_buffer_(m.send_buffer.on(pe) + m.edge_at(step, 0)),
        longest_(m.longest) {}

  // One edge, with its corners, into cells and send_buffer; the largest change of this thread's cells.
  STARLING_HD double edge(const block& b, int s) const {
    double most = 0;
    const bool lies = s == north || s == south;
    const index_t n = lies ? part.columns : part.rows;
    b.for_each(n, [&](index_t i) {
      const index_t y = s == north ? 0 : s == south ? part.rows - 1 : i;
      const index_t x = s == west ? 0 : s == east ? part.columns - 1 : i;
      const double value = relaxed(y, x);
      send_buffer_[s * longest_ + i] = value;
      if (!lies && (y == 0 || y == part.rows - 1)) return;  // the cell of a corner is the other edge's
      fresh_[y * pitch_ + x] = value;
      most = maximum{}(most, change(value, y, x));
    });
    return most;
  }

  // Share `i` of `n` of the rest.
  STARLING_HD double inside(const block& b, int i, int n) const {
    double most = 0;
    const index_t rows = part.rows - 2;
    const index_range ys{1 + rows * i / n, 1 + rows * (i + 1) / n};
    b.for_each(ys, index_range{1, part.columns - 1}, [&](index_t y, index_t x) {
      const double* at = old_ + y * pitch_ + x;
      const double value = quarter(at[-pitch_], at[pitch_], at[-1], at[1]);
      fresh_[y * pitch_ + x] = value;
      most = maximum{}(most, change(value, y, x));
    });
    return most;
  }

  STARLING_HD const double* made(int s) const { return send_buffer_ + s * longest_; }

  const grid_part part;

 private:
  STARLING_HD static double quarter(double up, double down, double left, double right) {
    return 0.25 * ((up + down) + (left + right));
  }
  STARLING_HD double change(double value, index_t y, index_t x) const {
    const double by = value - old_[y * pitch_ + x];
    return by < 0 ? -by : by;
  }
  // Of a cell at an edge.
  STARLING_HD double relaxed(index_t y, index_t x) const {
    const double* at = old_ + y * pitch_ + x;
    const bool held = (y == 0 && part.beside[north] == no_part) || (x == 0 && part.beside[west] == no_part) ||
                      (y == part.rows - 1 && part.beside[south] == no_part) ||
                      (x == part.columns - 1 && part.beside[east] == no_part);
    if (held) return *at;
    return quarter(y > 0 ? at[-pitch_] : receive_buffer_[north * longest_ + x],
                   y < part.rows - 1 ? at[pitch_] : receive_buffer_[south * longest_ + x],
                   x > 0 ? at[-1] : receive_buffer_[west * longest_ + y],
                   x < part.columns - 1 ? at[1] : receive_buffer_[east * longest_ + y]);
  }

  index_t pitch_;
  const double* old_;
  double* fresh_;
  const double* receive_buffer_;
  double* send_buffer_;
  index_t longest_;
};

}  // namespace starling::gio
