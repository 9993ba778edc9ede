// Check mode with several threads in a block: kernels that are right with one thread alone are found, and right ones
// are right with any number.
#include <stdexcept>

#include "support/checked.hpp"

namespace starling::test::block_threads_tests {
namespace {

machine threaded(int n_pes, int threads, std::uint64_t seeds = few_seeds) {
  return checked_machine(n_pes, seeds, 1, threads);
}

// Ends a kernel, and the test, when something it relies on does not hold.
STARLING_HD inline void require_in_kernel(bool holds) {
  if constexpr (!target::on_gpu)
    if (!holds) throw std::logic_error("not so");
}

std::string line(int number) { return message("block_threads_kernels.cpp:", number); }

constexpr int numbers[] = {1, 2, 3, 5, 32, 0};

TEST_CASE("all threads change a word that one of them should") {
  machine m = threaded(1, 4);
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      if (b.index() == 0 && (!fixed || b.member() == 0)) x.on(b.pe())[2] += 1;
    };
  };
  constexpr int adds = __LINE__ - 3;
  check_finds(m, 2, kernel(false), defect::within_block,
              {"PE 0 block 0 (all): no barrier of the block is between two accesses to 4 bytes at +0x",
               " of PE 0 (byte 8 of an allocation of 16)", "first: thread ", "then: thread ", line(adds), "b.sync()",
               "b.member() == 0"});
  m.run(2, kernel(true));
  CHECK(read(m, data, 0)[2] == 1);
  CHECK(m.checked().threads_seen == 4);
}

TEST_CASE("a barrier is missing between two loops") {
  machine m = threaded(2, 3);
  const auto data = zeroed<int>(m, 40);
  const sym<int> x = data.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      int* mine = x.on(b.pe());
      b.for_each(20, [=](index_t i) { mine[i] = static_cast<int>(i); });
      if (fixed) b.sync();
      b.for_each(20, [=](index_t i) { mine[20 + i] = mine[19 - i]; });
    };
  };
  constexpr int reads = __LINE__ - 3;
  check_finds(m, 1, kernel(false), defect::within_block,
              {"writes them at", line(reads - 2), "reads them at", line(reads)});
  m.run(1, kernel(true));
  CHECK(read(m, data, 1)[20] == 19);
}

TEST_CASE("scratch memory is shared by the threads") {
  machine m = threaded(1, 2);
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      int* s = b.scratch<int>(8);
      b.for_each(8, [=](index_t i) { s[i] = 1; });
      if (fixed) b.sync();
      require_in_kernel(s[7 - b.member()] == 1);
    };
  };
  const auto e = finding_of([&] { m.run(1, kernel(false), {.scratch_bytes = 64}); });
  if (e) CHECK((e->what_kind() == defect::within_block || e->what_kind() == defect::uninitialised));
  m.run(1, kernel(true), {.scratch_bytes = 64});
}

TEST_CASE("a put whose source other threads have just written") {
  machine m = threaded(2, 3);
  const auto data = zeroed<int>(m, 16);
  const sym<int> x = data.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      b.for_each(8, [&](index_t i) { x.on(b.pe())[i] = 5; });
      if (fixed) b.sync();
      b.put(x + 8, x.on(b.pe()), 8, 1 - b.pe());
    };
  };
  constexpr int puts = __LINE__ - 3;
  check_finds(m, 1, kernel(false), defect::within_block,
              {"writes them at", line(puts - 2), "the threads read them in put at", line(puts)});
  m.run(1, kernel(true));
  CHECK(read(m, data, 0)[15] == 5);
}

TEST_CASE("what one thread waits for, another reads") {
  machine m = threaded(2, 2, 400);
  const auto data = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> came = signals.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        b.put_signal(x, [](index_t) { return 7; }, 1, came, 1, 1);
      } else {
        if (b.member() == 0) b.thread().wait(came, 1);
        if (fixed) b.sync();
        require_in_kernel(!fixed || *x.on(1) == 7);
        if (!fixed && *x.on(1) == 8) b.sync();
      }
    };
  };
  // Which one depends on whether the data came before the read.
  const auto e = finding_of([&] { m.run(1, kernel(false)); });
  if (e) CHECK((e->what_kind() == defect::unordered_read || e->what_kind() == defect::unordered_write));
  m.run(1, kernel(true));
}

