// Kernels that read beyond an allocation of another PE, and waits for what is no signal of the own PE.
#include "support/allocation_fixture.hpp"

namespace starling::test::allocation_bounds_get_tests {
namespace {

TEST_CASE("get past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.get(local, x, 101, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"get", "allocation_bounds_get.cpp", line, 404});
}

TEST_CASE("get_nbi from an address that no array has") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.get_nbi(local, x + 100000, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"get", "allocation_bounds_get.cpp", line, 4});
}

TEST_CASE("iget whose last element lies past the end") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.iget(local, 1, x + 1, 33, 4, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"get", "allocation_bounds_get.cpp", line, 400});
}

TEST_CASE("iget with a negative stride") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.iget(local, 1, x + 50, -2, 3, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"get", "allocation_bounds_get.cpp", line, 18446744073709551615u});
}

TEST_CASE("g past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) (void)b.g(x + 100, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"get", "allocation_bounds_get.cpp", line, 4});
}

TEST_CASE("a wait for a signal past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 1) b.wait(s + 4, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"wait", "allocation_bounds_get.cpp", line, 8});
}

TEST_CASE("a test of a signal past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 1) (void)b.test(s + 4, compare::ge, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"wait", "allocation_bounds_get.cpp", line, 8});
}

TEST_CASE("wait_all for more signals than were allocated") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 3;
  const auto k = [=](block& b) {
    for (int i = 0; i < 3; ++i) b.signal_set(s + i, 1, b.pe());
    if (b.pe() == 1) b.wait_all(s + 2, 3, 0);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"wait", "allocation_bounds_get.cpp", line, 8});
}

}  // namespace
}  // namespace starling::test::allocation_bounds_get_tests
