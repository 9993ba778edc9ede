// Regions whose chunks are sent by kernels that who completes them launches, in a source whose kernels may launch
// others on GPUs too. Its kernels are types of its own.
#include "starling/region/region.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"
#include "support/usable.hpp"

namespace starling::test::launched_tests {
namespace {

using word = std::uint64_t;

STARLING_HD index_t elsewhere(index_t i, index_t n) { return (i * 7919 + 104729) % n; }
STARLING_HD word next_of(word a, word b, index_t i) { return a * 6364136223846793005u + (b ^ static_cast<word>(i)); }

// Tiles are left unchanged in this epoch and the one before, with two buffers.
STARLING_HD bool rests(int tile, word epoch, bool some_rest) { return some_rest && epoch >= 2 && tile % 3 == 1; }

std::vector<word> by_loop(std::vector<word> x, word epochs, index_t tile, const region<word>& of, int pes, bool some) {
  const auto n = static_cast<index_t>(x.size());
  for (word e = 1; e <= epochs; ++e) {
    std::vector<word> next = x;
    for (int pe = 0; pe < pes; ++pe)
      for (index_t i = of.part(pe).begin; i < of.part(pe).end; ++i) {
        const bool still = some && (i - of.part(pe).begin) / tile % 3 == 1;
        const auto at = static_cast<std::size_t>(i);
        if (!still) next[at] = next_of(x[at], x[static_cast<std::size_t>(elsewhere(i, n))], i);
      }
    x.swap(next);
  }
  return x;
}

void iterate(machine& m, region<word>& x, word first, word last, int blocks, bool credits, bool some_rest,
             const launch_options& options = {}, int bad_pe = -1) {
  const auto h = x.handle();
  m.run(x.programs(
      blocks,
      STARLING_KERNEL(block & b) {
        const index_t n = h.size();
        for (word e = first; e <= last; ++e) {
          const auto old = h.await(b, e - 1);
          if (e == last && bad_pe >= 0) b.signal_set(sym<signal>(), 1, bad_pe);
          h.each_tile(b, e, [&](const tile& t, const tracked<word>& next) {
            if (rests(t.number, e, some_rest)) return t.unchanged();
            b.for_each(t.range, [&](index_t i) {
              const bool still = some_rest && t.number % 3 == 1;
              next(i) = still ? old(i) : next_of(old(i), old(elsewhere(i, n)), i);
            });
          });
          if (credits) h.give_credit(b, e - 1);
        }
        h.await(b, last);
      },
      options));
}

TEST_CASE("a recurrence whose chunks are sent by launched kernels") {
  random r(37);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const std::size_t chunk : {128u, 1024u, 65536u})
      for (const index_t n : {1, 17, 5003}) {
        const bool credits = r.below(2) == 1, some_rest = r.below(2) == 1, host = r.below(2) == 1;
        const auto tile_elements = static_cast<index_t>(1 + r.below(200));
        const int blocks = 1 + static_cast<int>(r.below(4));
        CAPTURE(pes);
        CAPTURE(chunk);
        CAPTURE(n);
        CAPTURE(credits);
        CAPTURE(some_rest);
        CAPTURE(host);
        CAPTURE(tile_elements);
        CAPTURE(blocks);
        region<word> x(*m, n,
                       {.agent = region_agent::launched,
                        .chunk_bytes = chunk,
                        .tiles = region_mapping::one_to_one(tile_elements),
                        .subscribers = host ? everyone.and_host() : everyone,
                        .agent_blocks = 1 + static_cast<int>(r.below(4)),
                        .credits = credits,
                        .verify = r.below(2) == 1,
                        .timed = true});
        std::vector<word> start(static_cast<std::size_t>(n));
        for (word& v : start) v = r.next();
        x.load(start);
        const word epochs = repetitions(40);
        iterate(*m, x, 1, epochs / 2, blocks, credits, some_rest);
        iterate(*m, x, epochs / 2 + 1, epochs, blocks, credits, some_rest);
        const auto expected = by_loop(start, epochs, tile_elements, x, pes, some_rest);
        std::vector<word> got(start.size(), 1);
        for (int pe = 0; pe < pes; ++pe) {
          x.read(pe, epochs, got);
          CHECK(got == expected);
        }
        if (host) CHECK(std::equal(expected.begin(), expected.end(), x.on_host(epochs).begin()));
        for (const region_times& t : x.report().times) CHECK((t.arrived > 0) == (pes > 1 || host));
      }
  }
}

TEST_CASE("launched copies end with a kernel that fails, and the machine is usable") {
  auto m = test_machine(3);
  if (!m || m->checking()) return;
  region<word> x(*m, 2000, {.agent = region_agent::launched, .chunk_bytes = 256});
  for (int times = 0; times < 3; ++times) {
    x.load(std::vector<word>(2000, 3));
    CHECK_THROWS_AS(iterate(*m, x, 1, 9, 2, false, false, {}, 1000), range_error);
    check_usable(*m);
  }
  x.load(std::vector<word>(2000, 3));
  iterate(*m, x, 1, 9, 2, false, false);
  CHECK(x.epoch() == 9);
}

}  // namespace
}  // namespace starling::test::launched_tests
