// Compressed rows: how they are cut into row blocks, rows longer than a row block into pieces; who has the pieces;
// products and solves with such rows, wherever they lie.
#include <doctest/doctest.h>

#include "cg/matrices.hpp"
#include "sparse/compressed.hpp"
#include "sparse/matrix.hpp"
#include "support/cg_products.hpp"
#include "support/cg_solves.hpp"

namespace starling {
namespace {

using sparse::csr;
using sparse::row_block;
using sparse::storage;
using test::check_product;
using test::each_machine;
using test::loose_rows;
using test::rows_of_lengths;

// Short rows, rows without entries, and about every `every`th longer than a row block, often by an entry or less one.
loose_rows rows_with_long_ones(index_t n, index_t every, std::uint64_t seed) {
  test::random r(seed);
  std::vector<index_t> lengths;
  for (index_t i = 0; i < n; ++i) {
    index_t length = r.below(3) == 0 ? 0 : r.below(20);
    if (r.below(every) == 0) length = (1 + r.below(3)) * row_block::most_entries - 1 + r.below(3);
    if (r.below(8 * every) == 0) length = n;
    lengths.push_back(std::min(length, n));
  }
  return rows_of_lengths(lengths, n, seed + 1);
}

// The row blocks of each PE follow one another through all of its rows and entries.
void check_chunks(const csr<double>& a, const std::vector<index_t>& first_rows) {
  const sparse::halo h(a.view(), first_rows, 1);
  for (int pe = 0; pe < h.n_pes(); ++pe) {
    const sparse::rows_of_pe& own = h.rows(pe);
    const sparse::compressed_rows<double> made = sparse::compress_rows(a.view(), h, pe, 2);
    const index_t* starts = a.row_start.data() + own.first;
    const auto length = [&](index_t row) { return starts[row + 1] - starts[row]; };
    REQUIRE(made.row_in_block.size() == static_cast<std::size_t>(own.rows) + 1);
    index_t row = 0, entry = 0;
    std::size_t cut = 0;
    std::int32_t piece = 0;
    for (const row_block& c : made.row_blocks) {
      REQUIRE(c.start == entry);
      CHECK(c.entries <= row_block::most_entries);
      bool reads_halo = false;
      for (index_t e = c.start; e < c.start + c.entries; ++e)
        reads_halo = reads_halo || !own.owns(made.column[static_cast<std::size_t>(e)]);
      CHECK(c.reads_halo() == reads_halo);
      entry += c.entries;
      if (c.rows() > 0) {
        CHECK(c.rows() <= row_block::most_rows);
        REQUIRE(c.first_row == row);
        for (; row < c.first_row + c.rows(); ++row)
          CHECK(c.start + made.row_in_block[static_cast<std::size_t>(row)] == starts[row] - starts[0]);
        REQUIRE(entry == starts[row] - starts[0]);
        continue;
      }
      REQUIRE(cut < made.long_rows.size());
      const sparse::long_row& in_pieces = made.long_rows[cut];
      CHECK(in_pieces.row == row);
      CHECK(length(row) > row_block::most_entries);
      CHECK(c.first_row == piece);
      const index_t least = length(row) / in_pieces.pieces;
      CHECK((c.entries == least || c.entries == least + 1));
      if (++piece < in_pieces.first_piece + in_pieces.pieces) continue;
      ++row;
      ++cut;
      CHECK(entry == starts[row] - starts[0]);
    }
    CHECK(row == own.rows);
    CHECK(entry == starts[own.rows] - starts[0]);
    CHECK(cut == made.long_rows.size());
    CHECK(piece == made.pieces);
  }
}

TEST_CASE("row blocks have every row and entry once, in order") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const index_t n = 300 + 130 * static_cast<index_t>(seed);
    const auto rows = rows_with_long_ones(n, 3 + 5 * static_cast<index_t>(seed), test::seed_or(seed));
    INFO("seed " << test::seed_or(seed));
    const csr<double> a = test::compressed<double>(rows);
    check_chunks(a, {0, n});
    check_chunks(a, {0, n / 3, n / 3, n / 2 + 1, n});
  }
  check_chunks(test::compressed<double>(loose_rows(700)), {0, 700});
}

