// Programs and memory of several processes.
#include <doctest/doctest.h>

#include "processes/programs.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/processes.hpp"

namespace starling::test {
namespace {

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST_CASE("four processes compute the bits of one with four PEs, whoever has how many") {
  machine one = machine::host(4);
  const std::string expected = ring_bits(one, 200);
  for (const int processes : {4, 2, 1}) {
    CAPTURE(processes);
    job j(processes, [&](int) {
      machine m = machine::distributed({.pes = 4 / processes});
      return ring_bits(m, 200);
    });
    for (const std::string& text : j.ends()) CHECK(text == expected);
  }
}

TEST_CASE("a process may come late to a run, by more than the deadline of waits in kernels") {
  const environment_guard deadline("STARLING_DEADLINE", "0.5");
  machine one = machine::host(3);
  const std::string expected = ring_bits(one, 5);
  job j(3, [&](int rank) {
    machine m = machine::distributed();
    if (rank == 1) nap(0.75);
    const std::string first = ring_bits(m, 5);
    if (rank == 2) nap(0.75);
    return first == ring_bits(m, 5) ? first : "other bits the second time";
  });
  for (const std::string& text : j.ends()) CHECK(text == expected);
}

TEST_CASE("many runs in a row clear their words before anybody sends") {
  job j(3, [](int) {
    machine m = machine::distributed();
    const std::string first = ring_bits(m, 3);
    for (int i = 0; i < 200; ++i)
      if (ring_bits(m, 3) != first) return message("run ", i, " differs");
    return message("alike, in use: ", m.memory().in_use < 4096);
  });
  for (const std::string& text : j.ends()) CHECK(text == "alike, in use: 1");
}

TEST_CASE("copy reaches any PE, and all see it after a meeting") {
  job j(3, [](int rank) {
    machine m = machine::distributed({.pes = 2});
    auto x = m.allocate<int>(6);
    for (int pe = 0; pe < 6; ++pe) m.copy(x.on(pe) + rank, &rank, sizeof rank);
    m.meet();
    int wrong = 0;
    for (int pe = 0; pe < 6; ++pe)
      for (int r = 0; r < 3; ++r) wrong += x.on(pe)[r] != r;
    return message(wrong, " ", m.agree(rank + 0.5));
  });
  for (const std::string& text : j.ends()) CHECK(text == "0 0.5");
}

TEST_CASE("memory is free again when all processes have freed it, in whatever order") {
  job j(2, [](int rank) {
    machine m = machine::distributed({.memory_bytes = 1 << 20});
    auto a = m.allocate<char>(400 << 10);
    auto b = m.allocate<char>(400 << 10);
    if (rank == 0) a.reset();
    const std::string full = said([&] { return m.allocate<char>(400 << 10).size() > 0 ? "fits" : ""; });
    if (rank == 1) a.reset();
    b.reset();
    auto c = m.allocate<char>(900 << 10);
    return message(full.substr(0, 12), " ", c.size());
  });
  for (const std::string& text : j.ends()) CHECK(text == message("memory_error ", 900 << 10));
}

TEST_CASE("calls that are not made alike are refused in all processes, which can go on") {
  job j(3, [](int rank) {
    machine m = machine::distributed();
    const std::string sizes = said([&] { return message(m.allocate<int>(rank == 2 ? 5 : 4).size()); });
    const std::string calls = said([&] {
      if (rank == 1) return message(m.agree(1));
      m.meet();
      return std::string();
    });
    return sizes + "\n" + calls + "\n" + ring_bits(m, 1).substr(0, 2);
  });
  for (const std::string& text : j.ends()) {
    check_parts(text, {"argument_error", "asks for 20 bytes and process 0 for 16", "machine::agree", "machine::meet"});
    CHECK(text.substr(text.size() - 3, 1) == "\n");
  }
}

TEST_CASE("a wait for words that are written as data ends in other processes too") {
  job j(3, [](int) {
    machine m = machine::distributed();
    for (int i = 0; i < 20; ++i) wait_for_data(m);
    return std::string("done");
  });
  for (const std::string& text : j.ends()) CHECK(text == "done");
}

}  // namespace
}  // namespace starling::test
