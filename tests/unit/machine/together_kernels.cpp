// Work of different PEs that waits for each other, put in by the host one after the other: it ends only where all of it
// runs at the same time. On PEs that share a GPU these are the ways in which launches might come to run one after the
// other; each would stall there, within its deadline.
#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::together_tests {
namespace {

constexpr int pes = 4;
// Seconds. Virtual devices may have to share few processors, and run at the same time whatever is set.
double deadline() { return on_gpus() ? 5 : 60; }

// Rounds of messages: each block tells the block of its number on the next PE, and waits for the one before. Word i of
// `heard` is of block i.
struct tell_and_wait {
  sym<signal> heard;
  sym<std::uint64_t> sum;  // by block: what has come, so that the host sees it
  std::uint64_t first = 0;
  std::uint64_t rounds = 20;

  STARLING_HD void operator()(block& b) const {
    const int i = b.index();
    const int next = (b.pe() + 1) % b.n_pes();
    const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (std::uint64_t k = first + 1; k <= first + rounds; ++k) {
      b.signal_set(heard + i, k, next);
      b.wait(heard + i, k, before);
      if (b.member() == 0) sum.on(b.pe())[i] += k;
    }
  }
};

std::uint64_t sum_of(std::uint64_t rounds) { return rounds * (rounds + 1) / 2; }

launch_options soon(bool resident = false) { return {.threads = 64, .deadline = deadline(), .resident = resident}; }

TEST_CASE("several programs on every PE, each waiting for those of other PEs") {
  auto m = test_machine(pes);
  if (!m) return;
  constexpr int blocks = 3;
  constexpr int programs = 3;
  auto heard = zeroed<signal>(*m, programs * blocks);
  auto sum = zeroed<std::uint64_t>(*m, programs * blocks);
  std::vector<program> all;
  for (int p = 0; p < programs; ++p) {
    role_plan roles;
    roles.add("round", blocks);
    all.push_back({roles, make_kernel(tell_and_wait{heard.data() + p * blocks, sum.data() + p * blocks}), soon()});
  }
  m->run(all);
  for (int pe = 0; pe < pes; ++pe)
    CHECK(read(*m, sum, pe) == std::vector<std::uint64_t>(programs * blocks, sum_of(20)));
}

// Of each program as many blocks as fit beside the others.
TEST_CASE("PEs that are full of blocks") {
  auto m = test_machine(pes, {.max_blocks = 24});
  if (!m) return;
  const int fit = m->blocks_that_fit(tell_and_wait{}, soon());
  auto heard = zeroed<signal>(*m, fit);
  auto sum = zeroed<std::uint64_t>(*m, fit);
  m->run(fit, tell_and_wait{heard.data(), sum.data()}, soon());
  for (int pe = 0; pe < pes; ++pe)
    CHECK(read(*m, sum, pe) == std::vector<std::uint64_t>(static_cast<std::size_t>(fit), sum_of(20)));
}

TEST_CASE("resident launches of streams, each waiting for those of other PEs") {
  auto m = test_machine(pes);
  if (!m) return;
  constexpr int blocks = 3;
  auto heard = zeroed<signal>(*m, blocks);
  auto sum = zeroed<std::uint64_t>(*m, blocks);
  std::vector<stream> streams;
  for (int pe = 0; pe < pes; ++pe) streams.push_back(m->new_stream(pe));
  for (std::uint64_t again = 0; again < 3; ++again)
    for (stream& s : streams) s.launch(blocks, tell_and_wait{heard.data(), sum.data(), 20 * again}, soon(true));
  for (stream& s : streams) s.synchronize();
  for (int pe = 0; pe < pes; ++pe) CHECK(read(*m, sum, pe) == std::vector<std::uint64_t>(blocks, sum_of(60)));
}

// One graph for each PE, of which nothing is ordered by the host.
TEST_CASE("graphs whose kernels wait for those of other PEs") {
  auto m = test_machine(pes);
  if (!m) return;
  auto heard = zeroed<signal>(*m, 2);
  auto sum = zeroed<std::uint64_t>(*m, 2);
  std::vector<stream> streams;
  std::vector<graph> graphs;
  for (int pe = 0; pe < pes; ++pe) streams.push_back(m->new_stream(pe));
  for (int pe = 0; pe < pes; ++pe) {
    stream& s = streams[static_cast<std::size_t>(pe)];
    graphs.push_back(m->record(s, [&] {
      for (std::uint64_t i = 0; i < 8; ++i) s.launch(1, tell_and_wait{heard.data(), sum.data(), 5 * i, 5}, soon());
    }));
  }
  for (int pe = 0; pe < pes; ++pe) graphs[static_cast<std::size_t>(pe)].launch(streams[static_cast<std::size_t>(pe)]);
  for (stream& s : streams) s.synchronize();
  for (int pe = 0; pe < pes; ++pe) CHECK(read(*m, sum, pe)[0] == sum_of(40));
}

// While a kernel of PE 0 waits, the host gets memory, copies and fills on another PE, and only then launches what it
// waits for.
TEST_CASE("memory and copies while a kernel waits") {
  auto m = test_machine(2);
  if (!m) return;
  auto heard = zeroed<signal>(*m, 1);
  auto data = zeroed<std::uint64_t>(*m, 1000);
  stream waiting = m->new_stream(0);
  stream telling = m->new_stream(1);
  const sym<signal> word = heard.data();
  waiting.launch(1, STARLING_KERNEL(block & b) { b.wait(word, 1, 1); }, soon());
  const local_memory fresh = m->allocate_on(1, 1 << 20);
  m->fill(fresh.data(), 7, 1 << 20);
  std::vector<std::uint64_t> values(1000, 5);
  write(*m, data, 1, values);
  m->copy(data.on(0), data.on(1), 1000 * sizeof(std::uint64_t));
  auto more = m->allocate<int>(1 << 20);
  stream third = m->new_stream(1);
  third.copy(more.on(1), fresh.data(), 1 << 20);
  third.synchronize();
  telling.launch(1, STARLING_KERNEL(block & b) { b.signal_set(word, 1, 0); }, soon());
  telling.synchronize();
  waiting.synchronize();
  CHECK(read(*m, data, 0) == values);
}

// The blocks of a loop's program on one PE wait for those on others, at every round.
TEST_CASE("a loop of tasks on all PEs as one persistent program") {
  auto m = test_machine(pes);
  if (!m) return;
  constexpr index_t n = 512;
  constexpr std::uint64_t rounds = 30;
  std::vector<std::vector<std::int64_t>> values(pes, std::vector<std::int64_t>(n, 1));
  std::vector<std::vector<std::int64_t>> expected = values;
  for (std::uint64_t k = 0; k < rounds; ++k)
    for (int pe = 0; pe < pes; ++pe) {
      const auto& from = expected[static_cast<std::size_t>((pe + pes - 1) % pes)];
      auto& to = expected[static_cast<std::size_t>(pe)];
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = (to[i] + 3 * from[i] + pe) % 1000003;
    }
  stf::persistent_ctx ctx(*m);
  std::vector<stf::logical_data<stf::slice<std::int64_t>>> data;
  for (auto& v : values) data.push_back(ctx.logical_data(v));
  ctx.repeat(rounds, [&] {
    for (int pe = 0; pe < pes; ++pe)
      ctx.parallel_for(stf::exec_place::device(pe), data[static_cast<std::size_t>(pe)].shape(),
                       data[static_cast<std::size_t>((pe + pes - 1) % pes)].read(),
                       data[static_cast<std::size_t>(pe)].rw())
              ->*STARLING_KERNEL(index_t i, stf::slice<const std::int64_t> from, stf::slice<std::int64_t> to) {
        to(i) = (to(i) + 3 * from(i) + pe) % 1000003;
      };
  });
  data.clear();
  ctx.finalize();
  CHECK(values == expected);
}

}  // namespace
}  // namespace starling::test::together_tests
