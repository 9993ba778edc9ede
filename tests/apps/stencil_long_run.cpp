// Stencils of STARLING_LONG_STEPS steps (200 without it) in one run, bit for bit. STARLING_TEST_SEED repeats a run.
//
// A mistake in any step has to be seen at the end. Averages forget: they come to rest, and a lost or stale edge is
// smoothed away. Here cells get a quarter of the differences of their neighbours along both axes, in a domain without
// ends. Of the waves in it those of four cells' length keep their size for ever and turn by a quarter in every step;
// all others fade. So the cells never come to rest, every face matters in every step, and what is disturbed once stays
// so.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "stencil/reference.hpp"
#include "stencil/solver.hpp"
#include "support/random.hpp"
#include "support/stencil_runs.hpp"
#include "support/test_machine.hpp"

namespace starling::stencil {
namespace {

index_t long_steps() {
  const char* text = std::getenv("STARLING_LONG_STEPS");
  return text == nullptr ? 200 : std::stoll(text);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Extents are multiples of four, the length of the waves that stay.
problem<float> turning_waves(index_t rows, index_t columns) {
  problem<float> p;
  p.shape = {rows, columns};
  p.coefficients = {0, -0.25f, 0.25f, -0.25f, 0.25f};
  p.edges = {edge::periodic, edge::periodic};
  return p;
}

struct repetition {
  std::vector<float> cells;  // after all steps
  index_t period = 0;        // of the cells at the end; 0: none seen
};

// The reference, of which not all steps need be done: cells that were there before lead to the same again. Brent's
// way: a mark is put at every power of two, and cells that equal it close the circle.
repetition after(const problem<float>& p, std::vector<float> u, index_t steps) {
  std::vector<float> mark = u;
  index_t marked = 0;
  for (index_t t = 1; t <= steps; ++t) {
    reference(p, u, 1);
    if (same_bits(u, mark)) {
      const index_t period = t - marked;
      reference(p, u, (steps - t) % period);
      return {u, period};
    }
    if (t < 2 * marked) continue;
    mark = u;
    marked = t;
  }
  return {u, 0};
}

// All GPUs up to four, or four virtual devices.
std::optional<machine> most_devices() {
  for (const int n : {4, 3, 2})
    if (!test::on_gpus() || test::pes_of_gpus() >= n) return test::test_machine(n);
  return test::test_machine(1);
}

TEST_CASE("many steps in one run end in the bits of the reference") {
  std::mt19937 draw(static_cast<unsigned>(test::seed_or(std::random_device{}())));
  const index_t steps = long_steps();
  const problem<float> p = turning_waves(64, 48);
  const std::vector<float> u = test::random_cells(p, draw);
  const repetition expected = after(p, u, steps);
  std::optional<machine> m = most_devices();
  if (!m) return;
  for (const variant how : {variant::cpu_free, variant::resident, variant::temporal})
    for (const index_t packets : {index_t{0}, index_t{1} << 18}) {
      INFO(name(how), ", ", steps, " steps on ", m->size(), " PEs, packets up to ", packets);
      solver<float> s(*m, p);
      s.load(u.data());
      const run_result r = s.advance({.how = how, .steps = steps, .packet_bytes = packets});
      std::vector<float> got(u.size(), std::numeric_limits<float>::quiet_NaN());
      s.store(got.data());
      CHECK(r.steps == steps);
      CHECK(same_bits(got, expected.cells));
      if (r.seconds > 1)
        MESSAGE(std::string(name(how)) << ": " << steps << " steps on " << m->size() << " PEs in " << r.seconds
                                       << " s, packets up to " << packets);
    }
}

TEST_CASE("one stale row in a long run shows at its end") {
  std::mt19937 draw(static_cast<unsigned>(test::seed_or(std::random_device{}())));
  const problem<float> p = turning_waves(24, 20);
  const std::vector<float> start = test::random_cells(p, draw);
  constexpr index_t steps = 6000;
  const repetition whole = after(p, start, steps);
  CHECK(whole.period != 1);  // the cells do not come to rest; rounding may make the period longer than the waves'
  for (const index_t late : {1, 2, 3}) {
    std::vector<float> u = after(p, start, steps / 2).cells;
    const std::vector<float> stale = after(p, start, steps / 2 - late).cells;
    std::copy_n(stale.begin() + 11 * 20, 20, u.begin() + 11 * 20);
    INFO(late, " steps late");
    CHECK_FALSE(same_bits(after(p, u, steps / 2).cells, whole.cells));
  }
}

TEST_CASE("a repetition saves steps and changes nothing") {
  std::mt19937 draw(static_cast<unsigned>(test::seed_or(std::random_device{}())));
  const problem<float> p = turning_waves(12, 8);
  const std::vector<float> start = test::random_cells(p, draw);
  for (const index_t steps : {0, 1, 7, 2001, 2002}) {
    std::vector<float> all = start;
    reference(p, all, steps);
    CHECK(same_bits(after(p, start, steps).cells, all));
  }
}

}  // namespace
}  // namespace starling::stencil
