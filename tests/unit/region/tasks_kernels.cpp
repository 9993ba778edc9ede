// Regions in tasks: the recurrence of support/region_recurrence.hpp as loops of contexts, mixed with logical data,
// recorded, repeated, and before and after programs.
#include "starling/region/tasks.hpp"
#include "support/region_recurrence.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;
using word = std::uint64_t;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::automatic,
                                      backend_kind::persistent};
constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling};

std::vector<word> some(index_t n, random& r) {
  std::vector<word> v(static_cast<std::size_t>(n));
  for (auto& x : v) x = r.next();
  return v;
}

// One epoch of the recurrence.
void step(context& ctx, const region<word>& x) {
  const index_t n = x.size();
  ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())
          ->*STARLING_KERNEL(index_t i, region_step<word> v) {
    v.next(i) = next_of(v.old(i), v.old(far(i, n, 1)), v.old(far(i, n, 2)), i, v.epoch);
  };
}

void check_on_all(const region<word>& x, int pes, word epoch, const std::vector<word>& expected) {
  CHECK(x.epoch() == epoch);
  for (int pe = 0; pe < pes; ++pe) {
    std::vector<word> got(expected.size(), 1);
    x.read(pe, epoch, got);
    CHECK(got == expected);
  }
}

TEST_CASE("a recurrence in tasks") {
  random r(51);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : back_ends)
      for (const region_agent agent : agents)
        for (const std::size_t chunk : {128u, 1024u})
          for (const index_t n : {1, 17, 1001}) {
            CAPTURE(pes);
            CAPTURE(static_cast<int>(backend));
            CAPTURE(std::string(name(agent)));
            CAPTURE(chunk);
            CAPTURE(n);
            const region_mapping tiles = r.below(2) == 0
                                             ? region_mapping::one_to_one(1 + static_cast<index_t>(r.below(200)))
                                             : region_mapping::stride(1 + static_cast<int>(r.below(5)), 9);
            region<word> x(*m, n,
                           {.buffers = 2 + static_cast<int>(r.below(2)),
                            .agent = agent,
                            .chunk_bytes = chunk,
                            .tiles = tiles,
                            .agent_blocks = 1 + static_cast<int>(r.below(3)),
                            .credits = r.below(2) == 1});
            const auto start = some(n, r);
            x.load(start);
            constexpr word epochs = 25;
            context ctx(*m, {.backend = backend});
            for (word e = 0; e < 5; ++e) {
              step(ctx, x);
              if (r.below(3) == 0) ctx.fence();
            }
            ctx.repeat(epochs - 5, [&] { step(ctx, x); });
            ctx.finalize();
            check_on_all(x, pes, epochs, by_loop(start, epochs));
          }
  }
}

}  // namespace
}  // namespace starling::test
