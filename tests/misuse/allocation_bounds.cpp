// Kernels that leave an allocation of another PE, which virtual devices find (for GPUs there is compute-sanitizer): the
// error says how many bytes where, and the place of the call. Gets are in allocation_bounds_get.cpp.
#include "support/allocation_fixture.hpp"

namespace starling::test::allocation_bounds_tests {
namespace {

TEST_CASE("put past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.put(x, local, 101, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 404});
}

TEST_CASE("put to an address before an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.put(x + -1, local, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 4});
}

TEST_CASE("put of more bytes than a number can hold") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.put(x, local, (index_t{1} << 62) - 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 18446744073709551612u});
}

TEST_CASE("iput whose last element lies past the end") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.iput(x, 10, local, 1, 11, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 404});
}

TEST_CASE("iput with a negative stride") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.iput(x + 50, -1, local, 1, 2, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 18446744073709551615u});
}

TEST_CASE("iput with a stride of zero") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.iput(x + 50, 0, local, 1, 2, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 18446744073709551615u});
}

TEST_CASE("p past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.p(x + 100, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 4});
}

TEST_CASE("put_signal of data past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.put_signal(x + 1, local, 100, s, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 400});
}

TEST_CASE("put_signal with a signal past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  int* const local = f.local();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.put_signal(x, local, 1, s + 4, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 8});
}

TEST_CASE("a signal past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.signal_add(s + 4, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"put", "allocation_bounds.cpp", line, 8});
}

TEST_CASE("an atomic past the end of an allocation") {
  if (skipped_on_gpus("know the ends of allocations")) return;
  allocation_fixture f;
  const sym<int> x = f.data();
  const sym<signal> s = f.signals();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.atomic_fetch_add(x + 100, 1, 1);
    b.wait(s + 3, 1);
  };
  f.check_refused(k, {"atomic", "allocation_bounds.cpp", line, 4});
}

}  // namespace
}  // namespace starling::test::allocation_bounds_tests
