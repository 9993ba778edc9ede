// sym and sym_view: addresses of an object's copies on every PE.
#include "starling/device/symmetric.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace starling::test::symmetric_tests {
namespace {

constexpr index_t per_pe = 24;

// Three PEs, one after the other in memory.
struct three_pes {
  std::vector<int> memory = std::vector<int>(3 * per_pe);
  sym<int> all{memory.data(), per_pe * static_cast<index_t>(sizeof(int))};
};

TEST_CASE("on() is the copy of a PE, one stride after the one before") {
  three_pes m;
  for (int pe = 0; pe < 3; ++pe) CHECK(m.all.on(pe) == m.memory.data() + pe * per_pe);
  CHECK(m.all.stride_bytes() == per_pe * static_cast<index_t>(sizeof(int)));
}

TEST_CASE("adding moves by elements on every PE") {
  three_pes m;
  const sym<int> moved = m.all + 5;
  CHECK(moved.on(2) == m.all.on(2) + 5);
  CHECK((moved + -5).on(1) == m.all.on(1));
  sym<int> s = m.all;
  s += 3;
  s += 4;
  CHECK(s.on(2) == m.all.on(2) + 7);
}

TEST_CASE("a handle is true when it stands for memory") {
  three_pes m;
  CHECK(static_cast<bool>(m.all));
  CHECK_FALSE(static_cast<bool>(sym<int>{}));
}

TEST_CASE("handles of constant elements reach every PE as well") {
  three_pes m;
  const sym<const int> all(m.memory.data(), m.all.stride_bytes());
  CHECK((all + 2).on(2) == m.all.on(2) + 2);
}

TEST_CASE("a handle is plain data, as kernels need it") {
  CHECK(std::is_trivially_copyable_v<sym<double>>);
  CHECK(std::is_trivially_copyable_v<sym_view<double, 3>>);
}

TEST_CASE("a symmetric view gives elements on a PE and addresses for puts") {
  three_pes m;
  const sym_view<int, 2> v(m.all, view_extents<2>(4, 6));
  CHECK(v.extent(0) == 4);
  CHECK(v.extent(1) == 6);
  v.on(2)(3, 5) = 77;
  CHECK(m.memory[2 * per_pe + 3 * 6 + 5] == 77);
  CHECK(v.at(3, 5).on(2) == &v.on(2)(3, 5));
  CHECK(v.at(1, 2).on(0) == m.memory.data() + 8);
  CHECK(v.data().on(1) == m.all.on(1));
  const sym_view<int, 3> box(m.all, view_extents<3>(2, 3, 4));
  CHECK(box.at(1, 2, 3).on(1) == m.all.on(1) + 23);
}

}  // namespace
}  // namespace starling::test::symmetric_tests
