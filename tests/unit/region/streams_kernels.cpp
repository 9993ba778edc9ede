// Regions in plain launches of streams, ordered by events: the recurrence of support/region_recurrence.hpp, launched
// and recorded.
#include "support/region_recurrence.hpp"
#include "support/test_machine.hpp"

namespace starling::test::streams_tests {
namespace {

using word = std::uint64_t;

// One epoch on every PE; the streams' work is ordered before and after all of it.
void epoch_on_all(const region<word>& x, std::vector<stream>& streams, std::vector<event>& ends, int blocks) {
  const index_t n = x.size();
  const auto h = x.handle();
  for (std::size_t pe = 0; pe < streams.size(); ++pe) streams[pe].record(ends[pe]);
  for (stream& s : streams)
    for (const event& e : ends) s.wait(e);
  for (stream& s : streams)
    x.launch(
        s, blocks, STARLING_KERNEL(block & b) {
          const word e = h.newest(b) + 1;
          const auto old = h.await(b, e - 1);
          h.each_tile(b, e, [&](tile t, tracked<word> next) {
            h.for_each(b, t, [&](index_t i) { next(i) = next_of(old(i), old(far(i, n, 1)), old(far(i, n, 2)), i, e); });
          });
        });
}

TEST_CASE("a recurrence in streams, launched and recorded") {
  random r(55);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine})
      for (const index_t n : {1, 17, 1001}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(agent)));
        CAPTURE(n);
        region<word> x(*m, n,
                       {.agent = agent,
                        .chunk_bytes = 256,
                        .tiles = region_mapping::one_to_one(1 + static_cast<index_t>(r.below(100))),
                        .agent_blocks = 1 + static_cast<int>(r.below(2))});
        std::vector<word> start(static_cast<std::size_t>(n));
        for (auto& v : start) v = r.next();
        x.load(start);
        std::vector<stream> streams;
        std::vector<event> ends;
        for (int pe = 0; pe < pes; ++pe) {
          streams.push_back(m->new_stream(pe));
          ends.push_back(m->new_event(pe, event_use::ordering));
        }
        const int blocks = 1 + static_cast<int>(r.below(4));
        for (int e = 0; e < 4; ++e) epoch_on_all(x, streams, ends, blocks);
        for (stream& s : streams) s.synchronize();
        const graph two = m->record(streams.front(), [&] {
          event begun = m->new_event(0, event_use::ordering);
          streams.front().record(begun);
          for (stream& s : streams) s.wait(begun);
          epoch_on_all(x, streams, ends, blocks);
          epoch_on_all(x, streams, ends, blocks);
          for (std::size_t pe = 0; pe < streams.size(); ++pe) {
            streams[pe].record(ends[pe]);
            streams.front().wait(ends[pe]);
          }
        });
        for (int k = 0; k < 4; ++k) two.launch(streams.front());
        streams.front().synchronize();
        constexpr word epochs = 12;
        CHECK(x.epoch() == epochs);
        for (int pe = 0; pe < pes; ++pe) {
          std::vector<word> got(start.size(), 1);
          x.read(pe, epochs, got);
          CHECK(got == by_loop(start, epochs));
        }
      }
  }
}

}  // namespace
}  // namespace starling::test::streams_tests
