// Check mode with warps of several threads: calls of a warp are made once, by all of its threads, and its barrier
// orders what they have touched.
#include <stdexcept>

#include "support/checked.hpp"

namespace starling::test::check_warps_tests {
namespace {

// Ends a kernel, and the test, when something it relies on does not hold.
STARLING_HD inline void require_in_kernel(bool holds) {
  if constexpr (!target::on_gpu)
    if (!holds) throw std::logic_error("not so");
}

constexpr int numbers[] = {1, 2, 3, 4, 6, 12, 32, 64, 0};

TEST_CASE("warps are numbered without gaps, and the seed says how large they are") {
  for (const int threads : numbers) {
    CAPTURE(threads);
    machine m = checked_machine(1, few_seeds, 1, threads);
    m.run(
        1, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          require_in_kernel(w.rank() * w.members() + w.member() == b.member());
          require_in_kernel(w.count() * w.members() == b.members());
          require_in_kernel(w.members() <= 32 && (b.members() % 32 != 0 || w.members() == 32));
          require_in_kernel(warp(b.thread()).members() == w.members() && b.thread().members() == 1);
        });
  }
}

TEST_CASE("what a warp says, and its reductions") {
  for (const int threads : numbers) {
    CAPTURE(threads);
    machine m = checked_machine(1, 40, 1, threads);
    m.run(
        2, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          const int n = w.members();
          require_in_kernel(w.votes(w.member() > 0) == n - 1);
          require_in_kernel(w.any(w.member() == n - 1) && !w.any(false));
          require_in_kernel(w.first(10 + b.member()) == 10 + w.rank() * n);
          require_in_kernel(w.reduce(b.member(), maximum{}) == w.rank() * n + n - 1);
          require_in_kernel(w.reduce(1, plus{}) == n);
          require_in_kernel(w.which(true) == (n == 32 ? ~0u : (1u << n) - 1));
          require_in_kernel(w.which(w.member() == n - 1) == 1u << (n - 1));
          // Warps go their own ways.
          for (int i = 0; i < w.rank() % 3; ++i) require_in_kernel(w.votes(true) == n);
          require_in_kernel(b.reduce(1, plus{}) == b.members());
        });
  }
}

TEST_CASE("a barrier of the warp orders its threads, again and again") {
  for (const int threads : numbers) {
    CAPTURE(threads);
    machine m = checked_machine(1, 40, 1, threads);
    const auto data = zeroed<int>(m, 64);
    const sym<int> x = data.data();
    m.run(
        1, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          int* const mine = x.on(b.pe()) + w.rank() * w.members();
          for (int round = 0; round < 3; ++round) {
            mine[w.member()] = 100 * round + w.member();
            w.sync();
            const int next = (w.member() + 1) % w.members();
            require_in_kernel(mine[next] == 100 * round + next);
            w.sync();
          }
          if (w.member() == 0) mine[w.members() - 1] = 7;
          b.sync();
          require_in_kernel(x.on(b.pe())[b.members() - 1] == 7);
        });
  }
}

TEST_CASE("each warp makes its calls to other PEs once") {
  for (const int threads : numbers) {
    CAPTURE(threads);
    machine m = checked_machine(3, 40, 1, threads);
    const auto data = zeroed<int>(m, 64 * 8);
    const auto counts = zeroed<std::uint64_t>(m, 2);
    const auto signals = zeroed<signal>(m, 65);
    const auto packets = zeroed<packet>(m, 64 * 3);
    const sym<int> x = data.data();
    const sym<std::uint64_t> count = counts.data();
    const sym<signal> s = signals.data();
    const sym<packet> q = packets.data();
    m.run(
        1, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          const int right = (b.pe() + 1) % b.n_pes();
          const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
          const index_t mine = 8 * w.rank();
          int* const own = x.on(b.pe());
          w.for_each(4, [&](index_t i) { own[mine + i] = 10 * b.pe() + static_cast<int>(i); });
          w.sync();
          w.put_signal(x + mine + 4, own + mine, 4, s + w.rank(), 1, right);
          w.wait(s + w.rank(), 1, left);
          w.for_each(4,
                     [&](index_t i) { require_in_kernel(own[mine + 7 - i] == 10 * left + 3 - static_cast<int>(i)); });
          w.put_packets<int>(
              q + 3 * w.rank(), [&](index_t k) { return packet_content<int>{{b.pe(), static_cast<int>(k)}}; }, 3, 1,
              right);
          w.for_each(3, [&](index_t k) {
            const auto got = b.thread().take_packet<int>(q + (3 * w.rank() + k), 1, left);
            require_in_kernel(got.element[0] == left && got.element[1] == static_cast<int>(k));
          });
          w.put(x + mine, [&](index_t i) { return 500 + static_cast<int>(i); }, 2, b.pe());
          w.atomic_add(count, 1, right);
          require_in_kernel(w.atomic_fetch_add(count + 1, 1, b.pe()) < static_cast<std::uint64_t>(w.count()));
          w.signal_add(s + 64, 1, right);
          w.p(x + mine + 7, -1, left);
          w.quiet();
          b.wait(s + 64, static_cast<std::uint64_t>(w.count()), left);
          b.barrier_all();
          require_in_kernel(own[mine + 1] == 501 && own[mine + 7] == -1);
          int got[2];
          w.get(got, x + mine, 2, right);
          require_in_kernel(w.g(x + mine + 7, right) == -1);
          require_in_kernel(b.atomic_fetch(count, b.pe()) == static_cast<std::uint64_t>(w.count()));
          require_in_kernel(b.atomic_fetch(count + 1, b.pe()) == static_cast<std::uint64_t>(w.count()));
        });
  }
}

