// Regions under many schedules: what is right passes, whatever the agent, and mistakes are found.
#include "support/checked.hpp"
#include "support/region_recurrence.hpp"

namespace starling::test::region_kernels_tests {
namespace {

constexpr auto& agents = region_agents;

TEST_CASE("recurrences pass, every agent") {
  random r(32);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const region_agent agent : agents)
      for (const bool credits : {false, true})
        for (const int blocks : {1, 2})
          for (const int agent_blocks : {1, 2}) {
            if (agent_blocks > 1 && agent == region_agent::inline_stores) continue;
            CAPTURE(pes);
            CAPTURE(std::string(name(agent)));
            CAPTURE(credits);
            CAPTURE(blocks);
            const bool measured = r.below(2) == 1;
            const bool host = r.below(2) == 1;
            CAPTURE(host);
            CAPTURE(agent_blocks);
            CAPTURE(measured);
            machine m = checked_machine(pes, 20);
            run_recurrence(m, 70, blocks, 5,
                           {.agent = agent,
                            .chunk_bytes = 128,
                            .tiles = region_mapping::one_to_one(11),
                            .subscribers = host ? everyone.and_host() : everyone,
                            .agent_blocks = agent_blocks,
                            .credits = credits,
                            .verify = measured,
                            .timed = measured},
                           r.next());
          }
}

TEST_CASE("recurrences by two mappings pass, every agent") {
  random r(36);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const region_agent agent : agents)
      for (const bool by_roles : {false, true})
        for (const index_t n : {3, 70}) {  // with PEs that have no elements, too
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(by_roles);
          CAPTURE(n);
          machine m = checked_machine(pes, 20);
          run_recurrence(m, n, 1, 5, {.agent = agent, .chunk_bytes = 128, .tiles = two_mappings(5)}, r.next(),
                         by_roles);
        }
}

TEST_CASE("recurrences whose tiles often rest pass, every agent") {
  random r(34);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const region_agent agent : agents)
      for (const int buffers : {2, 3})
        for (const bool credits : {false, true}) {
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(buffers);
          CAPTURE(credits);
          machine m = checked_machine(pes, 20);
          run_recurrence_with_rests(m, 70, 2, 6,
                                    {.buffers = buffers,
                                     .agent = agent,
                                     .chunk_bytes = 128,
                                     .tiles = region_mapping::one_to_one(8),
                                     .agent_blocks = 2,
                                     .credits = credits},
                                    r.next());
        }
}

// What a kernel does in each epoch, with one mistake.
enum class mistake {
  none,
  reads_early_epoch,
  stores_after_commit,
  leaves_tiles_out,
  leaves_element_out,
  stores_outside,
  skips_epoch,
  signals_instead,
  epoch_zero,
  rests_too_early,
  rests_after_change,
  rests_and_stores,
  unknown_mapping
};

void run_with(machine& m, mistake wrong, const region_options& options) {
  constexpr index_t n = 64;
  region<int> x(m, n, options);
  x.load(std::vector<int>(n, 1));
  const auto flags = m.allocate<signal>(1);
  const auto flag = flags.data();
  const auto h = x.handle();
  constexpr std::uint64_t epochs = 3;
  m.run(x.programs(
      2, with_own_warp{STARLING_KERNEL(block & b) {
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          if (wrong == mistake::signals_instead && e == epochs) {
            const int right = (b.pe() + 1) % b.n_pes();
            if (b.index() == 0) b.signal_set(flag, 1, right);
            b.wait(flag, 1, (b.pe() + b.n_pes() - 1) % b.n_pes());
}
const std::uint64_t awaited = wrong == mistake::reads_early_epoch || wrong == mistake::signals_instead ? 0 : e - 1;
epoch_view<int> old = h.await(b, awaited);
if (wrong == mistake::reads_early_epoch || (wrong == mistake::signals_instead && e == epochs))
  old = epoch_view<int>(b, h.state(), (h.values() + h.state().buffer_of(e - 1) * h.pitch()).on(b.pe()), e - 1, {0, n});
else
  old = h.await(b, e - 1);
if (wrong == mistake::leaves_tiles_out && b.index() == 1 && e == 2) continue;
const std::uint64_t written = wrong == mistake::skips_epoch && e > 1 ? e + 2 : wrong == mistake::epoch_zero ? 0 : e;
h.each_tile(b, written, wrong == mistake::unknown_mapping ? 1 : 0, [&](tile t, tracked<int> next) {
  if (t.number == 1 && (wrong == mistake::rests_too_early || (wrong == mistake::rests_after_change && e == 2)))
    return t.unchanged();
  if (wrong == mistake::rests_and_stores) t.unchanged();
  b.for_each(t.range, [&](index_t i) {
    if (wrong == mistake::leaves_element_out && i == 9) return;
    next(i) = old(i) + old((i + n / 2) % n);
    if (wrong == mistake::stores_outside && i == 9) next((i + n / 2) % n) = 0;
  });
});
if (wrong == mistake::stores_after_commit)
  (h.values() + h.state().buffer_of(e) * h.pitch()).on(b.pe())[h.part(b).begin] = 7;
}
h.await(b, epochs);
}
}));
}

