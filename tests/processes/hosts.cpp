// Processes that play several hosts: they share memory with those of their own alone, and send each other messages.
#include <doctest/doctest.h>

#include "processes/on_hosts.hpp"
#include "processes/programs.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"

namespace starling::test {
namespace {

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST_CASE("processes of several hosts compute the bits of one with as many PEs, whoever is where") {
  machine one = machine::host(4);
  const std::string expected = ring_bits(one, 200);
  for (const auto& hosts :
       std::vector<std::vector<int>>{{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 2, 3}, {0, 0, 0, 0}, {0, 1}}) {
    CAPTURE(hosts.size());
    const int pes = 4 / static_cast<int>(hosts.size());
    for (const std::string& text : on_all(hosts, pes, [](machine& m, int) { return ring_bits(m, 200); }))
      CHECK(text == expected);
  }
}

TEST_CASE("a process may come late, and many runs in a row begin clean") {
  machine one = machine::host(3);
  const std::string expected = ring_bits(one, 3);
  const auto ends = on_all({0, 1, 1}, 1, [&](machine& m, int rank) {
    random r(static_cast<std::uint64_t>(rank) + 3);
    for (int i = 0; i < 60; ++i) {
      if (r.below(4) == 0) nap(0.001 * r.below(20));
      if (ring_bits(m, 3) != expected) return message("run ", i, " differs");
    }
    return message("alike, in use: ", m.memory().in_use < 4096);
  });
  for (const std::string& text : ends) CHECK(text == "alike, in use: 1");
}

TEST_CASE("copy and fill reach any PE, also large, between two PEs of other hosts, and at odd places") {
  const auto ends = on_all({0, 1, 2}, 1, [](machine& m, int rank) {
    constexpr index_t n = 300'001;
    auto x = m.allocate<unsigned char>(3 * n);
    random r(static_cast<std::uint64_t>(rank));
    std::vector<unsigned char> mine(n);
    for (auto& v : mine) v = static_cast<unsigned char>(r.below(256));
    for (int pe = 0; pe < 3; ++pe) m.copy(x.on(pe) + rank * n, mine.data(), n);
    m.meet();
    int wrong = 0;
    for (int from = 0; from < 3; ++from) {
      random theirs(static_cast<std::uint64_t>(from));
      std::vector<unsigned char> got(n, 7);
      m.copy(got.data(), x.on((rank + 1) % 3) + from * n, n);
      for (const auto v : got) wrong += v != static_cast<unsigned char>(theirs.below(256));
    }
    m.meet();
    if (rank == 0) {
      m.fill(x.on(1) + 5, 9, 200'000);
      m.copy(x.on(2) + 1, x.on(1), 100'000);
    }
    m.meet();
    const auto at = [&](int pe, index_t i) {
      unsigned char v = 0;
      m.copy(&v, x.on(pe) + i, 1);
      return static_cast<int>(v);
    };
    return message(wrong, " ", at(1, 5), " ", at(2, 6), " ", at(2, 99'999), " ", at(1, 200'004), " ",
                   m.agree(rank + 0.5));
  });
  for (const std::string& text : ends) CHECK(text == "0 9 9 9 9 0.5");
}

TEST_CASE("puts, gets and atomic operations of kernels reach other hosts") {
  const auto ends = on_all({0, 1, 0, 1}, 1, [](machine& m, int) { return mixed_calls(m, 20); });
  for (const std::string& text : ends) CHECK(text == "all right");
}

TEST_CASE("large puts and gets, which go apart from messages, keep the order that blocks ask for") {
  for (const auto& hosts : std::vector<std::vector<int>>{{0, 1}, {0, 1, 1, 2}})
    for (const std::string& text : on_all(hosts, 1, [](machine& m, int) { return large_calls(m, 12); }))
      CHECK(text == "all right");
}

TEST_CASE("the source of a blocking put may be written over when it has returned") {
  for (const std::string& text : on_all({0, 1, 2}, 1, [](machine& m, int) { return reused_sources(m, 4); }))
    CHECK(text == "all right");
}

TEST_CASE("packets side by side come whole, whichever is waited for") {
  for (const std::string& text : on_all({0, 1, 1, 2}, 1, [](machine& m, int) { return many_packets(m, 60); }))
    CHECK(text == "all right");
}

TEST_CASE("a program that stalls during large puts leaves a machine that can be used") {
  const environment_guard deadline("STARLING_DEADLINE", "2");
  const auto ends = on_all({0, 1}, 1, [](machine& m, int) {
    const std::string stall = said([&] {
      put_without_end(m);
      return "no stall";
    });
    return stall + "\n" + large_calls(m, 1);
  });
  for (const std::string& text : ends) check_parts(text, {"stall_error", "PE 1 block 0", "all right"});
}

TEST_CASE("a process that is stopped during large puts is named") {
  const environment_guard deadline("STARLING_DEADLINE", "0.8");
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "1");
  const socket_mesh mesh(2);
  job j(2, [&](int rank) {
    machine m = on_hosts(mesh, {0, 1}, rank);
    put_without_end(m);
    return std::string("done");
  });
  nap(0.4);
  j.send(1, SIGSTOP);
  check_parts(j.end_of(0, 20), {"process_error", "process 1 of 2", "did not come"});
}

TEST_CASE("a wait for words that are written as data ends on other hosts too") {
  const auto ends = on_all({0, 1, 1}, 1, [](machine& m, int) {
    for (int i = 0; i < 20; ++i) wait_for_data(m);
    return std::string("done");
  });
  for (const std::string& text : ends) CHECK(text == "done");
}

TEST_CASE("a stall is told alike on all hosts, with who waits for whom across them") {
  const environment_guard deadline("STARLING_DEADLINE", "0.3");
  const auto ends = on_all({0, 1, 1}, 1, [](machine& m, int) {
    const std::string stall = said([&] {
      wait_in_ring(m);
      return "no stall";
    });
    return stall + "\n" + (ring_bits(m, 2).empty() ? "" : "usable");
  });
  for (const std::string& text : ends)
    check_parts(text, {"stall_error", "wait-for cycle", "PE 0 block 0 -> PE 1 block 0 -> PE 2 block 0", "usable"});
}

TEST_CASE("what a kernel throws on one host ends the program on all") {
  const auto ends = on_all({0, 1}, 1, [](machine& m, int) {
    const std::string thrown = said([&] {
      throw_on(m, 1);
      return "nothing";
    });
    return thrown + "\n" + (ring_bits(m, 2).empty() ? "" : "usable");
  });
  check_parts(ends[0], {"process_error", "process 1 of 2", "the kernel has had enough", "usable"});
  check_parts(ends[1], {"other: the kernel has had enough", "usable"});
}

TEST_CASE("calls that are not made alike are refused on all hosts, which can go on") {
  const auto ends = on_all({0, 1, 1}, 1, [](machine& m, int rank) {
    const std::string sizes = said([&] { return message(m.allocate<int>(rank == 2 ? 5 : 4).size()); });
    const std::string calls = said([&] {
      if (rank == 1) return message(m.agree(1));
      m.meet();
      return std::string();
    });
    return sizes + "\n" + calls + "\n" + (ring_bits(m, 1).empty() ? "" : "usable");
  });
  for (const std::string& text : ends)
    check_parts(text, {"argument_error", "asks for 20 bytes and process 0 for 16", "machine::agree", "usable"});
}

TEST_CASE("who does not come is named on all hosts") {
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "0.5");
  const auto ends = on_all({0, 1, 1}, 1, [](machine& m, int rank) {
    if (rank == 1) {
      nap(1.5);
      return std::string("late");
    }
    return said([&] {
      m.meet();
      return "met";
    });
  });
  for (const int rank : {0, 2})
    check_parts(ends[static_cast<std::size_t>(rank)],
                {"process_error", "process 1 of 3", "did not come within 0.5 s", "STARLING_MEETING_DEADLINE"});
}

TEST_CASE("who has given its machine up is named, and a process that dies ends those of other hosts at once") {
  const auto left = on_all({0, 1}, 1, [](machine& m, int rank) {
    if (rank == 1) {
      {
        const machine gone = std::move(m);
      }
      nap(0.5);
      return std::string("left");
    }
    return said([&] {
      m.meet();
      return "met";
    });
  });
  check_parts(left[0], {"process_error", "process 1 of 2 has given its machine up"});
  const std::vector<int> hosts = {0, 1, 1};
  const socket_mesh mesh(3);
  job j(3, [&](int rank) {
    machine m = on_hosts(mesh, hosts, rank);
    if (rank == 2)
      std::thread([] {
        nap(0.3);
        (void)::raise(SIGKILL);
      }).detach();
    return said([&] {
      wait_in_ring(m);
      return "nothing";
    });
  });
  for (const int rank : {0, 1}) check_parts(j.end_of(rank, 8), {"process_error", "process 2 of 3", "has died"});
}

TEST_CASE("machines that differ are refused on all hosts") {
  const socket_mesh mesh(2);
  job j(2, [&](int rank) { return on_hosts(mesh, {0, 1}, rank, {.pes = 1 + rank}).choice(); });
  for (const std::string& text : j.ends())
    check_parts(text, {"argument_error", "process 1 wants a machine of 4 PEs", "process 0 one of 2 PEs"});
}

}  // namespace
}  // namespace starling::test
