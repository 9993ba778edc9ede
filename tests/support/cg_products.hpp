// Products of sparse matrices in tests: against a plain loop, with what the solver says of the matrix.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>

#include "cg/solver.hpp"
#include "support/cg_oracle.hpp"
#include "support/test_machine.hpp"

namespace starling::test {

// Values that each PE needs from others, counted one by one.
template <class T>
std::vector<index_t> halo_of(const cg::csr<T>& a, const cg::matrix_facts& facts) {
  const index_t unit = facts.how == cg::storage::sliced_3x3 ? 3 : 1;
  std::vector<index_t> halo;
  for (std::size_t pe = 0; pe + 1 < facts.first_rows.size(); ++pe) {
    std::set<index_t> columns;
    for (index_t row = facts.first_rows[pe]; row < facts.first_rows[pe + 1]; ++row)
      each_entry(a, row, [&](index_t c, double) {
        if (c >= facts.first_rows[pe] && c < facts.first_rows[pe + 1]) return;
        for (index_t i = 0; i < unit; ++i) columns.insert(c / unit * unit + i);
      });
    halo.push_back(static_cast<index_t>(columns.size()));
  }
  return halo;
}

template <class T>
void check_facts(const cg::csr<T>& a, const cg::matrix_facts& facts, const cg::matrix_options& asked, int n_pes) {
  CHECK(facts.rows == a.rows());
  CHECK(facts.nonzeros == a.row_start.back());
  CHECK(facts.how != cg::storage::automatic);
  if (asked.how != cg::storage::automatic) CHECK(facts.how == asked.how);
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
  if (facts.how == cg::storage::compressed) CHECK(facts.offset_bits == 32);
  CHECK((facts.offset_bits == 16 || facts.offset_bits == 32));
}

// y = A x twice: the first x leaves NaN everywhere, which must not show in the second y.
template <class T>
void check_product(const cg::csr<T>& a, machine& m, cg::matrix_options o) {
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
  const auto x = as<T>(random_vector(a.rows(), 7));
  std::fill(y.begin(), y.end(), nan);
  s.multiply(x.data(), y.data());
  index_t wrong = 0;
  for (index_t row = 0; row < a.rows(); ++row) {
    double wanted = 0, size = 0, terms = 0;
    each_entry(a, row, [&](index_t c, double v) {
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

// f(machine) for the sizes that there are.
template <class F>
void each_machine(std::initializer_list<int> sizes, const F& f) {
  for (const int n : sizes)
    if (std::optional<machine> m = test_machine(n)) f(*m);
}

// n rows: the first ones have `lengths` entries in random columns, the others none.
inline loose_rows rows_of_lengths(const std::vector<index_t>& lengths, index_t n, std::uint64_t seed) {
  random r(seed);
  loose_rows rows(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    auto& row = rows[i];
    if (lengths[i] == n)
      for (index_t c = 0; c < n; ++c) row[c] = r.real();
    while (static_cast<index_t>(row.size()) < lengths[i]) row[r.below(n)] = r.real();
  }
  return rows;
}

}  // namespace starling::test
