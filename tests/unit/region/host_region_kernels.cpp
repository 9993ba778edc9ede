// host_region: the recurrence by launches in streams, by host threads, and what is refused.
#include <thread>

#include "support/host_recurrence.hpp"
#include "support/test_machine.hpp"

namespace starling::test::host_region_tests {
namespace {

TEST_CASE("host_region: a recurrence by launches in streams") {
  random r(41);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const index_t n : {1, 33, 1001}) {
      const int buffers = 2 + static_cast<int>(r.below(2));
      const std::size_t chunk = 128u << r.below(4);
      CAPTURE(pes);
      CAPTURE(n);
      CAPTURE(buffers);
      CAPTURE(chunk);
      host_region x(*m, n, sizeof(std::uint64_t), {.buffers = buffers, .chunk_bytes = chunk});
      const auto start = random_values(n, r);
      x.load(bytes_of(start));
      const std::uint64_t epochs = 12;
      for (std::uint64_t e = 1; e <= epochs; ++e)
        for (int pe = 0; pe < pes; ++pe) {
          x.wait(pe, e - 1);
          for (const index_range piece : pieces_of(x.part(pe), r)) {
            if (!piece.empty()) put_epoch(x, pe, e, piece);
            x.commit(pe, piece);
          }
          CHECK(x.committed(pe) == e);
        }
      CHECK(x.epoch() == epochs);
      const auto expected = by_loop(start, epochs);
      for (int pe = 0; pe < pes; ++pe) CHECK(read_epoch(x, pe, epochs) == expected);
      std::uint64_t sent = 0;
      for (const std::uint64_t bytes : x.bytes_sent()) sent += bytes;
      CHECK(sent == epochs * static_cast<std::uint64_t>(pes - 1) * static_cast<std::uint64_t>(n) * 8);
    }
  }
}

TEST_CASE("host_region: a thread of the host for each PE") {
  random r(43);
  INFO("STARLING_TEST_SEED=" << r.seed);
  auto m = test_machine(3);
  if (!m || m->kind() != machine_kind::host) return;
  const index_t n = 700;
  host_region x(*m, n, sizeof(std::uint64_t), {.chunk_bytes = 256});
  const auto start = random_values(n, r);
  x.load(bytes_of(start));
  const std::uint64_t epochs = 30;
  std::vector<std::thread> threads;
  for (int pe = 0; pe < m->size(); ++pe)
    threads.emplace_back([&x, pe, n, own = random(r.next())]() mutable {
      for (std::uint64_t e = 1; e <= epochs; ++e) {
        x.wait_on_host(pe, e - 1);
        const auto* old = reinterpret_cast<const std::uint64_t*>(x.data(pe, e - 1));
        auto* next = reinterpret_cast<std::uint64_t*>(x.data(pe, e));
        for (const index_range piece : pieces_of(x.part(pe), own)) {
          for (index_t i = piece.begin; i < piece.end; ++i)
            next[i] = next_of(old[i], old[far(i, n, 1)], old[far(i, n, 2)], i, e);
          x.commit(pe, piece);
        }
      }
    });
  for (auto& t : threads) t.join();
  const auto expected = by_loop(start, epochs);
  for (int pe = 0; pe < m->size(); ++pe) CHECK(read_epoch(x, pe, epochs) == expected);
}

TEST_CASE("host_region: what is refused") {
  auto m = test_machine(2);
  if (!m) return;
  CHECK_THROWS_WITH_AS(host_region(*m, 10, 3), doctest::Contains("elements of 3 bytes"), argument_error);
  CHECK_THROWS_WITH_AS(host_region(*m, 10, 8, {.buffers = 1}), doctest::Contains("buffers = 1"), argument_error);
  CHECK_THROWS_WITH_AS(host_region(*m, 0, 8), doctest::Contains("0 elements"), argument_error);
  CHECK_THROWS_WITH_AS(host_region(*m, 10, 8, {.chunk_bytes = 100}), doctest::Contains("chunk_bytes = 100"),
                       argument_error);
  CHECK_THROWS_WITH_AS(host_region(*m, 10, 8, {.deadline = 1e10}), doctest::Contains("deadline = 1e+10"),
                       argument_error);
  CHECK_THROWS_WITH_AS(host_region(*m, 10, 8, {.deadline = -1}), doctest::Contains("deadline = -1"), argument_error);
  random r(7);
  host_region x(*m, 100, 8, {.deadline = 0.05});
  const auto start = random_values(100, r);
  x.load(bytes_of(start));
  CHECK(read_epoch(x, 1, 0) == start);
  const index_range mine = x.part(0);
  CHECK_THROWS_WITH_AS(x.commit(2, mine), doctest::Contains("PE 2"), range_error);
  CHECK_THROWS_WITH_AS(x.commit(1, mine), doctest::Contains("its part is"), range_error);
  CHECK_THROWS_WITH_AS(x.commit(0, {4, 4}), doctest::Contains("at least one element"), range_error);
  x.wait(0, 0);
  x.commit(0, {8, 16});
  CHECK_THROWS_WITH_AS(x.commit(0, {0, 9}), doctest::Contains("element 8 of PE 0 was committed twice"), region_error);
  CHECK_THROWS_WITH_AS(x.commit(0, {15, 17}), doctest::Contains("element 15 of PE 0 was committed twice"),
                       region_error);
  CHECK_THROWS_WITH_AS(x.wait(0, 1), doctest::Contains("PE 0 has not committed element 0"), region_error);
  x.commit(0, {0, 8});
  x.commit(0, {16, mine.end});
  CHECK_THROWS_WITH_AS(x.commit(0, mine), doctest::Contains("has not waited for epoch 1"), region_error);
  CHECK_THROWS_WITH_AS(x.wait(0, 1), doctest::Contains("PE 1 has not committed element"), region_error);
  CHECK_THROWS_WITH_AS((void)read_epoch(x, 0, 1), doctest::Contains("epoch 1"), argument_error);
  x.load(bytes_of(start));
  CHECK(x.epoch() == 0);
  CHECK(read_epoch(x, 0, 0) == start);
}

}  // namespace
}  // namespace starling::test::host_region_tests
