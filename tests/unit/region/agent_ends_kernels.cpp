// How agents end: producers that leave earlier than they might have, kernels that fail in the middle of an epoch, and
// deadlines; each time the region and the machine are usable afterwards.
#include <algorithm>

#include "support/failure.hpp"
#include "support/region_recurrence.hpp"
#include "support/usable.hpp"

namespace starling::test::agent_ends_tests {
namespace {

enum class ending { early, refused, stalled };

constexpr index_t n = 203;
constexpr std::uint64_t planned = 50;
constexpr std::uint64_t last = 7;

// Halves all values, which are powers of two, each epoch; ends when the largest is 1, or not well.
void halve(machine& m, region<int>& x, ending how) {
  const auto h = x.handle();
  m.run(x.programs(2,
                   with_own_warp{STARLING_KERNEL(block & b) {
                     const sym<signal> nobody = h.state().credit;
                     for (std::uint64_t e = 1; e <= planned; ++e) {
    const auto old = h.await(b, e - 1);
    int largest = 0;
    for (index_t i = 0; i < n; ++i) largest = largest < old(i) ? old(i) : largest;
    if (largest <= 1) return;
    const bool here = b.pe() == 0 && b.index() == 1 && e == last;
    h.each_tile(b, e, [&](tile t, tracked<int> next) {
      if (how == ending::refused && here && t.number > 2) b.signal_set(nobody, 1, 1000);
      if (how == ending::stalled && here && t.number > 2) b.wait(nobody, ~std::uint64_t{0});
      b.for_each(t.range, [&](index_t i) { next(i) = old(i) / 2; });
    });
                     }
}
}  // namespace
,
                   {.deadline = how == ending::stalled ? 0.2 : 20.0}));
}  // namespace starling::test::agent_ends_tests

TEST_CASE("agents end with the kernel, however it ends") {
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_of(*m))
      for (const int agent_blocks : {1, 3}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(agent)));
        CAPTURE(agent_blocks);
        region<int> x(
            *m, n,
            {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(9), .agent_blocks = agent_blocks});
        const std::vector<int> start(n, 1 << last);
        if (!m->checking()) {  // where such ends are findings
          x.load(start);
          CHECK_THROWS_AS(halve(*m, x, ending::refused), range_error);
          x.load(start);
          CHECK_THROWS_AS(halve(*m, x, ending::stalled), stall_error);
        }
        for (int times = 0; times < 2; ++times) {
          x.load(start);
          halve(*m, x, ending::early);
          CHECK(x.epoch() == last);
          for (int pe = 0; pe < pes; ++pe) {
            std::vector<int> got(n, 0);
            x.read(pe, last, got);
            CHECK(got == std::vector<int>(n, 1));
          }
        }
      }
    check_usable(*m);
  }
}

// Each part goes to the next PE alone, which is as far as elements look.
TEST_CASE("chunks that some PEs get, odd numbers of elements, parts without any") {
  for (const int pes : {2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_of(*m))
      for (const bool empty : {false, true}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(agent)));
        CAPTURE(empty);
        std::vector<index_t> bounds;
        for (int pe = 1; pe < pes; ++pe) bounds.push_back(empty ? 32 : 32 * pe);
        region<int> x(*m, 131,
                      {.agent = agent,
                       .chunk_bytes = 128,
                       .tiles = region_mapping::stride(3, 5),
                       .subscribers = subscribers::only(
                           [pes](int owner, index_range) { return std::uint64_t{1} << (owner + 1) % pes; }),
                       .bounds = bounds,
                       .credits = true});
        x.load(std::vector<int>(131, 1));
        const auto h = x.handle();
        m->run(x.programs(
            2, with_own_warp{STARLING_KERNEL(block & b) {
              const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
              const index_t far = h.state().bounds.on(b.pe())[before];
              const bool has = far < h.state().bounds.on(b.pe())[before + 1];
              for (std::uint64_t e = 1; e <= 20; ++e) {
          const auto old = h.await(b, e - 1);
          const int one = has ? old(far) : 1;
          h.each_tile(b, e, [&](tile t, tracked<int> next) {
            h.for_each(b, t, [&](index_t i) { next(i) = old(i) + one % 2; });
          });
          h.give_credit(b, e - 1);
              }
      }
  }));
  std::vector<int> got(131, 0);
  x.collect(20, got);
  // Without empty parts all elements are alike: 1, 2, 2, 2, ...
  if (!empty) CHECK(std::all_of(got.begin(), got.end(), [](int v) { return v == 2; }));
  CHECK(x.epoch() == 20);
}
}
}

}  // namespace
}  // namespace starling::test::agent_ends_tests
