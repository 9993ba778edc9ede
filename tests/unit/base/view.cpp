// Views: row-major order, extents, strides.
#include "starling/base/view.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <type_traits>
#include <vector>

namespace starling::test::view_tests {
namespace {

std::vector<int> counted(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

TEST_CASE("a view addresses rows by columns, the last index fastest") {
  std::vector<int> memory = counted(3 * 5 * 7);
  const view<int, 1> line(memory.data(), 105);
  const view<int, 2> plane(memory.data(), 15, 7);
  const view<int, 3> box(memory.data(), 3, 5, 7);
  CHECK(line(104) == 104);
  CHECK(plane(14, 6) == 104);
  CHECK(plane(2, 3) == 2 * 7 + 3);
  CHECK(box(2, 4, 6) == 104);
  CHECK(box(1, 2, 3) == (1 * 5 + 2) * 7 + 3);
  CHECK(box.extent(0) == 3);
  CHECK(box.extent(1) == 5);
  CHECK(box.extent(2) == 7);
}

TEST_CASE("a view writes to the memory it was made of") {
  std::vector<float> memory(6, 0.0f);
  const view<float, 2> v(memory.data(), 2, 3);
  v(1, 0) = 4.0f;
  CHECK(memory == std::vector<float>{0, 0, 0, 4, 0, 0});
}

TEST_CASE("extents and indices are 64 bits wide") {
  CHECK(std::is_same_v<view<char, 2>::index_type, index_t>);
  const view<char, 2> v(nullptr, index_t{1} << 20, index_t{1} << 20);
  CHECK(v.mapping()((index_t{1} << 20) - 1, 5) == ((index_t{1} << 20) - 1) * (index_t{1} << 20) + 5);
}

TEST_CASE("a strided view is a part of a larger array") {
  std::vector<int> memory = counted(6 * 8);
  using part = strided_view<int, 2>;
  const cuda::std::array<index_t, 2> strides{8, 1};
  const part inner(memory.data() + 8 + 2, part::mapping_type(view_extents<2>(4, 3), strides));
  CHECK(inner(0, 0) == 10);
  CHECK(inner(3, 2) == 4 * 8 + 4);
  CHECK(inner.extent(1) == 3);
}

}  // namespace
}  // namespace starling::test::view_tests
