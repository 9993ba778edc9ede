// Shortest paths against Dijkstra's algorithm, exact.
#include "sssp/sssp.hpp"

#include <algorithm>
#include <limits>
#include <queue>

#include "support/failure.hpp"
#include "support/graphs.hpp"
#include "support/region_agents.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

template <class T>
std::vector<T> by_dijkstra(const sparse::csr<T>& edges_in, index_t source) {
  const auto n = static_cast<std::size_t>(edges_in.rows());
  std::vector<std::vector<std::pair<std::size_t, T>>> out(n);
  for (std::size_t head = 0; head < n; ++head)
    for (index_t e = edges_in.row_start[head]; e < edges_in.row_start[head + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      out[static_cast<std::size_t>(edges_in.column[at])].push_back({head, edges_in.value[at]});
    }
  std::vector<T> distance(n, std::numeric_limits<T>::infinity());
  std::priority_queue<std::pair<T, std::size_t>, std::vector<std::pair<T, std::size_t>>, std::greater<>> next;
  next.push({T{0}, static_cast<std::size_t>(source)});
  distance[static_cast<std::size_t>(source)] = 0;
  while (!next.empty()) {
    const auto [d, v] = next.top();
    next.pop();
    if (d > distance[v]) continue;
    for (const auto& [head, weight] : out[v])
      if (d + weight < distance[head]) next.push({distance[head] = d + weight, head});
  }
  return distance;
}

// Every vertex that a path leads to has one before it on a shortest path, and all lead back to the source.
template <class T>
void check_tree(const sparse::csr<T>& a, index_t source, const std::vector<T>& distance) {
  const auto before = sssp::solver<T>::predecessors(a.view(), source, distance.data());
  for (index_t v = 0; v < a.rows(); ++v) {
    const bool far = distance[static_cast<std::size_t>(v)] == std::numeric_limits<T>::infinity();
    CHECK((before[static_cast<std::size_t>(v)] == sssp::solver<T>::nobody) == (far || v == source));
    if (far) continue;
    index_t at = v;
    for (index_t steps = 0; at != source; ++steps) {
      REQUIRE(steps < a.rows());
      const std::int32_t u = before[static_cast<std::size_t>(at)];
      const auto* row = a.column.data() + a.row_start[static_cast<std::size_t>(at)];
      const auto* end = a.column.data() + a.row_start[static_cast<std::size_t>(at) + 1];
      const auto* edge = std::find(row, end, u);
      REQUIRE(edge != end);
      CHECK(distance[static_cast<std::size_t>(u)] + a.value[static_cast<std::size_t>(edge - a.column.data())] ==
            distance[static_cast<std::size_t>(at)]);
      at = u;
    }
  }
}

// A line of vertices beside a random graph: many rounds.
template <class T>
sparse::csr<T> long_way(random& r, index_t vertices) {
  sparse::csr<T> a;
  a.columns = vertices;
  for (index_t i = 0; i < vertices; ++i) {
    if (i > 0) {
      a.column.push_back(static_cast<std::int32_t>(i - 1));
      a.value.push_back(static_cast<T>(r.below(100)));
    }
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  return a;
}

TEST_CASE("distances are Dijkstra's") {
  random r(51);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const index_t vertices : {1, 40, 900})
      for (const region_agent agent : agents_of(*m, false)) {
        CAPTURE(pes);
        CAPTURE(vertices);
        CAPTURE(std::string(name(agent)));
        const sparse::iteration_options options{.agent = agent,
                                                .chunk_bytes = 128,
                                                .tiles = 1 + static_cast<int>(r.below(7)),
                                                .blocks = 1 + static_cast<int>(r.below(3)),
                                                .halo_only = r.below(4) == 0};
        const auto run = [&](auto zero, const auto& a) {
          using T = decltype(zero);
          const int sweeps = static_cast<int>(r.below(3)) * 2;
          CAPTURE(sweeps);
          sssp::solver<T> s(*m, a.view(), options, sweeps);
          for (int again = 0; again < 2; ++again) {
            const auto source = static_cast<index_t>(r.below(static_cast<std::uint64_t>(vertices)));
            std::vector<T> distance(static_cast<std::size_t>(vertices), T{-1});
            const sssp::result got = s.solve(source, distance.data());
            CHECK(got.complete);
            CHECK(static_cast<index_t>(got.report.history.size()) == got.rounds);
            CHECK(distance == by_dijkstra(a, source));
            check_tree(a, source, distance);
          }
        };
        run(0.0, random_edges_in<double>(r, vertices, 6 * vertices, 1000));
        run(0.0f, random_edges_in<float>(r, vertices, 6 * vertices, 100));
        run(0.0, long_way<double>(r, vertices));
        auto free_ways = random_edges_in<double>(r, vertices, 4 * vertices, 3);
        for (double& w : free_ways.value) w -= 1;  // edges of no length, in circles too
        run(0.0, free_ways);
      }
  }
}

