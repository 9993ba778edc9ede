// Jacobi's method on a grid that is cut in two dimensions, with a residual in every step: the workload of the
// publication on GIO, for machines whose PEs are on several hosts. One program does all steps, or the host starts a
// kernel for each and copies edges in between. Every way gives the bits of the sequential loop.
//
// A cell becomes a quarter of the sum of its neighbours; cells at the border of the whole grid are held. The residual
// is the largest change of a step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::gio {

enum class grid_way {
  program,            // one program; blocks put edges by way of the card: gio, or ikn where a thread is the card
  inter_k,            // the host starts a kernel a step, waits for it, copies edges and takes the residual
  inter_k_overlap,    // edges and inside are kernels of their own, so that copies of edges go on beside the inside
  inter_k_no_copies,  // inter_k without copies and residual: what computing and launching take. Its cells are wrong
  inter_k_empty,      // inter_k whose kernels do nothing, without copies: what launching takes
};
inline constexpr grid_way all_grid_ways[] = {grid_way::program, grid_way::inter_k, grid_way::inter_k_overlap,
                                             grid_way::inter_k_no_copies, grid_way::inter_k_empty};
const char* name(grid_way w);
// Whether it computes what it should; the others are parts of it, to be timed.
constexpr bool solves(grid_way w) { return w <= grid_way::inter_k_overlap; }

struct grid_options {
  index_t rows = 0;  // of the whole grid; at least 2 in each part
  index_t columns = 0;
  int blocks = 0;  // of each PE that do the inside; 0: 1 on virtual devices, as many as fit on GPUs, up to 256
  int threads = 256;
  double deadline = 0;  // of waits, in seconds; 0: the machine's
};

struct grid_result {
  int steps = 0;
  double residual = 0;
  double seconds = 0;  // of all steps, by the host's clock; launches count
};

class grid {
 public:
  // Throws argument_error for sizes that the machine's PEs cannot share.
  grid(machine& m, const grid_options& o);
  ~grid();
  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;

  // How many parts there are from top to bottom, and from side to side.
  int part_rows() const;
  int part_columns() const;

  // From `cells`, rows x columns: until a step's residual is below `tolerance`, or `steps` have been done.
  grid_result run(grid_way way, const std::vector<double>& cells, int steps, double tolerance = 0);
  // What the last run left.
  std::vector<double> cells() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// The same in a loop of one thread, in place.
grid_result grid_in_a_loop(std::vector<double>& cells, index_t rows, index_t columns, int steps, double tolerance = 0);

}  // namespace starling::gio