// All pieces of a row belong to the block that has the row, however many blocks there are.
void check_partition(sparse::matrix<double>& a, machine& m, int blocks, index_t unit) {
  CAPTURE(blocks);
  CAPTURE(unit);
  const sparse::block_partition<double>& d = a.partitioned(blocks, unit);
  for (int pe = 0; pe < m.size(); ++pe) {
    std::vector<sparse::block_plan> plans(static_cast<std::size_t>(blocks));
    m.copy(plans.data(), d.data.plans.on(pe), plans.size() * sizeof(sparse::block_plan));
    index_t row = 0, part = 0, long_rows = 0, piece = 0;
    for (const sparse::block_plan& plan : plans) {
      CHECK(plan.first_row == row);
      CHECK(plan.first_part == part);
      CHECK(plan.first_long_row == long_rows);
      std::vector<row_block> row_blocks(static_cast<std::size_t>(plan.parts));
      if (plan.parts > 0)
        m.copy(row_blocks.data(), d.data.row_blocks.on(pe) + part, row_blocks.size() * sizeof(row_block));
      std::vector<sparse::long_row> cut(static_cast<std::size_t>(plan.long_rows));
      if (plan.long_rows > 0)
        m.copy(cut.data(), d.data.long_rows.on(pe) + long_rows, cut.size() * sizeof(sparse::long_row));
      index_t rows_in_chunks = static_cast<index_t>(cut.size());
      index_t pieces_in_chunks = 0, pieces_of_rows = 0;
      for (const row_block& c : row_blocks) {
        rows_in_chunks += c.rows();
        if (c.rows() == 0) CHECK(c.first_row == piece + pieces_in_chunks++);
      }
      for (const sparse::long_row& one : cut) {
        CHECK(one.row >= row);
        CHECK(one.row < row + plan.rows);
        CHECK(one.first_piece == piece + pieces_of_rows);
        pieces_of_rows += one.pieces;
      }
      CHECK(rows_in_chunks == plan.rows);
      CHECK(pieces_in_chunks == pieces_of_rows);
      row += plan.rows;
      part += plan.parts;
      long_rows += plan.long_rows;
      piece += pieces_of_rows;
      if (row < a.rows(pe).rows) CHECK(row % unit == 0);
    }
    CHECK(row == a.rows(pe).rows);
  }
}

TEST_CASE("a block has all pieces of its rows") {
  each_machine({1, 3}, [](machine& m) {
    for (std::uint64_t seed = 20; seed < 24; ++seed) {
      INFO("seed " << test::seed_or(seed));
      const auto a = test::compressed<double>(rows_with_long_ones(900, 12, test::seed_or(seed)));
      sparse::matrix<double> stored(m, a.view(), {.how = storage::compressed, .unit = 3});
      for (const int blocks : {1, 2, 3, 5, 8, 17, 40})
        for (const index_t unit : {1, 3}) check_partition(stored, m, blocks, unit);
    }
  });
}

// In compressed rows, with the same bits again, from this solver and from another.
template <class T>
void check_compressed(const loose_rows& rows, machine& m, const std::vector<index_t>& first_rows = {}) {
  const csr<T> a = test::compressed<T>(rows);
  const cg::matrix_options o{.first_rows = first_rows, .how = storage::compressed, .products_only = true};
  check_product(a, m, o);
  const auto x = test::as<T>(test::random_vector(a.rows(), 5));
  cg::solver<T> s(m, a.view(), o), other(m, a.view(), o);
  std::vector<T> first(x.size(), T{-1}), again(x.size(), T{-2}), elsewhere(x.size(), T{-3});
  s.multiply(x.data(), first.data());
  s.multiply(x.data(), again.data());
  other.multiply(x.data(), elsewhere.data());
  CHECK(first == again);
  CHECK(first == elsewhere);
}

TEST_CASE("rows around the length of a row block") {
  std::vector<index_t> lengths = {255, 256, 257, 0, 256, 0, 0, 1, 257, 1, 255, 1, 1, 128, 128, 128, 129, 511, 512, 513};
  const auto around = rows_of_lengths(lengths, 600, 8);
  // More rows without entries, and with one, than a row block may have.
  lengths.assign(700, 0);
  lengths[255] = 256;
  lengths[256] = 1;
  for (std::size_t i = 400; i < 700; ++i) lengths[i] = 1;
  const auto short_ones = rows_of_lengths(lengths, 900, 9);
  each_machine({1, 2, 3}, [&](machine& m) {
    check_compressed<double>(around, m);
    check_compressed<float>(around, m);
    check_compressed<double>(short_ones, m);
    for (const storage how : {storage::automatic, storage::sliced, storage::sliced_3x3})
      check_product(test::compressed<double>(around), m, {.how = how});
  });
}

