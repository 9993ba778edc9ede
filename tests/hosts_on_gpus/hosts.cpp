// Processes, each with PEs on GPUs and a host of its own, that reach each other by cards and an engine of sockets: one
// GPU is enough. Without one they have virtual devices, on which all but the refusals is the same. Nothing here may use
// CUDA before the processes are there: it does not go on in a fork.
#include <doctest/doctest.h>

#include "jobs.hpp"
#include "programs.hpp"
#include "support/failure.hpp"

namespace starling::test {
namespace {

// By what bytes have moved between hosts, and between PEs of one.
std::string carriers(const machine& m) {
  std::string text;
  for (const pair_traffic& t : m.traffic()) {
    if (t.source < 0 || t.destination < 0) continue;
    const std::string how = (m.host_of(t.source) == m.host_of(t.destination) ? "within " : "between ") + t.engine + ";";
    if (text.find(how) == std::string::npos) text += how;
  }
  return text;
}

TEST_CASE("a ring of PEs on two hosts, on four, and on two with two PEs each") {
  for (const auto& [hosts, pes] :
       std::vector<std::pair<std::vector<int>, int>>{{{0, 1}, 1}, {{0, 1, 2, 3}, 1}, {{0, 1}, 2}}) {
    CAPTURE(hosts.size());
    CAPTURE(pes);
    const int steps = 30;
    const std::vector<std::uint64_t> expected = expected_ring(static_cast<int>(hosts.size()) * pes, steps);
    check_all(on_all(hosts, pes,
                     [&](machine& m) {
                       for (const int words : {1, 2, 700}) {
                         const std::vector<std::uint64_t> got = ring_words(m, steps, words);
                         for (std::size_t i = 0; i < got.size(); ++i)
                           if (got[i] != expected[static_cast<std::size_t>(m.local_pes().begin) + i])
                             return message("PE ", m.local_pes().begin, " + ", i, ", ", words, " words");
                       }
                       return std::string("the bits of a loop");
                     }),
              "the bits of a loop");
  }
}

TEST_CASE("two processes of one host and one of another") {
  const std::vector<std::uint64_t> expected = expected_ring(3, 20);
  check_all(on_all({0, 0, 1}, 1,
                   [&](machine& m) {
                     const auto own = static_cast<std::size_t>(m.local_pes().begin);
                     return message(ring_words(m, 20, 5)[0] == expected[own], random_puts(m, 6));
                   }),
            "1all right");
}

TEST_CASE("random puts and gets come whole, before their signals") {
  check_all(on_all({0, 1}, 1, [](machine& m) { return random_puts(m, 24); }), "all right");
  check_all(on_all({0, 1, 2, 3}, 1, [](machine& m) { return random_puts(m, 12); }), "all right");
}

TEST_CASE("atomic operations of all hosts on all") {
  check_all(on_all({0, 1}, 1, [](machine& m) { return counted_numbers(m, 10); }), "all right");
  check_all(on_all({0, 1, 2}, 1, [](machine& m) { return counted_numbers(m, 4); }), "all right");
}

TEST_CASE("copies and fills of the host reach any PE") {
  const auto ends = on_all({0, 1, 2}, 1, [](machine& m) {
    constexpr index_t n = 300'001;
    auto x = m.allocate<unsigned char>(3 * n);
    std::vector<unsigned char> mine(n);
    for (index_t i = 0; i < n; ++i) mine[static_cast<std::size_t>(i)] = byte_of_put(m.process(), 1, i);
    for (int pe = 0; pe < 3; ++pe) m.copy(x.on(pe) + m.process() * n, mine.data(), n);
    m.meet();
    int wrong = 0;
    std::vector<unsigned char> got(n);
    for (int from = 0; from < 3; ++from) {
      m.copy(got.data(), x.on((m.process() + 1) % 3) + from * n, n);
      for (index_t i = 0; i < n; ++i) wrong += got[static_cast<std::size_t>(i)] != byte_of_put(from, 1, i);
    }
    m.meet();
    if (m.process() == 0) {
      m.fill(x.on(1) + 5, 9, 200'000);
      m.copy(x.on(2) + 1, x.on(1), 100'000);
    }
    m.meet();
    m.copy(got.data(), x.on(2), 100'001);
    return message(wrong, " ", int{got[6]}, " ", int{got[100'000]}, " ", int{got[5]} == byte_of_put(0, 1, 4));
  });
  check_all(ends, "0 9 9 1");
}

TEST_CASE("nothing goes directly between hosts, and what has moved is counted") {
  check_all(on_all({0, 1}, 1,
                   [](machine& m) {
                     (void)ring_words(m, 3, 100);
                     bool enough = false;
                     for (const pair_traffic& t : m.traffic())
                       enough = enough || (t.source == m.process() && t.bytes >= 3 * 100 * 8);
                     return carriers(m) + message(enough);
                   }),
            "between sockets;1");
}

TEST_CASE("a stall is told on all hosts, and the machine is usable after it") {
  const auto ends = on_all({0, 1}, 1, [](machine& m) {
    const std::string stall = said([&] {
      wait_for_nobody(m);
      return "no stall";
    });
    return stall + "\n" + random_puts(m, 2);
  });
  for (const std::string& text : ends)
    check_parts(text, {"stall_error", "wait-for cycle", "PE 0 block 0 -> PE 1 block 0", "all right"});
}

TEST_CASE("a kernel without cards is refused by name on GPUs") {
  for (const std::string& text : on_all({0, 1}, 1, [](machine& m) {
         return message(m.kind() == machine_kind::cuda ? "on GPUs " : "", said([&] {
                          run_without_cards(m);
                          return "ran";
                        }));
       })) {
    if (text.rfind("on GPUs", 0) == 0)
      check_parts(text, {"unsupported_error", "run_without_cards", "NETWORK"});
    else
      CHECK(text == "ran");
  }
}

}  // namespace
}  // namespace starling::test
