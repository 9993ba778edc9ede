#include "gio/grid_steps.hpp"

#include <algorithm>

namespace starling::gio {
namespace {

struct grid_program {
  grid_memory memory;
  int steps;
  double tolerance;
  sym<grid_outcome> outcome;

  STARLING_HD void operator()(block& b) const {
    double residual = 0;
    int t = 0;
    do {
      ++t;
      const grid_step step(memory, b.pe(), t);
      const double most =
          b.index() < sides ? edge(b, step, t) : step.inside(b, b.index() - sides, b.blocks_per_pe() - sides);
      // The next step overwrites what the neighbours have read in this one: nobody begins it before all have ended.
      residual = b.all_reduce(b.reduce(most, maximum{}), maximum{});
    } while (t < steps && residual >= tolerance);
    if (b.pe() == 0 && b.index() == 0 && b.member() == 0) *outcome.on(0) = {residual, t};
  }

 private:
  STARLING_HD double edge(block& b, const grid_step& step, int t) const {
    const int s = b.index();
    for (int i = 0; i < sides; ++i)  // corners need the neighbours at two sides
      if (step.part.beside[i] != no_part && i != opposite(s))
        b.wait(memory.arrived + i, static_cast<std::uint64_t>(t - 1), step.part.beside[i]);
    const double most = step.edge(b, s);
    b.sync();
    const int to = step.part.beside[s];
    if (to == no_part) return most;
    const index_t n = s == north || s == south ? step.part.columns : step.part.rows;
    b.put_signal(memory.receive_buffer + memory.edge_at(t, opposite(s)), step.made(s), n, memory.arrived + opposite(s),
                 static_cast<std::uint64_t>(t), to);
    return most;
  }
};

// The inside has a kernel's blocks to itself where edges are not among them.
struct grid_kernel {
  grid_memory memory;
  grid_work what;
  int step;

  STARLING_HD void operator()(block& b) const {
    if (what == grid_work::nothing) return;
    const grid_step s(memory, b.pe(), step);
    const int before = what == grid_work::inside ? 0 : sides;
    const double most =
        b.index() < before ? s.edge(b, b.index()) : s.inside(b, b.index() - before, b.blocks_per_pe() - before);
    const double residual = b.reduce(most, maximum{});
    const int place = what == grid_work::inside ? sides + b.index() : b.index();
    if (b.member() == 0) memory.residual.on(b.pe())[place] = residual;
  }
};

}  // namespace

void run_grid_program(machine& m, const grid_memory& memory, int blocks, int steps, double tolerance,
                      sym<grid_outcome> outcome, const launch_options& options) {
  m.run(sides + blocks, grid_program{memory, steps, tolerance, outcome}, options);
}

void launch_grid_step(stream& s, const grid_memory& memory, grid_work what, int step, int blocks,
                      const launch_options& options) {
  const int all = what == grid_work::edges ? sides : what == grid_work::inside ? blocks : sides + blocks;
  s.launch(all, grid_kernel{memory, what, step}, options);
}

int most_inside_blocks(const machine& m, const launch_options& options) {
  return m.blocks_that_fit(grid_program{}, options) - sides;
}

}  // namespace starling::gio
