// OpenSHMEM's calls of the host, of several processes.
#include "starling/shmem/world.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/processes.hpp"
#include "support/random.hpp"

namespace starling::test {
namespace {

// What is not as every process has put it into every PE; each comes late to each call, by a time of its own.
std::string exchanged(int rank, int processes, int pes_each) {
  shmem::world w(machine::distributed({.pes = pes_each}));
  random r(static_cast<std::uint64_t>(rank) + 7);
  const auto nap = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(r.below(30))); };
  std::string text;
  for (int round = 0; round < 20; ++round) {
    nap();
    const auto box = w.calloc<int>(processes);
    nap();
    for (int pe = 0; pe < w.n_pes(); ++pe) w.on(pe).p(box.data() + rank, 1 + rank + 10 * round + 1000 * pe);
    nap();
    w.barrier_all();
    for (int pe = 0; pe < w.n_pes(); ++pe) {
      std::vector<int> got(static_cast<std::size_t>(processes), -1);
      w.on(pe).get(got.data(), box.data(), processes);
      for (int from = 0; from < processes; ++from)
        if (got[static_cast<std::size_t>(from)] != 1 + from + 10 * round + 1000 * pe)
          text += message("round ", round, ": PE ", pe, " has ", got[static_cast<std::size_t>(from)], " of process ",
                          from, "; ");
    }
    w.barrier_all();
  }
  return text.empty() ? "all came" : text;
}

TEST_CASE("what a process puts after calloc stays, however late the others come") {
  for (const int processes : {2, 3})
    for (const int pes_each : {1, 2}) {
      CAPTURE(processes);
      CAPTURE(pes_each);
      job j(processes, [&](int rank) { return exchanged(rank, processes, pes_each); });
      for (const std::string& text : j.ends()) CHECK(text == "all came");
    }
}

TEST_CASE("strided copies are made by whichever process asks") {
  job j(2, [](int) -> std::string {
    shmem::world w(machine::distributed());
    const auto box = w.calloc<int>(10);
    const std::vector<int> mine{1, 2, 3, 4, 5};
    if (!w.machine().is_local(0)) w.on(0).iput(box.data(), mine.data(), 2, 1, 5);
    w.barrier_all();
    std::vector<int> got(5, -1);
    w.on(0).iget(got.data(), box.data(), 1, 2, 5);
    w.barrier_all();
    return got == mine ? "same" : "others";
  });
  for (const std::string& text : j.ends()) CHECK(text == "same");
}

}  // namespace
}  // namespace starling::test