TEST_CASE("not all threads come to a call, or they come with other arguments") {
  machine m = threaded(2, 4);
  const auto data = zeroed<int>(m, 16);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.member() == 0) b.put(x, x.on(b.pe()) + 8, 4, 1 - b.pe());
                b.sync();
              },
              defect::collective, {"threads missing: thread 0 calls put at", "calls sync at", "b.thread()"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.put(x, x.on(b.pe()) + 8, 1 + b.member() / 2, 1 - b.pe()); },
              defect::collective, {"arguments differ: thread 0 calls put at", ", thread 2 calls put at"});
  check_finds(
      m, 1,
      STARLING_KERNEL(block & b) {
        if (b.member() < 2) return;
        b.signal_set(s, 1, 1 - b.pe());
      },
      defect::collective,
      {"threads missing: thread 2 calls signal_set at", "of 4 threads these have returned from the kernel: 0, 1"});
}

TEST_CASE("threads that write the same are counted, not refused") {
  machine m = threaded(1, 3);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1, STARLING_KERNEL(block & b) { *x.on(b.pe()) = 6; });
  CHECK(read(m, data, 0)[0] == 6);
  CHECK(m.checked().written_alike >= few_seeds * 8);
}

TEST_CASE("loops give each element to one thread") {
  for (const int threads : numbers) {
    CAPTURE(threads);
    machine m = threaded(1, threads);
    const auto data = zeroed<int>(m, 3 * 105);
    const sym<int> x = data.data();
    m.run(
        1, STARLING_KERNEL(block & b) {
          int* mine = x.on(b.pe());
          b.for_each(105, [=](index_t i) { mine[i] += 1; });
          b.for_each(15, 7, [=](index_t y, index_t z) { mine[105 + y * 7 + z] += 1; });
          b.for_each(3, 5, 7, [=](index_t u, index_t y, index_t z) { mine[210 + (u * 5 + y) * 7 + z] += 1; });
          b.sync();
          int sum = 0;
          b.for_each(315, [&](index_t i) { sum += mine[i]; });
          require_in_kernel(b.reduce(sum, plus{}) == 315);
        });
    for (const int v : read(m, data, 0)) CHECK(v == 1);
  }
}

TEST_CASE("votes, reductions and what the first thread says") {
  for (const int threads : {2, 3, 32}) {
    CAPTURE(threads);
    machine m = threaded(2, threads);
    m.run(
        2, STARLING_KERNEL(block & b) {
          require_in_kernel(b.members() == 1 || b.members() == threads);
          require_in_kernel(b.votes(b.member() > 0) == b.members() - 1);
          require_in_kernel(b.any(b.member() == b.members() - 1));
          require_in_kernel(!b.any(false));
          require_in_kernel(b.first(10 + b.member()) == 10);
          require_in_kernel(b.reduce(b.member(), maximum{}) == b.members() - 1);
          const int all = b.all_reduce(b.index() + 1, plus{});
          require_in_kernel(all == 2 * 3);
          require_in_kernel(b.broadcast(100 + b.pe(), 1) == 101);
          b.sync_pe();
          b.barrier_all();
        });
  }
}

TEST_CASE("threads and warps by themselves") {
  machine m = threaded(2, 3);
  const auto data = zeroed<int>(m, 8);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int other = 1 - b.pe();
        b.thread().p(x + b.member(), b.member() + 1, other);
        b.thread().atomic_add(sum, 1, other);
        b.warp().p(x + (4 + b.warp().rank()), 9, other);
        b.barrier_all();
        for (int i = 0; i < b.members(); ++i) require_in_kernel(x.on(b.pe())[i] == i + 1);
        for (int i = 0; i < b.warp().count(); ++i) require_in_kernel(x.on(b.pe())[4 + i] == 9);
        require_in_kernel(b.atomic_fetch(sum, b.pe()) == b.members());
      });
}

TEST_CASE("a thread waits for what another thread of its block raises") {
  machine m = threaded(1, 2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.member() == b.members() - 1) b.thread().signal_set(s, 1, b.pe());
        if (b.member() == 0) b.thread().wait(s, 1);
      });
}

