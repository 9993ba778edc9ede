#include "gio/grid.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gio/grid_steps.hpp"
#include "starling/base/error.hpp"

namespace starling::gio {
namespace {

// As square as the number allows.
grid_cut cut_for(int pes, index_t rows, index_t columns) {
  int across = static_cast<int>(std::sqrt(static_cast<double>(pes)));
  while (pes % across != 0) --across;
  const grid_cut cut{rows, columns, across, pes / across};
  expect<argument_error>(rows >= 2 * cut.part_rows && columns >= 2 * cut.part_columns, "a grid of ", rows, " x ",
                         columns, " cells cannot be cut into ", cut.part_rows, " x ", cut.part_columns,
                         " parts of at least 2 x 2; take a larger one, or fewer PEs");
  return cut;
}

using clock = std::chrono::steady_clock;

}  // namespace

struct grid::state {
  state(machine& on, const grid_options& o)
      : m(on),
        options{.threads = o.threads, .deadline = o.deadline},
        blocks(o.blocks != 0                     ? o.blocks
               : on.kind() == machine_kind::cuda ? std::min(256, most_inside_blocks(on, options))
                                                 : 1) {
    expect<argument_error>(blocks >= 1, "blocks = ", blocks, "; the inside of a part needs at least 1");
    memory.cut = cut_for(m.size(), o.rows, o.columns);
    index_t most_rows = 0;
    for (int pe = 0; pe < m.size(); ++pe) {
      parts.push_back(memory.cut.part(pe));
      most_rows = std::max(most_rows, parts.back().rows);
      memory.pitch = std::max(memory.pitch, parts.back().columns);
    }
    memory.longest = std::max(most_rows, memory.pitch);
    for (auto& c : cells) c = m.allocate<double>(most_rows * memory.pitch);
    receive_buffer = m.allocate<double>(2 * sides * memory.longest);
    send_buffer = m.allocate<double>(2 * sides * memory.longest);
    arrived = m.allocate<signal>(sides);
    residual = m.allocate<double>(sides + blocks);
    outcome = m.allocate<grid_outcome>(1);
    memory.cells[0] = cells[0].data();
    memory.cells[1] = cells[1].data();
    memory.receive_buffer = receive_buffer.data();
    memory.send_buffer = send_buffer.data();
    memory.arrived = arrived.data();
    memory.residual = residual.data();
    const std::size_t values = static_cast<std::size_t>(sides + blocks);
    residuals = m.allocate_on(host_place, values * static_cast<std::size_t>(m.size()) * sizeof(double));
    for (int pe = 0; pe < m.size(); ++pe) {
      main.push_back(m.new_stream(pe));
      beside.push_back(m.new_stream(pe));
    }
  }

  std::size_t edge_bytes(int pe, int s) const {
    const grid_part& p = parts[static_cast<std::size_t>(pe)];
    return static_cast<std::size_t>(s == north || s == south ? p.columns : p.rows) * sizeof(double);
  }
  static std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

  // Both copies of the cells, since those that are held are not written again, and the edges before the first step.
  void load(const std::vector<double>& from) {
    for (int pe = 0; pe < m.size(); ++pe) {
      const grid_part& p = parts[at(pe)];
      const std::size_t row = static_cast<std::size_t>(p.columns) * sizeof(double);
      const double* first = from.data() + p.first_row * memory.cut.columns + p.first_column;
      for (auto& c : cells)
        main[at(pe)].copy_rows(c.on(pe), static_cast<std::size_t>(memory.pitch) * sizeof(double), first,
                               static_cast<std::size_t>(memory.cut.columns) * sizeof(double), row,
                               static_cast<std::size_t>(p.rows));
      main[at(pe)].fill(arrived.on(pe), 0, sides * sizeof(signal));
      std::vector<double> edges(static_cast<std::size_t>(sides * memory.longest));
      for (int s = 0; s < sides; ++s) {
        if (p.beside[s] == no_part) continue;
        const auto n = static_cast<index_t>(edge_bytes(pe, s) / sizeof(double));
        for (index_t i = 0; i < n; ++i) {
          const index_t y = s == north ? -1 : s == south ? p.rows : i;
          const index_t x = s == west ? -1 : s == east ? p.columns : i;
          edges[static_cast<std::size_t>(s * memory.longest + i)] = first[y * memory.cut.columns + x];
        }
      }
      main[at(pe)].copy(receive_buffer.on(pe), edges.data(), edges.size() * sizeof(double));
      main[at(pe)].synchronize();
    }
  }

  void synchronize() {
    for (stream& s : main) s.synchronize();
    for (stream& s : beside) s.synchronize();
  }

  void copy_edges(int pe, int step, stream& s) {
    for (int from = 0; from < sides; ++from) {
      const int to = parts[at(pe)].beside[from];
      if (to == no_part) continue;
      s.copy(receive_buffer.on(to) + memory.edge_at(step, opposite(from)),
             send_buffer.on(pe) + memory.edge_at(step, from), edge_bytes(pe, from));
    }
  }

