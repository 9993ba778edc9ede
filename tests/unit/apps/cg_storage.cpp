// Products of sparse matrices in every storage, on every number of PEs, against a plain loop; and what a solver says of
// how its matrix lies.
#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <set>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_oracle.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::matrix_facts;
using cg::matrix_options;
using cg::storage;
using test::loose_rows;

constexpr storage all_storages[] = {storage::automatic, storage::sliced, storage::sliced_3x3, storage::compressed};

// Values that each PE needs from others, counted one by one.
template <class T>
std::vector<index_t> halo_of(const csr<T>& a, const matrix_facts& facts) {
  const index_t unit = facts.how == storage::sliced_3x3 ? 3 : 1;
  std::vector<index_t> halo;
  for (std::size_t pe = 0; pe + 1 < facts.first_rows.size(); ++pe) {
    std::set<index_t> columns;
    for (index_t row = facts.first_rows[pe]; row < facts.first_rows[pe + 1]; ++row)
      test::each_entry(a, row, [&](index_t c, double) {
        if (c >= facts.first_rows[pe] && c < facts.first_rows[pe + 1]) return;
        for (index_t i = 0; i < unit; ++i) columns.insert(c / unit * unit + i);
      });
    halo.push_back(static_cast<index_t>(columns.size()));
  }
  return halo;
}

template <class T>
void check_facts(const csr<T>& a, const matrix_facts& facts, const matrix_options& asked, int n_pes) {
  CHECK(facts.rows == a.rows());
  CHECK(facts.nonzeros == a.row_start.back());
  CHECK(facts.how != storage::automatic);
  if (asked.how != storage::automatic) CHECK(facts.how == asked.how);
  REQUIRE(facts.first_rows.size() == static_cast<std::size_t>(n_pes) + 1);
  CHECK(facts.first_rows.front() == 0);
  CHECK(facts.first_rows.back() == a.rows());
  CHECK(std::is_sorted(facts.first_rows.begin(), facts.first_rows.end()));
  if (!asked.first_rows.empty()) CHECK(facts.first_rows == asked.first_rows);
  CHECK(facts.halo == halo_of(a, facts));
  REQUIRE(facts.bytes.size() == static_cast<std::size_t>(n_pes));
  for (std::size_t pe = 0; pe < facts.bytes.size(); ++pe) {
    const index_t entries = a.row_start[static_cast<std::size_t>(facts.first_rows[pe + 1])] -
                            a.row_start[static_cast<std::size_t>(facts.first_rows[pe])];
    CHECK(facts.bytes[pe] >= entries * static_cast<index_t>(sizeof(T)));
  }
  if (facts.how == storage::compressed) CHECK(facts.offset_bits == 32);
  CHECK((facts.offset_bits == 16 || facts.offset_bits == 32));
}

// y = A x twice: the first x leaves NaN everywhere, which must not show in the second y.
template <class T>
void check_product(const csr<T>& a, machine& m, matrix_options o) {
  CAPTURE(std::string(name(o.how)));
  CAPTURE(m.size());
  CAPTURE(sizeof(T));
  CAPTURE(a.rows());
  o.products_only = true;
  cg::solver<T> s(m, a.view(), o);
  check_facts(a, s.facts(), o, m.size());
  const auto n = static_cast<std::size_t>(a.rows());
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> poison(n, nan);
  std::vector<T> y(n, nan);
  s.multiply(poison.data(), y.data());
  const auto x = test::as<T>(test::random_vector(a.rows(), 7));
  std::fill(y.begin(), y.end(), nan);
  s.multiply(x.data(), y.data());
  index_t wrong = 0;
  for (index_t row = 0; row < a.rows(); ++row) {
    double wanted = 0, size = 0, terms = 0;
    test::each_entry(a, row, [&](index_t c, double v) {
      const double term = v * static_cast<double>(x[static_cast<std::size_t>(c)]);
      wanted += term;
      size += std::abs(term);
      ++terms;
    });
    const double got = static_cast<double>(y[static_cast<std::size_t>(row)]);
    const double allowed = static_cast<double>(std::numeric_limits<T>::epsilon()) * (terms + 2) * size;
    if (!(std::abs(got - wanted) <= allowed)) {
      if (wrong == 0) MESSAGE("row " << row << " is " << got << ", not " << wanted);
      ++wrong;
    }
  }
  CHECK(wrong == 0);
}

struct machines {
  template <class F>
  void each(std::initializer_list<int> sizes, const F& f) const {
    for (const int n : sizes)
      if (std::optional<machine> m = test::test_machine(n)) f(*m);
  }
};

