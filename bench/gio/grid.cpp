// Jacobi's method on a grid that is cut in two dimensions over hosts of one PE each, with a residual in every step:
// what a step takes by who moves the edges (apps/gio/grid.hpp). Before anything is timed, all ways have to give the
// bits of the loop of one thread, on a small grid to its end and on the one that is timed for three steps. What moves
// between hosts is a model's work: the wire takes no time. Prints one JSON object a line.
//
//   grid [--machine cuda] [--pes 4] [--gpus 4] [--side 2048 | --whole 4096] [--steps 100] [--repetitions 5]
//        [--ways gio,ikn,inter_k,inter_k_overlap,inter_k_no_copies,inter_k_empty]
//
// --side: of the part of each PE, so that more PEs have more to do. --whole: of the whole grid. --gpus: how many the
// PEs share; as many as there are PEs by default.
#include <algorithm>
#include <cstdio>

#include "command_line.hpp"
#include "gio/grid.hpp"
#include "json_line.hpp"

namespace st = starling;
namespace gio = starling::gio;

namespace {

struct named_way {
  const char* name;
  gio::grid_way way;
  st::card card = st::card::model;
};
constexpr named_way all_ways[] = {{"gio", gio::grid_way::program},
                                  {"ikn", gio::grid_way::program, st::card::proxy},
                                  {"inter_k", gio::grid_way::inter_k},
                                  {"inter_k_overlap", gio::grid_way::inter_k_overlap},
                                  {"inter_k_no_copies", gio::grid_way::inter_k_no_copies},
                                  {"inter_k_empty", gio::grid_way::inter_k_empty}};

struct asked {
  bool gpus;
  int pes;
  int gpu_count;
  st::index_t side;
  st::index_t whole;
  int steps;
  int repetitions;
};

st::machine machine_for(const asked& a, st::card card) {
  std::vector<int> hosts, ids;
  for (int pe = 0; pe < a.pes; ++pe) {
    hosts.push_back(pe);
    ids.push_back(pe % a.gpu_count);
  }
  return a.gpus ? st::machine::cuda(ids, {.hosts = hosts, .card = card}) : st::machine::host(a.pes, {.hosts = hosts});
}

// Neither symmetric nor smooth, so that a cell from a wrong place shows.
std::vector<double> first_cells(st::index_t rows, st::index_t columns) {
  std::vector<double> cells(static_cast<std::size_t>(rows * columns));
  std::uint64_t x = 25;
  for (double& c : cells) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<double>(x >> 11) * 0x1p-53;
  }
  return cells;
}

// Throws when a way does not give what the loop does.
void check(gio::grid& g, const named_way& by, const std::vector<double>& cells, st::index_t rows, int steps) {
  std::vector<double> wanted = cells;
  const auto loop = gio::grid_in_a_loop(wanted, rows, static_cast<st::index_t>(cells.size()) / rows, steps);
  const auto found = g.run(by.way, cells, steps);
  st::expect<st::device_error>(found.residual == loop.residual && g.cells() == wanted, by.name, " on ", rows,
                               " rows is not what the loop gives after ", steps, " steps (residual ", found.residual,
                               " instead of ", loop.residual, "); nothing was timed");
}

void check_small(st::machine& m, const named_way& by) {
  const st::index_t rows = 2 * m.size() + 13;
  const st::index_t columns = 2 * m.size() + 22;
  gio::grid g(m, {.rows = rows, .columns = columns, .blocks = 2, .threads = 64});
  check(g, by, first_cells(rows, columns), rows, 40);
}

void measure(const named_way& by, const asked& a) {
  st::machine m = machine_for(a, by.card);
  if (gio::solves(by.way)) check_small(m, by);
  gio::grid_options o{.rows = a.whole, .columns = a.whole};
  if (a.whole == 0) {
    const gio::grid shape(m, {.rows = 2 * a.pes, .columns = 2 * a.pes, .blocks = 1});
    o.rows = a.side * shape.part_rows();
    o.columns = a.side * shape.part_columns();
  }
  gio::grid g(m, o);
  const std::vector<double> cells = first_cells(o.rows, o.columns);
  if (gio::solves(by.way)) check(g, by, cells, o.rows, 3);
  std::vector<double> us;
  for (int r = 0; r <= a.repetitions; ++r) {
    const double seconds = g.run(by.way, cells, a.steps).seconds;
    if (r > 0) us.push_back(1e6 * seconds / a.steps);  // the first one to warm up
  }
  st::bench::json_line("grid")
      .add("way", by.name)
      .add("machine", name(m.kind()))
      .add("devices", a.pes)
      .add("gpus", a.gpus ? a.gpu_count : 0)
      .add("scaling", a.whole == 0 ? "weak" : "strong")
      .add("side", a.whole == 0 ? a.side : a.whole)
      .add("rows", o.rows)
      .add("columns", o.columns)
      .add("steps", a.steps)
      .add("us", us)
      .print();
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(
      argc, argv, {"--machine", "--pes", "--gpus", "--side", "--whole", "--steps", "--repetitions", "--ways"});
  const std::string kind = given.text("--machine", "cuda");
  st::expect<st::argument_error>(kind == "cuda" || kind == "host", "--machine ", kind, "; must be cuda or host");
  const auto whole_number = [&](const char* option, double usual, double least) {
    const double n = given.number(option, usual);
    st::expect<st::argument_error>(n >= least && n <= 1e6, option, " ", n, "; must be from ", least, " to 1e6");
    return static_cast<int>(n);
  };
  const int pes = whole_number("--pes", 4, 1);
  const asked a{.gpus = kind == "cuda",
                .pes = pes,
                .gpu_count = whole_number("--gpus", pes, 1),
                .side = whole_number("--side", 2048, 2),
                .whole = given.has("--whole") ? whole_number("--whole", 4096, 2) : 0,
                .steps = whole_number("--steps", 100, 1),
                .repetitions = whole_number("--repetitions", 5, 1)};
  const std::vector<std::string> ways = given.list("--ways", "");
  for (const std::string& text : ways)
    st::expect<st::argument_error>(
        std::any_of(std::begin(all_ways), std::end(all_ways), [&](const named_way& w) { return text == w.name; }),
        "--ways ", text,
        " is not known; must be some of gio, ikn, inter_k, inter_k_overlap, inter_k_no_copies, "
        "inter_k_empty");
  for (const named_way& by : all_ways) {
    if (!a.gpus && by.card == st::card::proxy) continue;  // the cards of virtual devices are threads anyway
    if (ways.empty() || std::find(ways.begin(), ways.end(), by.name) != ways.end()) measure(by, a);
  }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "grid: %s\n", e.what());
  return 1;
}