TEST_CASE("messages of a warp over a channel, with credits") {
  for (const int threads : {2, 6, 32}) {
    CAPTURE(threads);
    machine m = checked_machine(2, 40, 1, threads);
    const auto lane = m.allocate_channel<int>(10);
    const channel<int> c = lane.handle();
    m.run(
        1, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          const int other = 1 - b.pe();
          if (w.rank() != 0) return;
          for (std::uint64_t number = 1; number <= 5; ++number) {
            w.await_credit(c, number, other);
            w.send(
                c, [&](index_t i) { return b.pe() + static_cast<int>(number) * static_cast<int>(i); }, 10, number,
                other);
            const auto came = w.receive(c, 10, number, other);
            w.for_each(10, [&](index_t i) {
              require_in_kernel(came(i) == other + static_cast<int>(number) * static_cast<int>(i));
            });
            w.sync();
            w.give_credit(c, number, other);
          }
        });
  }
}

TEST_CASE("a warp takes a value, and a lock that guards a word") {
  for (const int threads : {1, 2, 3, 6, 32}) {
    CAPTURE(threads);
    machine m = checked_machine(2, 40, 1, threads);
    const auto words = zeroed<std::uint64_t>(m, 66);
    const sym<std::uint64_t> x = words.data();
    m.run(
        1, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          b.p(x + 64, std::uint64_t{7}, 1 - b.pe());
          require_in_kernel(b.take_value(x + 64, 0) == 7);
          w.p(x + w.rank(), std::uint64_t{9}, 1 - b.pe());
          require_in_kernel(w.take_value(x + w.rank(), 0) == 9);
          require_in_kernel(w.wait_until_any(x + w.rank(), 1, nullptr, compare::eq, 9) == 0);
          while (w.atomic_compare_swap(x + 65, 0, 1, b.pe(), cuda::memory_order_acquire) != 0) {
          }
          if (w.member() == 0) x.on(b.pe())[63] += 1;
          w.atomic_set(x + 65, 0, b.pe(), cuda::memory_order_release);
          b.barrier_all();
          require_in_kernel(x.on(b.pe())[63] == static_cast<std::uint64_t>(w.count()));
        });
  }
}

TEST_CASE("the seed chooses the warps again when it is alone, and the message names them") {
  machine m = machine::host(1).check({.seeds = 100, .threads = 6});
  const auto data = zeroed<int>(m, 64);
  const sym<int> x = data.data();
  const auto wrong = [&] {
    m.run(
        1, STARLING_KERNEL(block & b) {
          const warp w = b.warp();
          int* const mine = x.on(b.pe()) + w.rank() * w.members();
          mine[w.member()] = 1 + w.member();
          if (w.members() == 3) mine[32 + w.member()] = mine[(w.member() + 1) % w.members()];
        });
  };
  const auto e = finding_of(wrong);
  REQUIRE(e);
  CHECK(e->what_kind() == defect::within_block);
  check_parts(e->what(), {"blocks have 6 threads, in warps of 3", "b.warp().sync()", "--threads 6"});
  m = m.check({.first_seed = e->seed(), .seeds = 1, .threads = 6});
  const auto again = finding_of(wrong);
  REQUIRE(again);
  CHECK(std::string(again->what()) == e->what());
}

struct for_whole_warps {
  static constexpr bool whole_warps = true;
  sym<int> x;
  STARLING_HD void operator()(block& b) const {
    require_in_kernel(b.members() == 1 || ((b.members() == 32 || b.members() == 64) && b.warp().members() == 32));
    x.on(b.pe())[b.index()] = 1;
  }
};

TEST_CASE("a kernel that is right for whole warps alone has whole warps, or one thread") {
  for (const int threads : {0, 1, 2, 3, 32, 40, 64}) {
    CAPTURE(threads);
    machine m = checked_machine(1, few_seeds, 1, threads);
    const auto data = zeroed<int>(m, 2);
    m.run(2, for_whole_warps{data.data()});
    CHECK(m.checked().threads_seen == (threads == 1 ? 1 : threads == 32 ? 32 : 64));
  }
}

}  // namespace
}  // namespace starling::test::check_warps_tests
