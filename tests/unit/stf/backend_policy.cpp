// The choice between streams and graphs alone, with made-up times.
#include "stf/submit/backend_policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "support/random.hpp"

namespace starling::test::backend_policy_tests {
namespace {

using stf::backend_kind;
using stf::backend_policy;

constexpr backend_kind on_streams = backend_kind::stream;
constexpr backend_kind as_graph = backend_kind::graph;

// An epoch that takes what the table says; its time is known at once.
backend_kind run(backend_policy& p, std::uint64_t signature, double stream_seconds, double graph_seconds) {
  const backend_kind used = p.next();
  const bool timed = p.wants_time();
  p.ended(signature, 10, used, timed);
  if (timed) p.measured(signature, used, used == as_graph ? graph_seconds : stream_seconds);
  return used;
}

TEST_CASE("streams first, then graphs, then the faster") {
  for (const bool graphs_win : {false, true}) {
    backend_policy p;
    std::vector<backend_kind> used;
    for (int i = 0; i < 20; ++i) used.push_back(run(p, 5, 2, graphs_win ? 1 : 3));
    const int tries = static_cast<int>(backend_policy::tries);
    for (int i = 0; i < 20; ++i) {
      CAPTURE(i);
      const backend_kind expected = i < tries       ? on_streams
                                    : i < 2 * tries ? as_graph
                                    : graphs_win    ? as_graph
                                                    : on_streams;
      CHECK(used[static_cast<std::size_t>(i)] == expected);
    }
    CHECK_FALSE(p.wants_time());
    REQUIRE(p.choices().size() == 1);
    CHECK(p.choices()[0].settled);
    CHECK(p.choices()[0].chosen == (graphs_win ? as_graph : on_streams));
  }
}

TEST_CASE("the first of each kind does not count, and what disturbs one does not either") {
  backend_policy p;
  const double stream_times[] = {1, 9, 4, 7};
  const double graph_times[] = {100, 3, 50, 60};
  for (const double t : stream_times) CHECK(run(p, 1, t, 0) == on_streams);
  for (const double t : graph_times) CHECK(run(p, 1, 0, t) == as_graph);
  CHECK(p.next() == as_graph);
  CHECK(p.choices()[0].on_streams.seconds == 4);
  CHECK(p.choices()[0].as_graph.seconds == 3);
}

TEST_CASE("equal times stay on streams") {
  backend_policy p;
  for (int i = 0; i < 8; ++i) (void)run(p, 1, 2, 2);
  CHECK(p.next() == on_streams);
}

TEST_CASE("times that are on their way are waited for on streams") {
  backend_policy p;
  const int tries = static_cast<int>(backend_policy::tries);
  for (int i = 0; i < 3 * tries; ++i) p.ended(1, 10, p.next(), true);
  CHECK(p.next() == on_streams);
  CHECK(p.choices()[0].as_graph.epochs == backend_policy::tries);
  CHECK_FALSE(p.choices()[0].settled);
  for (int i = 0; i < 2 * tries; ++i) p.measured(1, on_streams, 5);
  for (int i = 0; i < tries; ++i) p.measured(1, as_graph, 4);
  CHECK(p.next() == as_graph);
}

TEST_CASE("nothing that is not timed settles anything") {
  backend_policy p;
  for (int i = 0; i < 50; ++i) {
    CHECK(p.next() == on_streams);
    CHECK(p.wants_time());
    p.ended(1, 10, on_streams, false);
  }
}

TEST_CASE("epochs that cannot be recorded stay on streams") {
  backend_policy p;
  for (int i = 0; i < 5; ++i) (void)run(p, 1, 2, 1);
  CHECK(p.next() == as_graph);
  p.refuse("a body waited");
  CHECK(p.next() == on_streams);
  for (int i = 0; i < 20; ++i) CHECK(run(p, 1, 2, 1) == on_streams);
  CHECK(p.choices()[0].refused == "a body waited");
  // One that turned out to be another than expected.
  p.refuse(2, "memory");
  p.ended(2, 3, on_streams, false);
  p.ended(2, 3, on_streams, false);
  CHECK(p.next() == on_streams);
  CHECK(p.choices()[1].refused == "memory");
}

// Phases of a program come in turn: each settles on its own.
TEST_CASE("sequences of epochs") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    random r(seed);
    INFO("seed " << seed);
    const auto phases = static_cast<std::uint64_t>(1 + r.below(5));
    std::map<std::uint64_t, std::pair<double, double>> seconds;
    for (std::uint64_t s = 0; s < phases; ++s)
      seconds[s * 77 + 1] = {1 + static_cast<double>(r.below(9)), 1 + static_cast<double>(r.below(9))};
    backend_policy p;
    double last_round = 0;
    double best = 0;
    for (int round = 0; round < 40; ++round) {
      last_round = 0;
      best = 0;
      for (const auto& [signature, t] : seconds) {
        const backend_kind used = run(p, signature, t.first, t.second);
        last_round += used == as_graph ? t.second : t.first;
        best += std::min(t.first, t.second);
      }
    }
    CHECK(last_round == best);
    CHECK(p.choices().size() == phases);
    for (const auto& c : p.choices()) CHECK(c.settled);
  }
}

TEST_CASE("signatures that never come again are forgotten") {
  backend_policy p;
  for (std::uint64_t s = 0; s < 3 * backend_policy::most_signatures; ++s) CHECK(run(p, s, 1, 2) == on_streams);
  CHECK(p.choices().size() == backend_policy::most_signatures);
}

}  // namespace
}  // namespace starling::test::backend_policy_tests
