// Products of sparse matrices in every storage, on every number of PEs, against a plain loop; and what a solver says of
// how its matrix lies.
#include <doctest/doctest.h>

#include "cg/matrices.hpp"
#include "support/cg_products.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::matrix_options;
using cg::storage;
using test::check_product;
using test::loose_rows;
using test::rows_of_lengths;

constexpr storage all_storages[] = {storage::automatic, storage::sliced, storage::sliced_3x3, storage::compressed};

template <class T>
void check_storages(const loose_rows& rows, std::initializer_list<int> sizes, const matrix_options& asked = {}) {
  const csr<T> a = test::compressed<T>(rows);
  test::each_machine(sizes, [&](machine& m) {
    for (const storage how : all_storages) {
      if (how == storage::sliced_3x3 && a.rows() % 3 != 0) continue;
      for (const cg::row_split split : {cg::row_split::rows, cg::row_split::nonzeros}) {
        matrix_options o = asked;
        o.how = how;
        o.split = split;
        check_product(a, m, o);
      }
    }
  });
}

void check_all(const loose_rows& rows, std::initializer_list<int> sizes = {1, 2, 3, 4}) {
  check_storages<double>(rows, sizes);
  check_storages<float>(rows, sizes);
}

// Without symmetry; every fifth row is empty.
loose_rows random_rows(index_t n, index_t most, std::uint64_t seed) {
  test::random r(seed);
  std::vector<index_t> lengths;
  for (index_t i = 0; i < n; ++i) lengths.push_back(i % 5 == 3 ? 0 : r.below(std::min(most, n) + 1));
  return rows_of_lengths(lengths, n, seed + 1);
}

TEST_CASE("random symmetric matrices") {
  check_all(test::random_system(300, 4, 1));
  check_all(test::random_system(128, 30, 2), {1, 3});
}

TEST_CASE("random matrices without symmetry, with empty rows") {
  check_all(random_rows(333, 9, 3));
  check_all(random_rows(97, 60, 4), {2, 4});
}

TEST_CASE("numbers of rows around those of a slice") {
  for (const index_t n : {31, 32, 33, 63, 64, 65, 95, 96, 97, 99, 192, 195}) check_all(random_rows(n, 7, 5), {1, 3});
}

TEST_CASE("few rows") {
  for (const index_t n : {1, 2, 3, 4, 5, 6}) check_all(test::random_system(n, 2, 6));
  check_all({{{0, -3.0}}});
}

TEST_CASE("no entries at all") {
  check_all(loose_rows(1), {1, 2});
  check_all(loose_rows(40), {1, 3});
  check_all(loose_rows(300), {1, 3});
}

TEST_CASE("offsets of 16 and of 32 bits") {
  const auto far = [](index_t n, index_t column) {
    loose_rows rows(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)][i] = 2;
    rows[0][column] = 5;
    rows[static_cast<std::size_t>(column)][0] = 5;
    return test::compressed<float>(rows);
  };
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  const auto bits = [&](const csr<float>& a, storage how) {
    check_product(a, *m, {.how = how});
    return cg::solver<float>(*m, a.view(), {.how = how, .products_only = true}).facts().offset_bits;
  };
  CHECK(bits(far(65600, 65535), storage::sliced) == 16);
  CHECK(bits(far(65600, 65536), storage::sliced) == 32);
  CHECK(bits(far(65600, 65536), storage::compressed) == 32);
  CHECK(bits(far(196614, 3 * 65535 + 2), storage::sliced_3x3) == 16);
  CHECK(bits(far(196614, 3 * 65536), storage::sliced_3x3) == 32);
}

TEST_CASE("columns are numbered by PE, so a far corner of the halo is near") {
  const index_t n = 70000;
  loose_rows rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)][i] = 2;
  rows[0][n - 1] = -1;
  rows[static_cast<std::size_t>(n) - 1][0] = -1;
  const csr<double> a = test::compressed<double>(rows);
  test::each_machine({2}, [&](machine& m) {
    check_product(a, m, {.how = storage::sliced});
    const cg::solver<double> s(m, a.view(), {.how = storage::sliced});
    CHECK(s.facts().offset_bits == 16);
    CHECK(s.facts().halo == std::vector<index_t>{1, 1});
  });
}

