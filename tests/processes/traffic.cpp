// What machines say has moved between PEs, and by what.
#include <doctest/doctest.h>

#include <numeric>

#include "processes/on_hosts.hpp"
#include "processes/programs.hpp"

namespace starling::test {
namespace {

std::string text_of(std::vector<pair_traffic> all) {
  std::string text;
  for (const pair_traffic& t : all) text += message(t.source, "->", t.destination, " ", t.engine, " ", t.bytes, "\n");
  return text;
}

// What the blocks of these PEs move in move_known. Two blocks put with a signal, get, and add to a word.
std::string known(const machine& m, index_range pes, const char* engine) {
  std::string text;
  for (int from = 0; from < m.size(); ++from)
    for (int to = 0; to < m.size(); ++to) {
      if (from == to) continue;
      const auto is_of = [&](int pe) { return pe >= pes.begin && pe < pes.end; };
      index_t bytes = 0;
      if (is_of(from)) bytes += 2 * (known_put(from, to) + 8 + 8);
      if (is_of(to)) bytes += 2 * known_get(to, from);
      if (bytes == 0) continue;
      const bool apart = m.host_of(from) != m.host_of(to);
      text += message(from, "->", to, " ", apart ? engine : "direct", " ", bytes, "\n");
    }
  return text;
}

TEST_CASE("what runs move is counted by pair of PEs and engine, nothing directly between hosts") {
  for (const auto& hosts : std::vector<std::vector<int>>{{0, 0, 1}, {0, 1, 2}, {0, 0, 0}}) {
    CAPTURE(hosts.size());
    const auto ends = on_all(hosts, 2, [](machine& m, int) {
      const std::string before = text_of(m.traffic());
      move_known(m);
      const std::string once = text_of(m.traffic());
      const std::string expected = known(m, m.local_pes(), "sockets");
      if (!before.empty() || once != expected) return message(before, "got\n", once, "instead of\n", expected);
      move_known(m);
      std::uint64_t bytes = 0;
      for (const pair_traffic& t : m.traffic()) bytes += t.bytes;
      std::uint64_t of_once = 0;
      for (index_t pe = m.local_pes().begin; pe < m.local_pes().end; ++pe)
        for (int other = 0; other < m.size(); ++other)
          if (const auto me = static_cast<int>(pe); other != me)
            of_once += static_cast<std::uint64_t>(2 * (known_put(me, other) + 16 + known_get(me, other)));
      return message(bytes == 2 * of_once ? "counted" : "not twice as much");
    });
    for (const std::string& text : ends) CHECK(text == "counted");
  }
}

TEST_CASE("the engine has sent what was put, and nothing to processes of the same host") {
  const auto ends = on_all({0, 1, 1}, 1, [](machine& m, int rank) {
    auto x = m.allocate<unsigned char>(100'000);
    for (int pe = 0; pe < 3; ++pe) m.copy(x.on(pe), x.on(rank), static_cast<std::size_t>(1000 * (pe + 1)));
    std::vector<unsigned char> here(500);
    m.copy(here.data(), x.on((rank + 1) % 3), here.size());
    m.copy(x.on((rank + 1) % 3), here.data(), here.size());
    m.fill(x.on((rank + 1) % 3), 0, 70);
    m.copy(x.on(rank), here.data(), here.size());  // stays in the process
    const std::vector<std::uint64_t> sent = m.sent_bytes();
    m.meet();
    return text_of(m.traffic()) + message(sent[0], " ", sent[1], " ", sent[2]);
  });
  CHECK(ends[0] == "-1->1 sockets 570\n0->1 sockets 2000\n0->2 sockets 3000\n1->-1 sockets 500\n0 2570 3000");
  CHECK(ends[1] == "-1->2 direct 570\n1->0 sockets 1000\n1->2 direct 3000\n2->-1 direct 500\n1000 0 0");
  CHECK(ends[2] == "-1->0 sockets 570\n0->-1 sockets 500\n2->0 sockets 1000\n2->1 direct 2000\n1570 0 0");
}

TEST_CASE("hosts that are played in one process have cards") {
  machine m = machine::host(4, {.hosts = {0, 0, 1, 1}});
  move_known(m);
  CHECK(text_of(m.traffic()) == known(m, {0, 4}, "card"));
  machine one = machine::host(3);
  move_known(one);
  CHECK(text_of(one.traffic()) == known(one, {0, 3}, ""));
  auto x = one.allocate<int>(10);
  const std::vector<int> here(10);
  one.copy(x.on(1), here.data(), 40);
  CHECK(text_of(one.traffic()) == known(one, {0, 3}, ""));  // no other process's
}

TEST_CASE("a program that is ended has moved what it had until then") {
  machine m = machine::host(2);
  CHECK_THROWS_AS(signal_and_throw(m), std::runtime_error);
  CHECK(text_of(m.traffic()) == "0->1 direct 8\n");
}

}  // namespace
}  // namespace starling::test
