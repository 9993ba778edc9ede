// The generated matrices are what they promise: sorted, symmetric, positive definite, the same for any number of
// threads.
#include "cg/matrices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cg/generators/make_rows.hpp"
#include "support/failure.hpp"

namespace starling {
namespace {

using cg::csr;

template <class T>
T value_at(const csr<T>& a, index_t row, index_t column) {
  const auto begin = a.column.begin() + a.row_start[static_cast<std::size_t>(row)];
  const auto end = a.column.begin() + a.row_start[static_cast<std::size_t>(row) + 1];
  const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(column));
  return found != end && *found == column ? a.value[static_cast<std::size_t>(found - a.column.begin())] : T(0);
}

template <class T>
index_t entries(const csr<T>& a, index_t row) {
  return a.row_start[static_cast<std::size_t>(row) + 1] - a.row_start[static_cast<std::size_t>(row)];
}

template <class T, class F>
void for_entries(const csr<T>& a, const F& f) {
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t k = a.row_start[static_cast<std::size_t>(i)]; k < a.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      f(i, index_t{a.column[static_cast<std::size_t>(k)]}, a.value[static_cast<std::size_t>(k)]);
}

// By a dense Cholesky decomposition in double precision.
template <class T>
bool positive_definite(const csr<T>& a) {
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<double> l(n * n, 0);
  for_entries(a,
              [&](index_t i, index_t j, T v) { l[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)] = v; });
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) l[i * n + j] -= l[i * n + k] * l[j * n + k];
    if (!(l[j * n + j] > 0)) return false;
    const double root = std::sqrt(l[j * n + j]);
    for (std::size_t i = j; i < n; ++i) l[i * n + j] /= root;
  }
  return true;
}

template <class T>
void check_form(const csr<T>& a) {
  REQUIRE(a.columns == a.rows());
  REQUIRE(a.row_start.front() == 0);
  REQUIRE(a.row_start.back() == static_cast<index_t>(a.column.size()));
  REQUIRE(a.column.size() == a.value.size());
  index_t wrong = 0;
  index_t last_row = -1;
  index_t last_column = -1;
  for_entries(a, [&](index_t i, index_t j, T v) {
    if (j < 0 || j >= a.columns || (i == last_row && j <= last_column)) ++wrong;
    if (value_at(a, j, i) != v || (i == j && !(v > 0)) || !std::isfinite(v)) ++wrong;
    last_row = i;
    last_column = j;
  });
  CHECK(wrong == 0);
}

template <class T>
index_t zeros(const csr<T>& a) {
  return std::count(a.value.begin(), a.value.end(), T(0));
}

template <class T>
void check_same(const csr<T>& a, const csr<T>& b) {
  CHECK(a.row_start == b.row_start);
  CHECK(a.column == b.column);
  CHECK(a.value == b.value);
}

template <class F>
void check_threads(const F& make) {
  const auto many = [&] {
    const cg::generator_threads limit(5);
    return make();
  }();
  const cg::generator_threads limit(1);
  check_same(make(), many);
}

TEST_CASE_TEMPLATE("a grid of five points", T, float, double) {
  const csr<T> a = cg::grid_2d<T>(7, 9);
  check_form(a);
  CHECK(zeros(a) == 0);
  CHECK(a.rows() == 63);
  CHECK(entries(a, 0) == 3);
  CHECK(entries(a, 1) == 4);
  CHECK(entries(a, 7 + 1) == 5);
  CHECK(value_at(a, 8, 8) == 4);
  CHECK(value_at(a, 8, 1) == -1);
  CHECK(value_at(a, 6, 7) == 0);  // not around the edge
  CHECK(positive_definite(a));
  CHECK(cg::grid_2d<T>(1, 1).value == std::vector<T>{4});
}

TEST_CASE_TEMPLATE("a grid of 27 points", T, float, double) {
  const csr<T> a = cg::grid_3d<T>(4, 5, 6);
  check_form(a);
  CHECK(zeros(a) == 0);
  CHECK(a.rows() == 120);
  CHECK(entries(a, 0) == 8);
  CHECK(entries(a, (2 * 5 + 2) * 4 + 2) == 27);
  CHECK(value_at(a, 0, (1 * 5 + 1) * 4 + 1) == -1);
  CHECK(value_at(a, 0, 0) == 26);
  CHECK(positive_definite(a));
}

