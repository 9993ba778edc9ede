// A halo exchange around a ring of PEs, as the stencils do it: double-buffered halos, put_signal, and the neighbour's
// own signal of the step before as the credit to overwrite. The data of every step is checked in the kernel.
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::halo_ring_tests {
namespace {

struct halo_ring {
  index_t n;  // elements of a row
  int steps;
  level sender;
  sym<double> rows;   // [2] own edge rows, north and south, rewritten in every step
  sym<double> halos;  // [2 directions][2 slots] rows of the neighbours
  sym<signal> came;   // [2 directions]
  counter good;

  STARLING_HD static double edge(int pe, int side, int step, index_t i) {
    return static_cast<double>(mix(static_cast<std::uint64_t>(pe * 2 + side), static_cast<std::uint64_t>(step),
                                   static_cast<std::uint64_t>(i)) >>
                               12);
  }

  // Direction 0 goes to the north neighbour (pe - 1), 1 to the south (pe + 1). Block 0 serves the north edge, block 1
  // the south edge; both neighbours do the same, so halos of direction d come from the neighbour on the other side.
  STARLING_HD void operator()(block& b) const {
    const int side = b.index();
    const int there = (b.pe() + (side == 0 ? b.n_pes() - 1 : 1)) % b.n_pes();
    double* mine = rows.on(b.pe()) + side * n;
    index_t wrong = 0;
    for (int step = 1; step <= steps; ++step) {
      b.for_each(n, [&](index_t i) { mine[i] = edge(b.pe(), side, step, i); });
      b.sync();
      // The slot that this step overwrites was read in step - 2, and the neighbour's signal of step - 1, which was
      // awaited below, was raised after that.
      const sym<double> slot = halos + ((1 - side) * 2 + step % 2) * n;
      at_level(b, sender, [&](const auto& g) { g.put_signal(slot, mine, n, came + (1 - side), step, there); });
      b.wait(came + side, step, there);
      const double* halo = halos.on(b.pe()) + (side * 2 + step % 2) * n;
      b.for_each(n, [&](index_t i) { wrong += halo[i] != edge(there, 1 - side, step, i); });
      b.sync();
    }
    good.add(b, steps, wrong);
  }
};

void run_ring(int pes, index_t n, int steps, level sender) {
  CAPTURE(pes);
  CAPTURE(n);
  CAPTURE(sender);
  auto m = test_machine(pes);
  if (!m) return;
  const auto rows = poisoned<double>(*m, 2 * n);
  const auto halos = poisoned<double>(*m, 4 * n);
  const auto came = zeroed<signal>(*m, 2);
  const tally t(*m);
  m->run(2, halo_ring{n, steps, sender, rows.data(), halos.data(), came.data(), t.counter()}, {.threads = 64});
  CHECK(t.made() == static_cast<std::uint64_t>(pes * 2 * steps * (on_gpus() ? 64 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("halo exchange around a ring, whole blocks send") {
  run_ring(2, 67, 6000, level::block);
  run_ring(4, 513, 1200, level::block);
}

TEST_CASE("halo exchange around a ring, a warp sends") { run_ring(3, 129, 1600, level::warp); }

TEST_CASE("halo exchange around a ring, a thread sends") { run_ring(4, 1, 2000, level::thread); }

TEST_CASE("halo exchange of a PE with itself") { run_ring(1, 33, 2000, level::block); }

}  // namespace
}  // namespace starling::test::halo_ring_tests
