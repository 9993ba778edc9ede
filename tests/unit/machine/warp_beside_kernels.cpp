// Kernels whose blocks have one more warp beside their threads (kernel_with_warp): what the threads do together leaves
// it out, and a thread that leaves early holds nobody up. Virtual devices have no such warp.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"
#include "support/usable.hpp"

namespace starling::test::warp_beside_tests {
namespace {

enum class leaving { nobody, a_wait, a_wait_of_a_thread, a_wait_of_a_warp, a_return };

struct meetings {
  sym<int> seen;      // [blocks] how often all was right
  sym<int> beside;    // [blocks] warps beside
  sym<signal> over;   // [blocks] raised when the block's threads are
  sym<signal> never;  // [1]
  bool stays;         // the warp beside, until the threads are over
  leaving how;

  STARLING_HD void operator()(block& b) const {
    bool right = true;
    for (int round = 1; round <= rounds; ++round) {
      const int n = b.members();
      right = b.first(100 * b.index() + round + b.member()) == 100 * b.index() + round && right;
      right = b.reduce(b.member() + 1, plus{}) == n * (n + 1) / 2 && right;
      right = b.votes(b.member() % 3 == 0) == (n + 2) / 3 && right;
      right = b.votes(true) == n && right;
      right = b.any(b.member() == n - 1) && right;
      right = !b.any(false) && right;
      right = b.warp().count() * b.warp().members() == n && right;
      right = b.warp().reduce(1, plus{}) == b.warp().members() && right;
      const int last = n - 1;
      if (round == rounds / 2 && b.pe() == 0 && b.index() == 0) {
        if (how == leaving::a_wait) b.wait(never, 1);
        if (how == leaving::a_wait_of_a_thread && b.member() == last) b.thread().wait(never, 1);
        if (how == leaving::a_wait_of_a_warp && b.warp().rank() == b.warp().count() - 1) b.warp().wait(never, 1);
        if (how == leaving::a_return && b.member() == last) return;
      }
      b.barrier_all();
      right = b.all_reduce(b.index(), plus{}) == b.n_pes() * b.blocks_per_pe() * (b.blocks_per_pe() - 1) / 2 && right;
    }
    if (b.reduce(right ? 1 : 0, plus{}) == b.members() && b.member() == 0) ++seen.on(b.pe())[b.index()];
    b.signal_set(over + b.index(), 1, b.pe());
  }

  STARLING_HD void beside_one(const warp& w) const {
    if (w.member() == 0) ++beside.on(w.pe())[w.index()];
    if (stays) w.wait_idle(over + w.index(), 1, w.pe());
  }

  static constexpr int rounds = 20;
};

// Made apart, so that both kinds of block do the same.
struct meetings_with_warp : meetings {
  STARLING_HD void beside(const program_state& launch) const {
    beside_one(warp(launch, nullptr, target::block_index(), {}));
  }
};

struct counted {
  symmetric_array<int> seen, beside;
  symmetric_array<signal> over, never;

  counted(machine& m, int blocks)
      : seen(zeroed<int>(m, blocks)),
        beside(zeroed<int>(m, blocks)),
        over(m.allocate<signal>(blocks)),
        never(m.allocate<signal>(1)) {}
  meetings_with_warp kernel(bool stays, leaving how) {
    return {{seen.data(), beside.data(), over.data(), never.data(), stays, how}};
  }
};

TEST_CASE("what a block does together leaves out the warp beside it") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr int blocks = 3;
  for (const bool stays : {false, true})
    for (const int threads : {32, 96, 256, 992}) {
      CAPTURE(stays);
      CAPTURE(threads);
      counted c(*m, blocks);
      m->run(blocks, c.kernel(stays, leaving::nobody), {.threads = threads});
      for (int pe = 0; pe < 2; ++pe) {
        CHECK(read(*m, c.seen, pe) == std::vector<int>(blocks, 1));
        CHECK(read(*m, c.beside, pe) == std::vector<int>(blocks, on_gpus() ? 1 : 0));
      }
    }
}

TEST_CASE("blocks with a warp beside end when a wait fails, whoever waits") {
  auto m = test_machine(2);
  if (!m || m->checking()) return;
  for (const bool stays : {false, true})
    for (const leaving how : {leaving::a_wait, leaving::a_wait_of_a_thread, leaving::a_wait_of_a_warp})
      for (const int threads : {32, 64, 256}) {
        CAPTURE(stays);
        CAPTURE(static_cast<int>(how));
        CAPTURE(threads);
        counted c(*m, 2);
        const launch_options options{.threads = threads, .deadline = 0.2};
        CHECK_THROWS_AS(m->run(2, c.kernel(stays, how), options), stall_error);
        check_usable(*m);
      }
}

TEST_CASE("a thread that returns early is missed by the others, not waited for") {
  auto m = test_machine(2);
  if (!m || !on_gpus()) return;
  for (const int threads : {32, 64, 256}) {
    CAPTURE(threads);
    counted c(*m, 2);
    const launch_options options{.threads = threads, .deadline = 5};
    CHECK_THROWS_AS(m->run(2, c.kernel(true, leaving::a_return), options), argument_error);
    check_usable(*m);
  }
}

TEST_CASE("threads and the warp beside them are 1024 at most") {
  auto m = test_machine(1);
  if (!m || !on_gpus()) return;
  counted c(*m, 1);
  check_parts(failure_of<launch_error>([&] { m->run(1, c.kernel(false, leaving::nobody), {.threads = 1024}); }),
              {"992 threads"});
}

}  // namespace
}  // namespace starling::test::warp_beside_tests