TEST_CASE("mistakes that check mode finds by what orders what") {
  const std::pair<mistake, const char*> wrong[] = {
      // Unordered, or another reads what has no value yet.
      {mistake::reads_early_epoch, "of PE "},
      {mistake::stores_after_commit, "of PE "},
      {mistake::signals_instead, "unordered"},
      {mistake::leaves_tiles_out, "waits in wait"},
  };
  for (const region_agent agent : agents)
    for (const auto& [what, says] : wrong) {
      CAPTURE(std::string(name(agent)));
      CAPTURE(static_cast<int>(what));
      machine m = checked_machine(2);
      const auto e = finding_of(
          [&] { run_with(m, what, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(8)}); });
      if (e) check_parts(e->what(), {says, "region_kernels.cpp:"});
    }
}

TEST_CASE("mistakes that the region itself finds") {
  const std::pair<mistake, const char*> wrong[] = {
      {mistake::leaves_element_out, "element 9 was not stored in epoch 1"},
      {mistake::stores_outside, "stored to element 41, which this tile does not write"},
      {mistake::skips_epoch, "before all of the epoch before"},
      {mistake::epoch_zero, "epoch 0 is what region::load brings"},
      {mistake::rests_too_early,
       "tile 1 was left unchanged in epoch 1, whose buffer has held no epoch; with 2 buffers"},
      {mistake::rests_after_change, "is not the same in epochs 1 and 0, and its tile was left unchanged"},
      {mistake::unknown_mapping, "tiles of mapping 1 of a region with 1; name all mappings in region_options::tiles"},
      {mistake::rests_and_stores, "was stored in epoch 1, and its tile left unchanged"},
  };
  for (const region_agent agent : agents)
    for (const auto& [what, says] : wrong) {
      CAPTURE(std::string(name(agent)));
      CAPTURE(static_cast<int>(what));
      machine m = checked_machine(2);
      check_parts(failure_of<region_error>([&] {
                    run_with(m, what, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(8)});
                  }),
                  {says, "region_kernels.cpp:", "PE "});
    }
}

TEST_CASE("right use of the same kernel passes") {
  for (const region_agent agent : agents) {
    machine m = checked_machine(2);
    run_with(m, mistake::none, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(8)});
    CHECK(m.checked().schedules >= few_seeds);
  }
}

TEST_CASE("regions of which not all travels are refused, links are not paced") {
  machine m = checked_machine(2);
  for (const region_sending sending :
       {region_sending::elide_stores, region_sending::track_only, region_sending::untracked})
    check_parts(failure_of<unsupported_error>([&] { region<int>(m, 8, {.sending = sending}); }),
                {name(sending), "wrong by intent"});
  run_with(m, mistake::none,
           {.chunk_bytes = 128, .tiles = region_mapping::one_to_one(8), .links = {.latency_seconds = 1}});
}

// A producer that runs ahead of readers on other PEs, which give credit for what they have read. Of several readers on
// a PE the first has all to read, the others nothing.
void run_ahead(machine& m, bool too_early, const region_options& options, int readers = 1) {
  constexpr index_t n = 96;
  region<int> x(m, n, options);
  x.load(std::vector<int>(n, 0));
  const auto h = x.handle();
  const auto wrong = m.allocate<int>(1);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(wrong.on(pe), 0, sizeof(int));
  const auto failed = wrong.data();
  constexpr std::uint64_t epochs = 6;
  role_plan roles;
  const role writer = roles.add("writer", 2);
  roles.add("reader", readers);
  m.run(x.programs(
      roles, with_own_warp{STARLING_KERNEL(block & b) {
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          if (b.role() == writer) {
            h.each_tile(b, e, [&](tile t, tracked<int> next) {
    h.for_each(b, t, [&](index_t i) { next(i) = static_cast<int>(e) * 100 + static_cast<int>(i); });
            });
}
else {
  if (e == 1) h.give_credit(b, 0);
  const index_range part{n / 4, b.rank() == 0 ? n / 2 : n / 4};
  const auto seen = h.await(b, e, part);
  if (too_early) h.give_credit(b, e);
  b.for_each(part, [&](index_t i) {
    if (seen(i) != static_cast<int>(e) * 100 + static_cast<int>(i)) *failed.on(b.pe()) = 1;
  });
  if (!too_early) h.give_credit(b, e);
}
}
}
}));
for (int pe = 0; pe < m.size(); ++pe) {
  int bad = 1;
  m.copy(&bad, wrong.on(pe), sizeof bad);
  CHECK(bad == 0);
}
}

