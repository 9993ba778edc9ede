// The numbering of a graph's vertices: edges stay the same ones, and by degree is chosen where it gathers the reads.
#include "sparse/vertex_order.hpp"

#include <map>
#include <numeric>

#include "support/failure.hpp"
#include "support/graphs.hpp"

namespace starling::test {
namespace {

using sparse::vertex_order;

TEST_CASE("a graph by degree has the same edges, in ascending order, and its values come back") {
  random r(3107);
  INFO("STARLING_TEST_SEED=" << r.seed);
  constexpr index_t n = 500;
  const sparse::csr<double> a = random_edges_in<double>(r, n, 4 * n, 9);
  const int pes = 1 + static_cast<int>(r.below(4));
  const sparse::ordered_graph<double> g(a.view(), vertex_order::by_degree, pes);
  CHECK(g.order() == vertex_order::by_degree);
  std::vector<double> label(n);
  std::iota(label.begin(), label.end(), 0.0);
  const auto ordered = g.ordered(label.data());  // of each new number, the caller's
  std::map<std::pair<index_t, index_t>, double> wanted, got;
  std::vector<index_t> degree(n, 0);
  for (index_t i = 0; i < n; ++i)
    for (index_t e = a.row_start[static_cast<std::size_t>(i)]; e < a.row_start[static_cast<std::size_t>(i) + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      wanted[{i, a.column[at]}] += a.value[at];
      ++degree[static_cast<std::size_t>(a.column[at])];
    }
  const auto& v = g.view();
  CHECK(v.nonzeros() == a.view().nonzeros());
  for (index_t i = 0; i < n; ++i)
    for (index_t e = v.row_start[i]; e < v.row_start[i + 1]; ++e) {
      if (e > v.row_start[i]) CHECK(v.column[e - 1] <= v.column[e]);
      const auto row = static_cast<index_t>(ordered[static_cast<std::size_t>(i)]);
      got[{row, static_cast<index_t>(ordered[static_cast<std::size_t>(v.column[e])])}] += v.value[e];
    }
  CHECK(got == wanted);
  // Part k of the numbers are vertices k, k + pes, ... of the order.
  std::vector<index_t> degrees;
  for (index_t i = 0; i < n; ++i) {
    index_t number = i / pes;
    for (index_t k = 0; k < i % pes; ++k) number += ceil_div(n - k, index_t{pes});
    degrees.push_back(degree[static_cast<std::size_t>(ordered[static_cast<std::size_t>(number)])]);
  }
  CHECK(std::is_sorted(degrees.rbegin(), degrees.rend()));
  std::vector<double> back(n, -1);
  g.restore(ordered.data(), back.data());
  CHECK(back == label);
}

// Row i reads vertex `column(k)` for its k-th entry.
template <class Column>
sparse::csr<float> graph_of(index_t n, index_t entries_of_a_row, const Column& column) {
  sparse::csr<float> a;
  a.columns = n;
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = 0; k < entries_of_a_row; ++k) a.column.push_back(static_cast<std::int32_t>(column(i, k)));
    std::sort(a.column.end() - entries_of_a_row, a.column.end());
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  a.value.assign(a.column.size(), 1);
  return a;
}

TEST_CASE("the order is chosen by the lines that are read") {
  random r(3108);
  INFO("STARLING_TEST_SEED=" << r.seed);
  constexpr index_t n = 200000;
  // One vertex of 64, all over the numbers, has the edges; and a band.
  const auto hubs = graph_of(n, 8, [&](index_t, index_t) { return 64 * r.below(n / 64); });
  const auto band = graph_of(n, 8, [&](index_t i, index_t k) { return (i + k) % n; });
  const auto chosen = [](const sparse::csr<float>& a, vertex_order wanted) {
    return sparse::ordered_graph<float>(a.view(), wanted, 1).order();
  };
  CHECK(chosen(hubs, vertex_order::automatic) == vertex_order::by_degree);
  CHECK(chosen(hubs, vertex_order::given) == vertex_order::given);
  CHECK(chosen(band, vertex_order::automatic) == vertex_order::given);
  CHECK(chosen(graph_of(2000, 8, [&](index_t, index_t) { return 64 * r.below(30); }), vertex_order::automatic) ==
        vertex_order::given);  // its vector is in the caches whatever the order
  CHECK(chosen(graph_of(10, 0, [](index_t, index_t) { return 0; }), vertex_order::by_degree) == vertex_order::given);
}

TEST_CASE("names of orders") {
  for (const auto o : {vertex_order::automatic, vertex_order::given, vertex_order::by_degree})
    CHECK(sparse::vertex_order_named(sparse::name(o)) == o);
  check_parts(failure_of<argument_error>([] { (void)sparse::vertex_order_named("rcm"); }),
              {"order \"rcm\" is not known", "auto, given, degree"});
}

}  // namespace
}  // namespace starling::test