TEST_CASE("rows of many pieces") {
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
  each_machine({1, 3}, [&](machine& m) {
    check_product(in_double, m, {.how = storage::compressed});
    check_product(in_float, m, {.how = storage::compressed});
    check_product(in_float, m, {.how = storage::automatic});
  });
  each_machine({2}, [&](machine& m) { check_product(in_double, m, {.how = storage::sliced}); });
}

TEST_CASE("a dense row and its column") {
  loose_rows rows(8400);
  for (index_t i = 0; i < 8400; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 4;
    if (i != 5) test::set_pair(rows, 5, i, 1.0 / static_cast<double>(i + 1));
  }
  const csr<double> a = test::compressed<double>(rows);
  each_machine({1, 4}, [&](machine& m) {
    check_product(a, m, {.how = storage::compressed});
    check_product(a, m, {.how = storage::sliced_3x3});
  });
}

TEST_CASE("random rows, some in pieces, some empty") {
  each_machine({1, 2, 4}, [](machine& m) {
    for (std::uint64_t seed = 40; seed < 46; ++seed) {
      INFO("seed " << test::seed_or(seed));
      const auto rows = rows_with_long_ones(500 + 37 * static_cast<index_t>(seed - 40), 25, test::seed_or(seed));
      check_compressed<double>(rows, m);
      check_compressed<float>(rows, m);
    }
  });
}

TEST_CASE("rows in pieces alone, and one after another") {
  std::vector<index_t> lengths(40, 0);
  for (std::size_t i = 8; i < 16; ++i) lengths[i] = 257 + 100 * static_cast<index_t>(i);
  const auto in_a_row = rows_of_lengths(lengths, 2000, 50);
  loose_rows all(300);
  for (auto& row : all)
    for (index_t c = 0; c < 300; ++c) row[c] = 1.0 / static_cast<double>(1 + (7 * c) % 31);
  each_machine({1, 2, 3}, [&](machine& m) {
    check_compressed<double>(in_a_row, m);
    check_compressed<double>(all, m);
    check_compressed<float>(all, m);
  });
}

TEST_CASE("a row in pieces that is all of a PE") {
  std::vector<index_t> lengths(600, 3);
  lengths[400] = 600;
  lengths[401] = 257;
  const auto rows = rows_of_lengths(lengths, 600, 51);
  each_machine({3}, [&](machine& m) {
    check_compressed<double>(rows, m, {0, 400, 401, 600});
    check_compressed<double>(rows, m, {0, 400, 402, 600});
  });
  each_machine({4}, [&](machine& m) { check_compressed<float>(rows, m, {0, 400, 401, 402, 600}); });
}

TEST_CASE("solves with rows in pieces") {
  const index_t n = 1200;
  loose_rows rows = test::random_system(n, 2, 52);
  for (const index_t hub : {0, 1, 700, 701, 1199})
    for (index_t i = hub % 2; i < n; i += 2)
      if (i != hub) test::set_pair(rows, hub, i, 0.01 * static_cast<double>(1 + i % 3));
  for (index_t i = 0; i < n; ++i) {
    double sum = 0.5;
    for (const auto& [column, value] : rows[static_cast<std::size_t>(i)])
      if (column != i) sum += std::abs(value);
    rows[static_cast<std::size_t>(i)][i] = sum;
  }
  const csr<double> a = test::compressed<double>(rows);
  const test::vector b = test::random_vector(n, 53);
  each_machine({1, 3}, [&](machine& m) {
    cg::solver<double> s(m, a.view(), {.how = storage::compressed});
    for (const cg::method how : test::methods)
      for (const int blocks : {1, 4})
        for (const cg::preconditioner p : {cg::preconditioner::none, cg::preconditioner::chebyshev}) {
          cg::solve_options o{.how = how, .m = p, .rtol = 1e-9, .blocks = blocks};
          const auto got = test::solved(s, b, o);
          test::check_converged(a, b, got);
          CHECK(test::solved(s, b, o).same_as(got));
          o.who = cg::control::streams;
          CHECK(test::solved(s, b, o).same_as(got));
        }
  });
}

}  // namespace
}  // namespace starling