TEST_CASE("readers of parts give credit, writers wait for it") {
  for (const region_agent agent : agents)
    for (const int buffers : {1, 2, 3}) {
      CAPTURE(std::string(name(agent)));
      CAPTURE(buffers);
      const region_options options{.buffers = buffers,
                                   .agent = agent,
                                   .chunk_bytes = 128,
                                   .tiles = region_mapping::stride(3, 5),
                                   .agent_blocks = 2,
                                   .credits = true,
                                   .verify = buffers == 2,
                                   .timed = buffers == 2};
      machine right = checked_machine(3);
      run_ahead(right, false, options);
      machine m = checked_machine(3);
      const auto e = finding_of([&] { run_ahead(m, true, options); });
      if (e) check_parts(e->what(), {"unordered", "region_kernels.cpp:"});
    }
}

TEST_CASE("readers that await nothing do not give credit for others of their role") {
  for (const region_agent agent : agents)
    for (const int buffers : {1, 2, 3}) {
      CAPTURE(std::string(name(agent)));
      CAPTURE(buffers);
      machine m = checked_machine(2);
      run_ahead(m, false,
                {.buffers = buffers,
                 .agent = agent,
                 .chunk_bytes = 128,
                 .tiles = region_mapping::stride(3, 5),
                 .credits = true},
                3);
    }
}

// PE 1 has no elements, PE 2 those behind them.
TEST_CASE("a part may reach over PEs without elements") {
  constexpr index_t n = 96;
  const index_range part{16, 80};
  for (const bool some : {false, true}) {
    CAPTURE(some);
    machine m = checked_machine(3);
    region<int> x(
        m, n,
        {.chunk_bytes = 128,
         .tiles = region_mapping::one_to_one(32),
         .subscribers = some ? subscribers::only([](int, index_range) { return std::uint64_t{7}; }) : everyone,
         .bounds = {32, 32},
         .credits = true});
    x.load(std::vector<int>(n, 1));
    const auto h = x.handle();
    m.run(x.programs(
        1, with_own_warp{STARLING_KERNEL(block & b) {
          for (std::uint64_t e = 1; e <= 4; ++e) {
            const auto old = h.await(b, e - 1, part);
            int least = 99;
            for (index_t i = part.begin; i < part.end; ++i) least = old(i) < least ? old(i) : least;
            h.each_tile(b, e, [&](tile t, tracked<int> next) {
      b.for_each(t.range, [&](index_t i) { next(i) = least + 1; });
            });
            h.give_credit(b, e - 1);
  }
}
}));
std::vector<int> got(n, 0);
x.collect(4, got);
CHECK(got == std::vector<int>(n, 5));
}
}

TEST_CASE("subscribers get their chunks, others must not read them") {
  constexpr index_t n = 96;
  for (const region_agent agent : agents)
    for (const bool reads_all : {false, true}) {
      CAPTURE(std::string(name(agent)));
      machine m = checked_machine(3);
      // Every PE's part goes to the next PE alone.
      region<int> x(
          m, n,
          {.agent = agent,
           .chunk_bytes = 128,
           .tiles = region_mapping::one_to_one(8),
           .subscribers = subscribers::only([](int owner, index_range) { return std::uint64_t{1} << (owner + 1) % 3; }),
           .credits = true});
      x.load(std::vector<int>(n, 1));
      const auto h = x.handle();
      const auto run = [&] {
        m.run(x.programs(
            2, with_own_warp{STARLING_KERNEL(block & b) {
              for (std::uint64_t e = 1; e <= 4; ++e) {
                const auto old = h.await(b, e - 1);
                h.each_tile(b, e, [&](tile t, tracked<int> next) {
          b.for_each(t.range, [&](index_t i) { next(i) = old(i) + old((i + (reads_all ? n / 3 : 2 * n / 3)) % n); });
                });
                h.give_credit(b, e - 1);
      }
    }
}));
}
;
if (reads_all) {
  check_parts(failure_of<region_error>(run), {"is not sent to this PE", "region_options::subscribers"});
} else {
  run();
  std::vector<int> got(n, 0);
  x.read(0, 4, got);
  CHECK(std::all_of(got.begin(), got.begin() + 32, [](int v) { return v == 16; }));
  CHECK(x.report().bytes_per_epoch == std::vector<std::uint64_t>{0, 128, 0, 0, 0, 128, 128, 0, 0});
}
}
}

}  // namespace
}  // namespace starling::test::region_kernels_tests