// Edges from the first vertex of 1,024 to the others, and into the last vertex of all from half of the vertices.
template <class T>
sparse::csr<T> hub(random& r, index_t vertices) {
  sparse::csr<T> a;
  a.columns = vertices;
  const auto add = [&](index_t from) {
    a.column.push_back(static_cast<std::int32_t>(from));
    a.value.push_back(static_cast<T>(1 + r.below(1 << 20)));
  };
  for (index_t i = 0; i < vertices; ++i) {
    const index_t first = i / 1024 * 1024;
    if (i == vertices - 1) {
      for (index_t from = vertices / 2; from-- > 0;) add(from);  // the nearest last
    } else if (i > 0) {
      add(i == first ? first - 1024 : first);
    }
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  return a;
}

TEST_CASE("a vertex may have more edges from other tiles than 16 bits count") {
  random r(57);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    const auto a = hub<double>(r, 140'000);
    sssp::solver<double> s(*m, a.view());
    std::vector<double> distance(140'000, -1);
    CHECK(s.solve(0, distance.data()).complete);
    CHECK(distance == by_dijkstra(a, 0));
  }
}

// A way from 0 on, longer than the tiles are many: only those where the front is have anything to do.
TEST_CASE("tiles whose inputs did not change are skipped") {
  constexpr index_t vertices = 1000;
  for (const int pes : {1, 2, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : {region_agent::inline_stores, region_agent::polling})
      for (const bool halo_only : {false, true}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(agent)));
        CAPTURE(halo_only);
        random r(53);
        const auto a = long_way<double>(r, vertices);
        const sparse::iteration_options options{
            .agent = agent, .chunk_bytes = 128, .tiles = 10, .blocks = 2, .halo_only = halo_only};
        sssp::solver<double> s(*m, a.view(), options, 0);
        std::vector<double> distance(vertices, -1);
        const sssp::result got = s.solve(0, distance.data());
        CHECK(distance == by_dijkstra(a, 0));
        const auto all = static_cast<std::uint64_t>(got.rounds + 1) * 10 * static_cast<std::uint64_t>(pes);
        CHECK(got.report.tiles_skipped < all);
        CHECK(got.report.tiles_skipped > all * 3 / 4);
        const sssp::result again = s.solve(0, distance.data());
        CHECK(again.report.tiles_skipped == got.report.tiles_skipped);
        // Every round sends a chunk where the front is, a second time for the other buffer, and little else.
        std::uint64_t sent = 0;
        for (const std::uint64_t bytes : got.report.bytes_sent) sent += bytes;
        CHECK(sent < static_cast<std::uint64_t>(got.rounds) * 128 * 4 * static_cast<std::uint64_t>(pes));
      }
  }
}

// Streets: a grid whose edges all lead to neighbours, some of which are missing.
template <class T>
sparse::csr<T> streets(random& r, index_t side) {
  sparse::csr<T> a;
  a.columns = side * side;
  for (index_t i = 0; i < side * side; ++i) {
    const auto from = [&](bool there, index_t j) {
      if (!there || r.below(10) < 3) return;
      a.column.push_back(static_cast<std::int32_t>(j));
      a.value.push_back(static_cast<T>(1 + r.below(100)));
    };
    from(i >= side, i - side);
    from(i % side > 0, i - 1);
    from(i % side < side - 1, i + 1);
    from(i < side * (side - 1), i + side);
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  return a;
}

TEST_CASE("along the edges of a tile paths go on for many hops in a round") {
  random r(54);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    CAPTURE(pes);
    const auto a = streets<float>(r, 71);
    const index_t source = 71 * 35 + static_cast<index_t>(r.below(71));
    const auto expected = by_dijkstra(a, source);
    const auto rounds_with = [&](int sweeps) {
      CAPTURE(sweeps);
      sssp::solver<float> s(*m, a.view(), {.tiles = 3}, sweeps);
      std::vector<float> distance(static_cast<std::size_t>(a.rows()), -1);
      const index_t rounds = s.solve(source, distance.data()).rounds;
      CHECK(distance == expected);
      return rounds;
    };
    const index_t hops = rounds_with(0);
    CHECK(rounds_with(1) < hops);
    CHECK(rounds_with(1000) < hops / 2);
  }
  auto m = test_machine(1);
  if (!m) return;
  const auto a = streets<float>(r, 5);
  check_parts(failure_of<argument_error>([&] { sssp::solver<float>(*m, a.view(), {}, -1); }), {"sweeps = -1"});
}

TEST_CASE("a source that is no vertex is refused, a watcher ends the rounds") {
  auto m = test_machine(2);
  if (!m) return;
  random r(52);
  const auto a = long_way<double>(r, 400);
  sssp::solver<double> s(*m, a.view(), {}, 0);
  std::vector<double> distance(400);
  check_parts(failure_of<range_error>([&] { s.solve(400, distance.data()); }), {"source 400", "400 vertices"});
  check_parts(failure_of<range_error>([&] { s.solve(-1, distance.data()); }), {"source -1"});
  const auto ended = s.solve(0, distance.data(), [](index_t, double) { return false; });
  CHECK_FALSE(ended.complete);
  CHECK(ended.rounds == 64);
  CHECK(s.solve(0, distance.data()).complete);
  CHECK(distance == by_dijkstra(a, 0));
}

}  // namespace
}  // namespace starling::test
