// Products by tiles with vectors that every PE has whole: sums of products and least sums, with values and without,
// in every storage, against plain loops. Numbers are small and whole, so that sums are exact in any order.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "sparse/matrix.hpp"
#include "sparse/matrix_checks.hpp"
#include "sparse/tile_product.hpp"
#include "support/cg_products.hpp"
#include "support/failure.hpp"

namespace starling {
namespace {

using sparse::csr;
using sparse::entry_values;
using sparse::min_plus;
using sparse::plus_times;
using sparse::storage;

constexpr int threads = 128;

template <class C, entry_values Values, class T>
struct all_tiles {
  static constexpr int max_threads = threads;
  sparse::matrix_data<T> a;
  index_t tiles;
  sym<T> x, out;

  STARLING_HD void operator()(block& b) const {
    const sparse::tile_product<T> product(b, a);
    for (index_t t = b.index(); t < tiles; t += b.count())
      product.template multiply<C, Values>(t, x.on(b.pe()), out.on(b.pe()));
  }
};

// n rows of whole numbers from 1 to 9; some rows without entries, some longer than a row block.
template <class T>
csr<T> whole_numbers(index_t n, index_t every, std::uint64_t seed) {
  test::random r(seed);
  std::vector<index_t> lengths;
  for (index_t i = 0; i < n; ++i) {
    index_t length = r.below(4) == 0 ? 0 : r.below(24);
    if (r.below(every) == 0) length = 200 + r.below(400);
    lengths.push_back(std::min(length, n));
  }
  auto rows = test::rows_of_lengths(lengths, n, seed + 1);
  for (auto& row : rows)
    for (auto& [column, value] : row) value = static_cast<double>(1 + r.below(9));
  return test::compressed<T>(rows);
}

template <class C, class T>
std::vector<T> plain_product(const sparse::csr_view<T>& a, const std::vector<T>& x) {
  std::vector<T> y;
  for (index_t row = 0; row < a.rows; ++row) {
    T all = C::template none<T>();
    for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e)
      all = C::join(all, C::entry(a.value != nullptr ? a.value[e] : T{1}, x[static_cast<std::size_t>(a.column[e])]));
    y.push_back(all);
  }
  return y;
}

template <class C, entry_values Values, class T>
void check(machine& m, const sparse::csr_view<T>& a, storage how, index_t tiles, int blocks) {
  CAPTURE(m.size());
  CAPTURE(std::string(name(how)));
  CAPTURE(tiles);
  CAPTURE(a.rows);
  sparse::matrix<T> stored(m, a, {.how = how, .unit = 4, .values = Values, .whole_vectors = true},
                           C::template none<T>());
  const sparse::block_partition<T>& rows = stored.partitioned(static_cast<int>(tiles), 4);
  test::random r(static_cast<std::uint64_t>(a.rows + tiles));
  std::vector<T> x;
  for (index_t i = 0; i < a.rows; ++i)
    x.push_back(r.below(7) == 0 ? C::template none<T>() : static_cast<T>(r.below(100)));
  auto vector = m.allocate<T>(a.rows);
  auto out = m.allocate<T>(stored.most_rows());
  const std::vector<T> poison(static_cast<std::size_t>(stored.most_rows()), std::numeric_limits<T>::quiet_NaN());
  for (int pe = 0; pe < m.size(); ++pe) {
    m.copy(vector.on(pe), x.data(), x.size() * sizeof(T));
    m.copy(out.on(pe), poison.data(), poison.size() * sizeof(T));
    stream s = m.new_stream(pe);
    const std::size_t scratch = sparse::tile_product<T>::scratch_bytes(threads / 32, true);
    s.launch(blocks, all_tiles<C, Values, T>{rows.data, tiles, vector.data(), out.data()},
             {.threads = threads, .scratch_bytes = scratch});
    s.synchronize();
  }
  std::vector<T> got(static_cast<std::size_t>(a.rows));
  index_t row = 0;
  for (int pe = 0; pe < m.size(); ++pe) {
    const sparse::rows_of_pe& own = stored.rows(pe);
    REQUIRE(own.first == row);
    row += own.rows;
    if (own.rows > 0) m.copy(got.data() + own.first, out.on(pe), static_cast<std::size_t>(own.rows) * sizeof(T));
    REQUIRE(rows.plans_of_pe[static_cast<std::size_t>(pe)].size() == static_cast<std::size_t>(tiles));
    index_t covered = 0;
    for (const sparse::block_plan& plan : rows.plans_of_pe[static_cast<std::size_t>(pe)]) {
      CHECK(plan.first_row == covered);
      CHECK(plan.peers + plan.unpacking + plan.receive_slots == 0);
      covered += plan.rows;
      if (covered < own.rows) CHECK(covered % 4 == 0);
    }
    CHECK(covered == own.rows);
  }
  CHECK(row == a.rows);
  CHECK(got == plain_product<C>(a, x));
}

template <class T>
void check_all(machine& m, const csr<T>& a) {
  const sparse::csr_view<T> with_values = a.view();
  sparse::csr_view<T> ones = with_values;
  ones.value = nullptr;
  for (const index_t tiles : {1, 2, 7, 50}) {
    for (const storage how : {storage::automatic, storage::sliced, storage::compressed}) {
      check<plus_times, entry_values::stored, T>(m, with_values, how, tiles, 3);
      check<min_plus, entry_values::stored, T>(m, with_values, how, tiles, 3);
    }
    check<plus_times, entry_values::ones, T>(m, ones, storage::automatic, tiles, 2);
    check<min_plus, entry_values::ones, T>(m, ones, storage::compressed, tiles, 2);
  }
  if (a.rows() % 3 != 0) return;
  check<plus_times, entry_values::stored, T>(m, with_values, storage::sliced_3x3, 3, 2);
  check<min_plus, entry_values::stored, T>(m, with_values, storage::sliced_3x3, 3, 2);
}

TEST_CASE("tiles of random rows, with and without values") {
  test::each_machine({1, 2, 3, 4}, [](machine& m) {
    for (std::uint64_t seed = 60; seed < 63; ++seed) {
      INFO("seed " << test::seed_or(seed));
      const auto n = static_cast<index_t>(301 + 149 * (seed - 60));
      check_all(m, whole_numbers<float>(n, 20, test::seed_or(seed)));
      check_all(m, whole_numbers<double>(n + 1, 60, test::seed_or(seed)));
    }
  });
}

TEST_CASE("tiles of small matrices") {
  test::each_machine({1, 3}, [](machine& m) {
    for (const index_t n : {1, 2, 3, 31, 33}) check_all(m, whole_numbers<float>(n, 1000, 70));
    csr<double> empty;
    empty.columns = 12;
    empty.row_start.assign(13, 0);
    check_all(m, empty);
  });
}

TEST_CASE("what a matrix without values cannot be") {
  auto m = test::test_machine(1);
  if (!m) return;
  const csr<double> a = whole_numbers<double>(39, 1000, 71);
  sparse::csr_view<double> ones = a.view();
  ones.value = nullptr;
  sparse::check_arrays(ones);
  const auto refused = [&](const sparse::csr_view<double>& view, const sparse::row_options& o,
                           std::initializer_list<std::string> parts) {
    test::check_parts(test::failure_of<argument_error>([&] { (void)sparse::matrix<double>(*m, view, o); }), parts);
  };
  for (const storage how : {storage::sliced, storage::sliced_3x3})
    refused(ones, {.how = how, .values = entry_values::ones}, {"without values", "must be compressed"});
  refused(ones, {}, {"null pointer"});
  refused(a.view(), {.unit = 0}, {"units of 0"});
  std::vector<std::int32_t> columns = a.column;
  columns.back() = 39;
  ones.column = columns.data();
  test::check_parts(test::failure_of<argument_error>([&] { sparse::check_arrays(ones); }), {"the column 39"});
}

}  // namespace
}  // namespace starling
