// What a stall report says of blocks that were not waiting.
#include <atomic>
#include <thread>

#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_running_tests {
namespace {

// Sets a flag when the kernel is unwound.
struct unwound {
  std::atomic<bool>* flag;
  ~unwound() { flag->store(true); }
};

TEST_CASE("a block that computes when the program is ended is reported as running, one that had returned as finished") {
  if (skipped_on_gpus("tell finished blocks from running ones")) return;
  machine m = machine::host(3);
  auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  std::atomic<bool> ended{false};
  std::atomic<bool>* const flag = &ended;
  const auto k = [=](block& b) {
    if (b.pe() == 2) return;
    if (b.pe() == 1) {
      while (!flag->load()) std::this_thread::yield();
      return;
    }
    const unwound at_the_end{flag};
    b.wait(s, 1, 1);
  };
  const auto e = stall_of([&] { m.run(1, k, {.deadline = stall_deadline}); });
  REQUIRE(e);
  CHECK(report_of(*e, 0, 0).state == block_state::expired);
  CHECK(report_of(*e, 1, 0).state == block_state::running);
  CHECK(report_of(*e, 2, 0).state == block_state::finished);
  check_parts(e->what(), {"PE 1 block 0 (all): running", "PE 2 block 0 (all): finished"});
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stall_running_tests