TEST_CASE_TEMPLATE("an elastic brick", T, float, double) {
  const csr<T> a = cg::elasticity_3d<T>(4, 3, 5);
  check_form(a);
  CHECK(a.rows() == 180);
  CHECK(entries(a, 0) == 24);
  CHECK(entries(a, 3 * ((2 * 3 + 1) * 4 + 1)) == 81);
  CHECK(positive_definite(a));
  CHECK(positive_definite(cg::elasticity_3d<T>(2, 2, 2)));
}

// Away from the springs, a brick that is moved or turned a little resists with no force.
TEST_CASE("an elastic brick may move and turn") {
  const index_t n[3] = {4, 3, 3};
  const csr<double> a = cg::elasticity_3d<double>(n[0], n[1], n[2]);
  const auto position = [&](index_t node, int axis) {
    return static_cast<double>(axis == 0 ? node % n[0] : axis == 1 ? node / n[0] % n[1] : node / n[0] / n[1]);
  };
  for (int motion = 0; motion < 6; ++motion) {
    std::vector<double> u(static_cast<std::size_t>(a.rows()));
    for (index_t row = 0; row < a.rows(); ++row) {
      const int axis = static_cast<int>(row % 3);
      const int turned = motion % 3;
      double v = axis == motion ? 1 : 0;
      if (motion >= 3 && axis == (turned + 1) % 3) v = -position(row / 3, (turned + 2) % 3);
      if (motion >= 3 && axis == (turned + 2) % 3) v = position(row / 3, (turned + 1) % 3);
      u[static_cast<std::size_t>(row)] = v;
    }
    std::vector<double> force(u.size(), 0);
    for_entries(a, [&](index_t i, index_t j, double v) {
      force[static_cast<std::size_t>(i)] += v * u[static_cast<std::size_t>(j)];
    });
    double largest = 0;
    for (index_t row = 0; row < a.rows(); ++row)
      if (row / 3 % n[0] > 0) largest = std::max(largest, std::abs(force[static_cast<std::size_t>(row)]));
    CHECK(largest < 1e-12);
  }
}

// A bar that is stretched by one unit of strain, free to become thinner, resists with Young's modulus times its area.
TEST_CASE("an elastic brick is as stiff as its material") {
  const csr<double> a = cg::elasticity_3d<double>(3, 3, 3);
  double pull = 0;
  for_entries(a, [&](index_t i, index_t j, double v) {
    const index_t at = j / 3;
    const double place[3] = {static_cast<double>(at % 3), static_cast<double>(at / 3 % 3), static_cast<double>(at / 9)};
    const double moved = j % 3 == 0 ? place[0] : -0.3 * place[j % 3];
    if (i / 3 % 3 == 2 && i % 3 == 0) pull += v * moved;
  });
  CHECK(pull == doctest::Approx(1.0 * 2 * 2));
}

TEST_CASE_TEMPLATE("a circuit", T, float, double) {
  const csr<T> a = cg::circuit<T>(400, 3, 7);
  check_form(a);
  CHECK(zeros(a) == 0);
  CHECK(a.rows() == 403);
  for (index_t i = 0; i < 400; ++i) {
    CHECK(entries(a, i) >= 3);
    CHECK(entries(a, i) <= 8);
  }
  for (index_t i = 400; i < 403; ++i) CHECK(entries(a, i) >= 8);
  CHECK(positive_definite(a));
  CHECK(positive_definite(cg::circuit<T>(50, 0, 1)));
  for (const index_t n : {1, 2, 3, 4, 5, 9, 17}) {
    check_form(cg::circuit<T>(n, n, 3));
    CHECK(positive_definite(cg::circuit<T>(n, n, 3)));
  }
}

