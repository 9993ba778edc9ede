// The devices of pages: the paper's figure 7, and that the device of every page owns as much of it as any other, but
// for what sampling may miss.
#include "stf/memory/page_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "starling/base/error.hpp"
#include "support/random.hpp"

namespace starling::test::page_map_tests {
namespace {

using namespace stf;

constexpr std::size_t page = 4096;

template <class Partitioner>
std::vector<int> devices_of_pages(const std::vector<index_t>& extents, std::size_t element, const Partitioner& p,
                                  const exec_place& grid, int n_pes, bool column_major = false) {
  array_layout d;
  d.column_major = column_major;
  d.element_bytes = element;
  d.extents = extents;
  std::size_t bytes = element;
  for (const index_t n : extents) bytes *= static_cast<std::size_t>(n);
  std::vector<int> all;
  std::size_t pieces = 0;
  for (const placed_bytes& piece : map_pages(bytes, d, data_place::composite(p, grid), n_pes, page)) {
    CHECK(piece.bytes % page == 0);
    CHECK((all.empty() || all.back() != piece.pe));
    all.insert(all.end(), piece.bytes / page, piece.pe);
    ++pieces;
  }
  CHECK(all.size() == (bytes + page - 1) / page);
  CHECK(pieces <= all.size());
  return all;
}

TEST_CASE("the paper's figure 7") {
  // Tiles of 32 lines of n integers of 4 bytes; the fourth page.
  const auto two = exec_place::grid({0, 1});
  CHECK(devices_of_pages({128, 128}, 4, tiled<32>(), two, 2)[3] == 0);
  CHECK(devices_of_pages({100, 100}, 4, tiled<32>(), two, 2)[3] == 1);
  // With 128 lines tiles and pages agree: the mapping is exact.
  const auto exact = devices_of_pages({128, 128}, 4, tiled<32>(), two, 2);
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(exact[i] == static_cast<int>(i / 4 % 2));
}

// Owners of elements one by one.
template <int Rank, class Partitioner>
void check_majority(const box<Rank>& shape, std::size_t element, const Partitioner& p, const std::vector<int>& grid) {
  std::vector<index_t> extents;
  for (int d = 0; d < Rank; ++d) extents.push_back(shape.extent(d));
  const int n_pes = 1 + *std::max_element(grid.begin(), grid.end());
  const auto pages = devices_of_pages(extents, element, p, exec_place::grid(grid), n_pes);
  const auto n = static_cast<index_t>(grid.size());
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto first = static_cast<index_t>(i * page / element);
    const index_t last = std::min(shape.size(), static_cast<index_t>((i + 1) * page / element));
    std::vector<double> share(static_cast<std::size_t>(n_pes), 0);
    for (index_t k = first; k < last; ++k)
      share[static_cast<std::size_t>(grid[static_cast<std::size_t>(p.owner(shape.index_to_coords(k), shape, n))])] +=
          1.0 / static_cast<double>(last - first);
    // 30 samples: a share that is smaller by 0.35 and more wins once in 10,000 pages.
    const double most = *std::max_element(share.begin(), share.end());
    CAPTURE(i);
    CHECK(share[static_cast<std::size_t>(pages[i])] >= most - 0.35);
  }
}

template <int Rank>
void check_all(const box<Rank>& shape, std::size_t element) {
  for (const std::vector<int>& grid : {std::vector<int>{0, 1}, {2, 0, 1}, {0}, {1, 3}}) {
    for (int d = 0; d < Rank; ++d) check_majority(shape, element, blocked{d}, grid);
    check_majority(shape, element, cyclic(), grid);
    check_majority(shape, element, tiled<7>(), grid);
    check_majority(shape, element, tiled<32>(), grid);
  }
}

TEST_CASE("every page lies where most of it belongs") {
  check_all(box(100, 100), 4);
  check_all(box(128, 128), 4);
  check_all(box(5000), 8);
  check_all(box(31, 17, 13), 8);
  check_all(box(9, 8, 7, 6), 8);
  check_all(box(3000), 12);   // elements across pages
  check_all(box(4), 10'000);  // larger than pages
  check_all(box(1), 1);
}

// Extents from the slowest on, as the runtime has them; partitioners count the dimensions as the array does.
TEST_CASE("column-major data is partitioned along its slowest dimension, or the one that is named") {
  const auto grid = exec_place::grid({0, 1, 2});
  const auto rows = devices_of_pages({300, 100, 20}, 8, blocked(), grid, 3);
  CHECK(rows.front() == 0);
  CHECK(rows.back() == 2);
  CHECK(devices_of_pages({300, 100, 20}, 8, blocked(), grid, 3, true) == rows);
  CHECK(devices_of_pages({300, 100, 20}, 8, blocked{2}, grid, 3, true) == rows);
  CHECK(devices_of_pages({300, 100, 20}, 8, blocked{0}, grid, 3) == rows);
  CHECK(devices_of_pages({300, 100, 20}, 8, blocked{0}, grid, 3, true) !=
        devices_of_pages({300, 100, 20}, 8, blocked{0}, grid, 3));
  CHECK(devices_of_pages({300, 100, 20}, 8, tiled<32>(), grid, 3, true) ==
        devices_of_pages({300, 100, 20}, 8, tiled<32>(), grid, 3));
}

TEST_CASE("the same arguments give the same pages") {
  const auto grid = exec_place::all_devices();
  CHECK(devices_of_pages({300, 300}, 4, tiled<5>(), grid, 4) == devices_of_pages({300, 300}, 4, tiled<5>(), grid, 4));
}

TEST_CASE("data of five to eight dimensions is partitioned as that of four") {
  const auto grid = exec_place::grid({0, 1, 2});
  const auto four = devices_of_pages({300, 10, 10, 20}, 8, blocked(), grid, 3);
  CHECK(four.back() == 2);
  CHECK(devices_of_pages({300, 10, 10, 5, 4}, 8, blocked(), grid, 3) == four);
  CHECK(devices_of_pages({300, 10, 5, 2, 5, 2, 2, 1}, 8, blocked(), grid, 3) == four);
  CHECK_THROWS_WITH_AS((void)devices_of_pages({3, 1, 1, 1, 1, 1, 1, 1, 1}, 8, blocked(), grid, 3),
                       doctest::Contains("data of 9 dimensions"), argument_error);
}

TEST_CASE("data that cannot be partitioned lies on the first device") {
  const auto pieces = map_pages(3 * page + 1, {}, data_place::composite(blocked(), exec_place::grid({1, 0})), 2, page);
  CHECK(pieces.size() == 1);
  CHECK(pieces[0].pe == 1);
  CHECK(pieces[0].bytes == 4 * page);
}

}  // namespace
}  // namespace starling::test::page_map_tests
