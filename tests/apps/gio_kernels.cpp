// The workloads of network cards: puts that are measured, and a grid that is cut in two dimensions against a loop.
#include <cmath>

#include "gio/grid.hpp"
#include "gio/measure.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"
#include "support/usable.hpp"

namespace starling::test {
namespace {

std::optional<machine> hosts_of_one_pe(int pes) {
  host_options o;
  for (int pe = 0; pe < pes; ++pe) o.hosts.push_back(pe);
  return test_machine(pes, o);
}

std::vector<double> random_cells(random& r, index_t n) {
  std::vector<double> cells(static_cast<std::size_t>(n));
  for (double& c : cells) c = static_cast<double>(r.below(2'000'001)) / 1e6 - 1;
  return cells;
}

TEST_CASE("a grid that is cut has the bits of the loop, by every way") {
  random r(25);
  INFO("seed ", r.seed);
  for (const int pes : {1, 2, 3, 4, 6}) {
    auto m = hosts_of_one_pe(pes);
    if (!m) continue;
    // The parts are of different sizes, and some have no inside.
    const index_t rows = 2 * pes + r.below(20);
    const index_t columns = 2 * pes + r.below(20);
    gio::grid g(*m, {.rows = rows, .columns = columns, .blocks = static_cast<int>(1 + r.below(3)), .threads = 64});
    CHECK(g.part_rows() * g.part_columns() == pes);
    const auto first = random_cells(r, rows * columns);
    for (const int steps : {1, 2, static_cast<int>(3 + r.below(12))}) {
      std::vector<double> wanted = first;
      const gio::grid_result loop = gio::grid_in_a_loop(wanted, rows, columns, steps);
      for (const gio::grid_way way : gio::all_grid_ways) {
        CAPTURE(pes);
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(gio::name(way));
        const gio::grid_result found = g.run(way, first, steps);
        CHECK(found.steps == steps);
        CHECK(found.seconds > 0);
        if (!gio::solves(way)) continue;
        CHECK(found.residual == loop.residual);
        CHECK(g.cells() == wanted);
      }
    }
  }
}

TEST_CASE("a grid's steps end where the residual is small enough") {
  auto m = hosts_of_one_pe(4);
  if (!m) return;
  random r(26);
  INFO("seed ", r.seed);
  constexpr index_t side = 9;
  const auto first = random_cells(r, side * side);
  std::vector<double> wanted = first;
  const gio::grid_result loop = gio::grid_in_a_loop(wanted, side, side, 1000, 1e-3);
  CHECK(loop.steps < 1000);
  gio::grid g(*m, {.rows = side, .columns = side, .threads = 32});
  for (const gio::grid_way way : {gio::grid_way::program, gio::grid_way::inter_k, gio::grid_way::inter_k_overlap}) {
    const gio::grid_result found = g.run(way, first, 1000, 1e-3);
    CHECK(found.steps == loop.steps);
    CHECK(found.residual == loop.residual);
    CHECK(g.cells() == wanted);
  }
}

TEST_CASE("the loop relaxes to the straight line between two held sides") {
  constexpr index_t rows = 5;
  constexpr index_t columns = 9;
  std::vector<double> cells(static_cast<std::size_t>(rows * columns), 0.25);
  for (index_t y = 0; y < rows; ++y)
    for (index_t x = 0; x < columns; ++x)
      if (y == 0 || y == rows - 1 || x == 0 || x == columns - 1)
        cells[static_cast<std::size_t>(y * columns + x)] = static_cast<double>(x);
  (void)gio::grid_in_a_loop(cells, rows, columns, 100000, 1e-12);
  for (index_t y = 0; y < rows; ++y)
    for (index_t x = 0; x < columns; ++x)
      CHECK(std::fabs(cells[static_cast<std::size_t>(y * columns + x)] - static_cast<double>(x)) < 1e-9);
}

TEST_CASE("grids that cannot be") {
  auto m = hosts_of_one_pe(4);
  if (!m) return;
  check_parts(failure_of<argument_error>([&] { gio::grid(*m, {.rows = 3, .columns = 9}); }),
              {"3 x 9", "2 x 2 parts", "fewer PEs"});
  check_parts(failure_of<argument_error>([&] { gio::grid(*m, {.rows = 9, .columns = 9, .blocks = -1}); }),
              {"blocks = -1"});
  gio::grid g(*m, {.rows = 4, .columns = 6});
  check_parts(failure_of<argument_error>([&] { (void)g.run(gio::grid_way::program, {1, 2, 3}, 1); }),
              {"cells has 3", "4 x 6"});
  check_parts(failure_of<argument_error>([&] { (void)g.run(gio::grid_way::program, std::vector<double>(24), 0); }),
              {"steps = 0"});
  check_usable(*m);
}

TEST_CASE("puts by a card and by the host are measured by size and by blocks") {
  for (const gio::way by : {gio::way::gio, gio::way::inter_k, gio::way::inter_k_empty}) {
    host_options o;
    o.hosts = gio::by_card(by) ? std::vector<int>{0, 1} : std::vector<int>{0, 0};
    auto m = test_machine(2, o);
    if (!m) return;
    int told = 0;
    const auto all = gio::measure(*m, by, {.bytes = {3, 100}, .blocks = {1, 2}, .repetitions = 2, .iterations = 4},
                                  [&](const gio::measurement&) { ++told; });
    CHECK(told == static_cast<int>(all.size()));
    CHECK(all.size() == (gio::by_card(by) ? 2u + 4u + 2u : 2u));
    for (const gio::measurement& one : all) {
      CHECK(one.by == by);
      CHECK(one.iterations == 4);
      REQUIRE(one.us.size() == 2);
      for (const double us : one.us) CHECK(us > 0);
    }
    check_usable(*m);
  }
}

}  // namespace
}  // namespace starling::test