TEST_CASE("the conductances of a circuit span four decades") {
  const csr<double> a = cg::circuit<double>(5000, 0, 1);
  double least = 1e9;
  double most = 0;
  for_entries(a, [&](index_t i, index_t j, double v) {
    if (i == j) return;
    least = std::min(least, -v);
    most = std::max(most, -v);
  });
  CHECK(least >= 0.01);
  CHECK(least < 0.02);
  CHECK(most > 90);
  CHECK(most <= 100);
}

TEST_CASE_TEMPLATE("an uneven graph", T, float, double) {
  const csr<T> a = cg::uneven<T>(300, 6, 5);
  check_form(a);
  CHECK(zeros(a) == 0);
  CHECK(positive_definite(a));
  for (const index_t n : {1, 2, 3, 10}) check_form(cg::uneven<T>(n, 1, 3));
  for (index_t i = 0; i < a.rows(); ++i) CHECK(value_at(a, i, i) == static_cast<T>(entries(a, i)));
}

TEST_CASE("an uneven graph has a few long rows") {
  const csr<double> a = cg::uneven<double>(100000, 8, 1);
  check_form(a);
  std::vector<index_t> lengths;
  for (index_t i = 0; i < a.rows(); ++i) lengths.push_back(entries(a, i));
  std::sort(lengths.begin(), lengths.end());
  CHECK(lengths[50000] <= 8);
  CHECK(lengths.back() > 2000);
  const double mean = static_cast<double>(a.row_start.back()) / static_cast<double>(a.rows());
  CHECK(mean > 8);
  CHECK(mean < 9.5);
}

TEST_CASE("the same matrix from any number of threads") {
  check_threads([] { return cg::grid_2d<float>(150, 130); });
  check_threads([] { return cg::grid_3d<double>(30, 31, 29); });
  check_threads([] { return cg::elasticity_3d<double>(15, 14, 16); });
  check_threads([] { return cg::circuit<double>(20000, 5, 9); });
  check_threads([] { return cg::uneven<double>(20000, 7, 9); });
}

TEST_CASE("another seed gives another matrix") {
  CHECK(cg::circuit<double>(100, 2, 1).value != cg::circuit<double>(100, 2, 2).value);
  CHECK(cg::uneven<double>(100, 6, 1).column != cg::uneven<double>(100, 6, 2).column);
}

TEST_CASE("sizes that make no matrix") {
  const auto refused = [](const auto& make, std::initializer_list<std::string> parts) {
    test::check_parts(test::failure_of<argument_error>(make), parts);
  };
  refused([] { cg::grid_2d<float>(0, 5); }, {"grid_2d", "nx = 0", "at least 1"});
  refused([] { cg::grid_2d<double>(3, -1); }, {"ny = -1", "at least 1"});
  refused([] { cg::grid_2d<double>(1 << 16, 1 << 16); }, {"32 bits", "smaller"});
  refused([] { cg::grid_2d<double>((1 << 15) + 1, 1 << 15); }, {"more than 1073741824 rows"});
  refused([] { cg::grid_3d<float>(1, 1, 0); }, {"grid_3d", "nz = 0"});
  refused([] { cg::grid_3d<float>(index_t{1} << 40, 1, 1); }, {"32 bits"});
  refused([] { cg::elasticity_3d<double>(2, 1, 2); }, {"elasticity_3d", "ny = 1", "at least 2"});
  refused([] { cg::elasticity_3d<double>(1000, 1000, 1000); }, {"32 bits"});
  refused([] { cg::circuit<double>(0, 0, 1); }, {"circuit", "n = 0"});
  refused([] { cg::circuit<double>(10, 11, 1); }, {"10 nodes and 11 nets", "from 0 to 10"});
  refused([] { cg::circuit<double>(10, -1, 1); }, {"-1 nets"});
  refused([] { cg::uneven<double>(-4, 1, 1); }, {"uneven", "n = -4"});
  refused([] { cg::uneven<double>(10, 0, 1); }, {"mean degree 0"});
  refused([] { cg::uneven<double>(10, 10, 1); }, {"mean degree 10", "one less than the 10 nodes"});
}

}  // namespace
}  // namespace starling