TEST_CASE("a ring by puts, packets, messages and atomic operations") {
  for (const int threads : numbers) {
    CAPTURE(threads);
    machine m = threaded(3, threads, 40);
    const auto data = zeroed<int>(m, 21);
    const auto signals = zeroed<signal>(m, 2);
    const auto packets = zeroed<packet>(m, 5);
    const auto lane = m.allocate_channel<int>(10);
    const sym<int> x = data.data();
    const sym<signal> s = signals.data();
    const sym<packet> q = packets.data();
    const channel<int> c = lane.handle();
    m.run(
        1, STARLING_KERNEL(block & b) {
          const int right = (b.pe() + 1) % b.n_pes();
          const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
          int* mine = x.on(b.pe());
          b.for_each(10, [&](index_t i) { mine[i] = 100 * b.pe() + static_cast<int>(i); });
          b.sync();
          b.put_signal(x + 10, mine, 10, s, 1, right);
          b.wait(s, 1, left);
          b.for_each(10, [=](index_t i) { require_in_kernel(mine[10 + i] == 100 * left + static_cast<int>(i)); });
          b.put_packets<int>(
              q, [&](index_t k) { return packet_content<int>{{100 * b.pe(), static_cast<int>(k)}}; }, 5, 1, right);
          b.for_each(5, [&](index_t k) {
            const auto got = b.thread().take_packet<int>(q + k, 1, left);
            require_in_kernel(got.element[0] == 100 * left && got.element[1] == static_cast<int>(k));
          });
          b.send(c, [&](index_t i) { return b.pe() + static_cast<int>(i); }, 10, 1, right);
          const auto came = b.receive(c, 10, 1, left);
          b.for_each(10, [=](index_t i) { require_in_kernel(came(i) == left + static_cast<int>(i)); });
          b.atomic_add(x + 20, 1, right, cuda::memory_order_acq_rel);
          b.barrier_all();
          require_in_kernel(b.g(x + 20, left) == 1);
        });
  }
}

TEST_CASE("a kernel that throws, and one that waits in vain") {
  machine m = threaded(2, 3);
  CHECK_THROWS_AS(m.run(
                      1,
                      STARLING_KERNEL(block & b) {
                        b.sync();
                        require_in_kernel(b.member() != 1);
                        b.sync();
                      }),
                  std::logic_error);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.wait(s, 1); }, defect::lost_signal, {"wait"});
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.member() == 2) b.thread().wait(s, 1);
              },
              defect::lost_signal, {"wait"});
}

TEST_CASE("the seed chooses the number of threads, and again when it is alone") {
  machine m = machine::host(1).check({.seeds = 24});
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  m.run(2, STARLING_KERNEL(block & b) { x.on(b.pe())[b.index()] = 1; });
  CHECK(m.checked().threads_seen == 32);
  const auto wrong = [&] { m.run(1, STARLING_KERNEL(block & b) { x.on(b.pe())[0] += 1; }); };
  const auto e = finding_of(wrong);
  REQUIRE(e);
  CHECK(e->threads() > 1);
  check_parts(e->what(), {message(".threads = ", e->threads()), message("--threads ", e->threads())});
  for (const int named : {0, e->threads()}) {
    m = m.check({.first_seed = e->seed(), .seeds = 1, .threads = named});
    const auto again = finding_of(wrong);
    REQUIRE(again);
    CHECK(std::string(again->what()) == e->what());
  }
}

struct for_one_thread {
  static constexpr bool one_thread_on_host = true;
  sym<int> x;
  STARLING_HD void operator()(block& b) const { x.on(b.pe())[b.index()] += 1; }
};

TEST_CASE("a kernel whose body for virtual devices is written for one thread has one") {
  machine m = threaded(1, 3);
  const auto data = zeroed<int>(m, 2);
  m.run(2, for_one_thread{data.data()});
  CHECK(m.checked().threads_seen == 1);
  CHECK(read(m, data, 0) == std::vector<int>{1, 1});
}

TEST_CASE("a number of threads that makes no sense") {
  for (const int threads : {-1, 1025}) {
    CAPTURE(threads);
    check_parts(failure_of<argument_error>([&] { threaded(1, threads); }), {"threads", std::to_string(threads)});
  }
}

}  // namespace
}  // namespace starling::test::block_threads_tests