template <class T>
void check_storages(const loose_rows& rows, std::initializer_list<int> sizes, const matrix_options& asked = {}) {
  const csr<T> a = test::compressed<T>(rows);
  machines().each(sizes, [&](machine& m) {
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

// `lengths`: entries of each row, random columns of n, from where `first` says on.
loose_rows rows_of_lengths(const std::vector<index_t>& lengths, index_t n, std::uint64_t seed) {
  test::random r(seed);
  loose_rows rows(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    auto& row = rows[i];
    if (lengths[i] == n)
      for (index_t c = 0; c < n; ++c) row[c] = r.real();
    while (static_cast<index_t>(row.size()) < lengths[i]) row[r.below(n)] = r.real();
  }
  return rows;
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

TEST_CASE("rows around the length of a chunk") {
  std::vector<index_t> lengths = {255, 256, 257, 0, 256, 0, 0, 1, 257, 1, 255, 1, 1, 128, 128, 128, 129, 511, 512, 513};
  check_all(rows_of_lengths(lengths, 600, 8), {1, 2, 3});
  // More rows without entries, and with one, than a chunk may have.
  lengths.assign(700, 0);
  lengths[255] = 256;
  lengths[256] = 1;
  for (std::size_t i = 400; i < 700; ++i) lengths[i] = 1;
  check_all(rows_of_lengths(lengths, 900, 9), {1, 3});
}

TEST_CASE("rows that all warps of a block share") {
  const index_t n = 9000;
  std::vector<index_t> lengths(static_cast<std::size_t>(n), 0);
  for (std::size_t i = 0; i < lengths.size(); i += 3) lengths[i] = 2;
  lengths[16] = 8191;
  lengths[17] = 8192;
  lengths[18] = 8193;
  lengths[4000] = n;
  lengths.back() = n;
  const loose_rows rows = rows_of_lengths(lengths, n, 10);
  const csr<double> in_double = test::compressed<double>(rows);
  const csr<float> in_float = test::compressed<float>(rows);
  machines().each({1, 3}, [&](machine& m) {
    check_product(in_double, m, {.how = storage::compressed});
    check_product(in_float, m, {.how = storage::compressed});
    check_product(in_float, m, {.how = storage::automatic});
  });
  machines().each({2}, [&](machine& m) { check_product(in_double, m, {.how = storage::sliced}); });
}

TEST_CASE("a dense row and its column") {
  loose_rows rows(8400);
  for (index_t i = 0; i < 8400; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 4;
    if (i != 5) test::set_pair(rows, 5, i, 1.0 / static_cast<double>(i + 1));
  }
  const csr<double> a = test::compressed<double>(rows);
  machines().each({1, 4}, [&](machine& m) {
    check_product(a, m, {.how = storage::compressed});
    check_product(a, m, {.how = storage::sliced_3x3});
  });
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
  machines().each({2}, [&](machine& m) {
    check_product(a, m, {.how = storage::sliced});
    const cg::solver<double> s(m, a.view(), {.how = storage::sliced});
    CHECK(s.facts().offset_bits == 16);
    CHECK(s.facts().halo == std::vector<index_t>{1, 1});
  });
}

TEST_CASE("rows dealt by hand, to some PEs none") {
  const auto rows = random_rows(99, 20, 11);
  const auto dealt = [&](const std::vector<index_t>& first) {
    check_storages<double>(rows, {static_cast<int>(first.size()) - 1}, {.first_rows = first});
  };
  dealt({0, 99});
  dealt({0, 0, 99});
  dealt({0, 99, 99});
  dealt({0, 3, 96, 99});
  dealt({0, 0, 0, 99});
  dealt({0, 48, 48, 99});
  dealt({0, 0, 33, 33, 99});
  dealt({0, 30, 60, 99, 99});
  // Boundaries that blocks of 3 x 3 do not allow.
  machines().each({3}, [&](machine& m) {
    const csr<float> a = test::compressed<float>(rows);
    for (const storage how : {storage::automatic, storage::sliced, storage::compressed})
      check_product(a, m, {.first_rows = {0, 1, 50, 99}, .how = how});
  });
}

TEST_CASE("rows dealt by number, and by entries") {
  loose_rows rows = test::random_system(1000, 2, 12);
  for (index_t i = 0; i < 100; ++i)
    for (index_t j = 0; j < 100; ++j)
      if (i != j) rows[static_cast<std::size_t>(i)][j] = 1;
  const csr<double> a = test::compressed<double>(rows);
  machines().each({4}, [&](machine& m) {
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
  machines().each({2}, [](machine& m) {
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
  machines().each({1, 3, 4}, [](machine& m) {
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
