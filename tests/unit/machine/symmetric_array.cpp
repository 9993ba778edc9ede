// symmetric_array: allocation, ownership, shapes. Misuse is in misuse/symmetric_array.cpp.
#include "starling/machine/symmetric_array.hpp"

#include <cmath>
#include <utility>

#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::symmetric_array_tests {
namespace {

TEST_CASE("an array has a copy of its own on every PE, at one stride") {
  auto m = test_machine(3);
  if (!m) return;
  auto a = m->allocate<double>(100);
  CHECK(a.size() == 100);
  CHECK(a.allocated());
  const sym<double> d = a.data();
  for (int pe = 0; pe < 3; ++pe) {
    CHECK(a.on(pe) == d.on(pe));
    write(*m, a, pe, std::vector<double>(100, pe + 0.5));
  }
  CHECK(reinterpret_cast<char*>(a.on(2)) - reinterpret_cast<char*>(a.on(1)) == d.stride_bytes());
  for (int pe = 0; pe < 3; ++pe) CHECK(read(*m, a, pe) == std::vector<double>(100, pe + 0.5));
}

TEST_CASE("arrays are aligned for any vector access") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_t n : {1, 3, 300, 5}) CHECK(reinterpret_cast<std::uintptr_t>(m->allocate<char>(n).on(0)) % 256 == 0);
}

TEST_CASE("memory is taken by allocate and given back by the owner") {
  auto m = test_machine(2);
  if (!m) return;
  const std::size_t before = m->memory().in_use;
  {
    auto a = m->allocate<int>(1000);
    CHECK(m->memory().in_use == before + 4096);
    auto b = m->allocate<int>(1);
    CHECK(m->memory().in_use == before + 4096 + 256);
    b.reset();
    CHECK_FALSE(b.allocated());
    CHECK(b.size() == 0);
    CHECK(m->memory().in_use == before + 4096);
  }
  CHECK(m->memory().in_use == before);
}

TEST_CASE("moving hands the memory on and frees what was there") {
  auto m = test_machine(1);
  if (!m) return;
  const std::size_t before = m->memory().in_use;
  auto a = m->allocate<int>(64);
  int* const where_a = a.on(0);
  auto b = std::move(a);
  CHECK_FALSE(a.allocated());
  CHECK(b.on(0) == where_a);
  auto c = m->allocate<int>(640);
  c = std::move(b);
  CHECK(c.on(0) == where_a);
  CHECK(c.size() == 64);
  CHECK(m->memory().in_use == before + 256);
}

TEST_CASE("an array may outlive its machine object") {
  symmetric_array<int> a;
  CHECK_FALSE(a.allocated());
  {
    auto m = test_machine(1);
    if (!m) return;
    a = m->allocate<int>(10);
  }
  CHECK(a.allocated());
  CHECK(a.on(0) != nullptr);
}

TEST_CASE("a shape over the array") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = m->allocate<float>(6 * 7);
  const auto v = a.view(6, 7);
  CHECK(v.extent(0) == 6);
  CHECK(v.extent(1) == 7);
  CHECK(v.at(5, 6).on(1) == a.on(1) + 41);
  const auto box = a.view(2, 3, 7);
  CHECK(box.at(1, 2, 6).on(0) == a.on(0) + 41);
}

TEST_CASE("an empty array is an array") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = m->allocate<double>(0);
  CHECK(a.allocated());
  CHECK(a.size() == 0);
  CHECK(a.on(1) != nullptr);
  CHECK(a.view(0, 5).extent(1) == 5);
}

TEST_CASE("fresh memory of virtual devices is poisoned, reused memory too") {
  if (skipped_on_gpus("poison fresh memory")) return;
  machine m = machine::host(2);
  for (int again = 0; again < 2; ++again) {
    auto a = m.allocate<double>(50);
    for (int pe = 0; pe < 2; ++pe)
      for (const double x : read(m, a, pe)) CHECK(std::isnan(x));
    for (int pe = 0; pe < 2; ++pe) write(m, a, pe, std::vector<double>(50, 1.0));
  }
}

}  // namespace
}  // namespace starling::test::symmetric_array_tests