TEST_CASE("rows partitioned by hand, to some PEs none") {
  const auto rows = random_rows(99, 20, 11);
  const auto partitioned = [&](const std::vector<index_t>& first) {
    check_storages<double>(rows, {static_cast<int>(first.size()) - 1}, {.first_rows = first});
  };
  partitioned({0, 99});
  partitioned({0, 0, 99});
  partitioned({0, 99, 99});
  partitioned({0, 3, 96, 99});
  partitioned({0, 0, 0, 99});
  partitioned({0, 48, 48, 99});
  partitioned({0, 0, 33, 33, 99});
  partitioned({0, 30, 60, 99, 99});
  // Boundaries that blocks of 3 x 3 do not allow.
  test::each_machine({3}, [&](machine& m) {
    const csr<float> a = test::compressed<float>(rows);
    for (const storage how : {storage::automatic, storage::sliced, storage::compressed})
      check_product(a, m, {.first_rows = {0, 1, 50, 99}, .how = how});
  });
}

TEST_CASE("rows partitioned by number, and by entries") {
  loose_rows rows = test::random_system(1000, 2, 12);
  for (index_t i = 0; i < 100; ++i)
    for (index_t j = 0; j < 100; ++j)
      if (i != j) rows[static_cast<std::size_t>(i)][j] = 1;
  const csr<double> a = test::compressed<double>(rows);
  test::each_machine({4}, [&](machine& m) {
    const auto first_rows = [&](cg::row_split split) {
      return cg::solver<double>(m, a.view(), {.split = split, .how = storage::sliced, .products_only = true})
          .facts()
          .first_rows;
    };
    CHECK(first_rows(cg::row_split::rows) == std::vector<index_t>{0, 250, 500, 750, 1000});
    // The first hundred rows have most of the entries.
    const auto by_entries = first_rows(cg::row_split::nonzeros);
    CHECK(by_entries[1] < 100);
    const index_t all = a.row_start.back() + 4 * a.rows();
    for (std::size_t pe = 0; pe < 4; ++pe) {
      const index_t cost = a.row_start[static_cast<std::size_t>(by_entries[pe + 1])] -
                           a.row_start[static_cast<std::size_t>(by_entries[pe])] +
                           4 * (by_entries[pe + 1] - by_entries[pe]);
      CHECK(std::abs(cost - all / 4) < 120);
    }
  });
}

TEST_CASE("the storage follows the matrix") {
  test::each_machine({2}, [](machine& m) {
    const auto chosen = [&](const csr<float>& a) { return cg::solver<float>(m, a.view()).facts().how; };
    CHECK(chosen(cg::grid_3d<float>(12, 12, 12)) == storage::sliced);
    CHECK(chosen(cg::elasticity_3d<float>(16, 12, 12)) == storage::sliced_3x3);
    CHECK(chosen(cg::uneven<float>(3000, 6, 1)) == storage::compressed);
    const csr<float> blocks = cg::elasticity_3d<float>(16, 12, 12);
    // Boundaries between the rows of a block.
    const cg::solver<float> s(m, blocks.view(), {.first_rows = {0, 100, blocks.rows()}});
    CHECK(s.facts().how != storage::sliced_3x3);
  });
}

TEST_CASE("generated matrices") {
  test::each_machine({1, 3, 4}, [](machine& m) {
    for (const storage how : all_storages) {
      check_product(cg::elasticity_3d<float>(5, 4, 4), m, {.how = how});
      if (how == storage::sliced_3x3) continue;
      check_product(cg::grid_2d<double>(31, 29), m, {.how = how});
      check_product(cg::uneven<double>(1500, 5, 3), m, {.how = how});
      check_product(cg::circuit<float>(1200, 3, 4), m, {.how = how});
    }
  });
}

TEST_CASE("products that follow each other, and how long they take") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(20, 20);
  cg::solver<double> s(*m, a.view(), {.products_only = true});
  test::vector x = test::random_vector(400, 1), y(400);
  for (int times = 0; times < 5; ++times) {
    s.multiply(x.data(), y.data());
    const test::vector wanted = test::product(a, x);
    double furthest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) furthest = std::max(furthest, std::abs(y[i] - wanted[i]));
    CHECK(furthest < 1e-12 * std::pow(8, times));
    x = y;
    CHECK(s.time_multiply(3, 2).size() == 2);
  }
}

}  // namespace
}  // namespace starling
