// What goes wrong in one process is told in all, and the machine is usable where it can be.
#include <doctest/doctest.h>

#include "processes/programs.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/processes.hpp"

namespace starling::test {
namespace {

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST_CASE("a stall is told alike in all processes, with who waits for whom across them") {
  const environment_guard deadline("STARLING_DEADLINE", "0.3");
  job j(3, [](int) {
    machine m = machine::distributed();
    const std::string stall = said([&] {
      wait_in_ring(m);
      return "no stall";
    });
    return stall + "\n" + (ring_bits(m, 2).empty() ? "" : "usable");
  });
  for (const std::string& text : j.ends())
    check_parts(text, {"stall_error", "wait-for cycle", "PE 0 block 0 -> PE 1 block 0 -> PE 2 block 0", "usable"});
}

TEST_CASE("what a kernel throws in one process ends the program in all") {
  job j(2, [](int) {
    machine m = machine::distributed();
    const std::string thrown = said([&] {
      throw_on(m, 1);
      return "nothing";
    });
    return thrown + "\n" + (ring_bits(m, 2).empty() ? "" : "usable");
  });
  check_parts(j.end_of(0), {"process_error", "process 1 of 2", "the kernel has had enough", "usable"});
  check_parts(j.end_of(1), {"other: the kernel has had enough", "usable"});
}

TEST_CASE("a process that is killed while others wait for it ends them at once, by name") {
  for (const int victim : {0, 2}) {
    CAPTURE(victim);
    job j(3, [victim](int rank) {
      machine m = machine::distributed();
      if (rank == victim)
        std::thread([] {
          nap(0.4);
          (void)::raise(SIGKILL);
        }).detach();
      const std::string first = said([&] {
        wait_in_ring(m);
        return "nothing";
      });
      return first + "\n" + said([&] { return message(m.allocate<int>(1).size()); });
    });
    for (int rank = 0; rank < 3; ++rank) {
      const std::string text = j.end_of(rank, 8);  // less than the deadline of the wait
      if (rank == victim)
        CHECK(text == "killed");
      else
        check_parts(text, {"process_error: machine::run: ", message("process ", victim, " of 3 (pid"), "has died",
                           "process_error: machine::allocate: "});
    }
  }
}

TEST_CASE("a process that gives its machine up is named by those who wait for it on the host") {
  job j(2, [](int rank) -> std::string {
    machine m = machine::distributed();
    if (rank == 1) return "left";
    m.meet();
    return "met";
  });
  check_parts(j.end_of(0), {"process_error", "process 1 of 2 has given its machine up"});
}

TEST_CASE("a process that is stopped ends the others' program by the deadlines, and is told so later") {
  const environment_guard deadline("STARLING_DEADLINE", "0.5");
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "1");
  job j(2, [](int) {
    machine m = machine::distributed();
    wait_for_sleeper(m, 0.3);
    return std::string("done");
  });
  nap(0.2);
  j.send(1, SIGSTOP);
  check_parts(j.end_of(0, 10), {"process 1 of 2", "did not come"});
  j.send(1, SIGCONT);
  check_parts(j.end_of(1, 10), {"process_error"});
}

TEST_CASE("blocks may compute for longer than any deadline while nobody waits for them") {
  const environment_guard deadline("STARLING_DEADLINE", "5");
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "0.4");
  job j(3, [](int) {
    machine m = machine::distributed();
    wait_for_sleeper(m, 1.2);
    return std::string("done");
  });
  for (const std::string& text : j.ends()) CHECK(text == "done");
}

}  // namespace
}  // namespace starling::test
