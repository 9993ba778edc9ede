// Regions that the host commits, under many schedules: what is right passes, and reading before the wait is found.
#include "support/checked.hpp"
#include "support/host_recurrence.hpp"

namespace starling::test::host_region_kernels_tests {
namespace {

// Every element of an epoch.
void read_all(host_region& x, int pe, std::uint64_t e, sym<std::uint64_t> sum) {
  const auto* old = reinterpret_cast<const std::uint64_t*>(x.data(pe, e));
  const index_t n = x.size();
  x.work(pe).launch(
      1, STARLING_KERNEL(block & b) {
        std::uint64_t s = 0;
        for (index_t i = 0; i < n; ++i) s += old[i];
        *sum.on(b.pe()) = s;
      });
}

// The recurrence; `early`: PE 1 reads epoch 2 before it has waited for it.
void run_epochs(machine& m, index_t n, int buffers, bool early, random& r) {
  host_region x(m, n, sizeof(std::uint64_t), {.buffers = buffers, .chunk_bytes = 128});
  const auto start = random_values(n, r);
  x.load(bytes_of(start));
  const auto sums = m.allocate<std::uint64_t>(1);
  constexpr std::uint64_t epochs = 4;
  for (std::uint64_t e = 1; e <= epochs; ++e)
    for (int pe = 0; pe < m.size(); ++pe) {
      const bool too_early = early && pe == 1 && e == 3;
      if (!too_early) x.wait(pe, e - 1);
      const std::vector<index_range> pieces = pieces_of(x.part(pe), r);
      for (const index_range piece : pieces) {
        if (piece.empty())
          read_all(x, pe, e - 1, sums.data());
        else
          put_epoch(x, pe, e, piece);
        if (!too_early) x.commit(pe, piece);
      }
      if (!too_early) continue;
      x.wait(pe, e - 1);
      x.commit(pe, x.part(pe));
    }
  const auto expected = by_loop(start, epochs);
  for (int pe = 0; pe < m.size(); ++pe) {
    const auto got = read_epoch(x, pe, epochs);
    CHECK(got == expected);
  }
}

TEST_CASE("host_region passes") {
  random r(51);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const index_t n : {5, 53}) {  // of 5 the other PEs have none
      CAPTURE(pes);
      CAPTURE(n);
      machine m = checked_machine(pes, 20);
      run_epochs(m, n, 2 + static_cast<int>(r.below(2)), false, r);
      CHECK(m.checked().schedules >= 20);
    }
}

TEST_CASE("reading an epoch of a host_region before the wait") {
  random r(53);
  machine m = checked_machine(3);
  const auto e = finding_of([&] { run_epochs(m, 53, 2, true, r); });
  if (e) check_parts(e->what(), {"unordered", "host_recurrence.hpp:"});
}

}  // namespace
}  // namespace starling::test::host_region_kernels_tests