  double largest_residual() {
    const std::size_t values = static_cast<std::size_t>(sides + blocks);
    auto* all = static_cast<double*>(static_cast<void*>(residuals.data()));
    for (int pe = 0; pe < m.size(); ++pe)
      main[at(pe)].copy(all + values * at(pe), residual.on(pe), values * sizeof(double));
    synchronize();
    double most = 0;
    for (std::size_t i = 0; i < values * at(m.size()); ++i) most = maximum{}(most, all[i]);
    return most;
  }

  // A kernel, then the copies, then the residual, each when the one before has ended.
  double step_in_order(grid_way way, int step) {
    const grid_work work = way == grid_way::inter_k_empty ? grid_work::nothing : grid_work::all;
    for (stream& s : main) launch_grid_step(s, memory, work, step, blocks, options);
    for (stream& s : main) s.synchronize();
    if (way != grid_way::inter_k) return 0;
    for (int pe = 0; pe < m.size(); ++pe) copy_edges(pe, step, main[at(pe)]);
    for (stream& s : main) s.synchronize();
    return largest_residual();
  }

  double step_overlapped(int step) {
    for (int pe = 0; pe < m.size(); ++pe) {
      launch_grid_step(beside[at(pe)], memory, grid_work::edges, step, blocks, options);
      launch_grid_step(main[at(pe)], memory, grid_work::inside, step, blocks, options);
      copy_edges(pe, step, beside[at(pe)]);
    }
    synchronize();
    return largest_residual();
  }

  grid_result run_by_host(grid_way way, int steps, double tolerance) {
    grid_result r;
    do {
      ++r.steps;
      r.residual = way == grid_way::inter_k_overlap ? step_overlapped(r.steps) : step_in_order(way, r.steps);
    } while (r.steps < steps && (!solves(way) || r.residual >= tolerance));
    return r;
  }

  grid_result run_program(int steps, double tolerance) {
    run_grid_program(m, memory, blocks, steps, tolerance, outcome.data(), options);
    grid_outcome found{};
    m.copy(&found, outcome.on(0), sizeof found);
    return {found.steps, found.residual, 0};
  }

  machine m;
  grid_memory memory;
  launch_options options;
  int blocks;
  std::vector<grid_part> parts;
  symmetric_array<double> cells[2];
  symmetric_array<double> receive_buffer, send_buffer, residual;
  symmetric_array<signal> arrived;
  symmetric_array<grid_outcome> outcome;
  local_memory residuals;
  std::vector<stream> main, beside;
  int done = 0;  // steps of the last run
};

grid::grid(machine& m, const grid_options& o) : state_(std::make_unique<state>(m, o)) {}
grid::~grid() = default;

int grid::part_rows() const { return state_->memory.cut.part_rows; }
int grid::part_columns() const { return state_->memory.cut.part_columns; }

grid_result grid::run(grid_way way, const std::vector<double>& cells, int steps, double tolerance) {
  const grid_cut& cut = state_->memory.cut;
  expect<argument_error>(static_cast<index_t>(cells.size()) == cut.rows * cut.columns, "cells has ", cells.size(),
                         " values; the grid has ", cut.rows, " x ", cut.columns);
  expect<argument_error>(steps >= 1, "steps = ", steps, "; must be at least 1");
  state_->load(cells);
  const auto start = clock::now();
  grid_result r =
      way == grid_way::program ? state_->run_program(steps, tolerance) : state_->run_by_host(way, steps, tolerance);
  r.seconds = std::chrono::duration<double>(clock::now() - start).count();
  state_->done = r.steps;
  return r;
}

std::vector<double> grid::cells() const {
  const grid_cut& cut = state_->memory.cut;
  std::vector<double> all(static_cast<std::size_t>(cut.rows * cut.columns));
  for (int pe = 0; pe < state_->m.size(); ++pe) {
    const grid_part& p = state_->parts[state::at(pe)];
    stream& s = state_->main[state::at(pe)];
    s.copy_rows(all.data() + p.first_row * cut.columns + p.first_column,
                static_cast<std::size_t>(cut.columns) * sizeof(double), state_->cells[state_->done & 1].on(pe),
                static_cast<std::size_t>(state_->memory.pitch) * sizeof(double),
                static_cast<std::size_t>(p.columns) * sizeof(double), static_cast<std::size_t>(p.rows));
    s.synchronize();
  }
  return all;
}

const char* name(grid_way w) {
  constexpr const char* names[] = {"program", "inter_k", "inter_k_overlap", "inter_k_no_copies", "inter_k_empty"};
  return names[static_cast<int>(w)];
}

grid_result grid_in_a_loop(std::vector<double>& cells, index_t rows, index_t columns, int steps, double tolerance) {
  grid_result r;
  std::vector<double> fresh = cells;
  do {
    ++r.steps;
    r.residual = 0;
    for (index_t y = 1; y + 1 < rows; ++y)
      for (index_t x = 1; x + 1 < columns; ++x) {
        const double* at = cells.data() + y * columns + x;
        const double value = 0.25 * ((at[-columns] + at[columns]) + (at[-1] + at[1]));
        r.residual = maximum{}(r.residual, std::fabs(value - *at));
        fresh[static_cast<std::size_t>(y * columns + x)] = value;
      }
    cells.swap(fresh);
  } while (r.steps < steps && r.residual >= tolerance);
  return r;
}

}  // namespace starling::gio
