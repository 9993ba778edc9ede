// The host copies memory that nobody has written.
#include "support/checked.hpp"

namespace starling::test::host_reads_tests {
namespace {

TEST_CASE("the host copies fresh memory, or more of an array than was written") {
  machine m = checked_machine(2);
  const auto data = m.allocate<double>(10);
  std::vector<double> mine(10);
  const auto copy = [&](index_t first, index_t n) {
    m.copy(mine.data(), data.on(1) + first, static_cast<std::size_t>(n) * sizeof(double));
  };
  auto e = finding_of([&] { copy(0, 10); });
  if (e) {
    CHECK(e->what_kind() == defect::uninitialised);
    check_parts(e->what(), {"the host reads 80 bytes at", "of PE 1 (byte 0 of an allocation of 80)", "machine::fill"});
  }
  const std::vector<double> values(6, 1.5);
  m.copy(data.on(1), values.data(), 6 * sizeof(double));
  copy(0, 6);
  CHECK(mine[5] == 1.5);
  e = finding_of([&] { copy(0, 10); });
  if (e) check_parts(e->what(), {"the host reads 32 bytes at", "(byte 48 of an allocation of 80)"});
  e = finding_of([&] { copy(9, 1); });
  CHECK(e.has_value());
}

TEST_CASE("a stream copies to the host what nobody has written") {
  machine m = checked_machine(1);
  const auto data = m.allocate<int>(100);
  std::vector<int> mine(100, -1);
  const auto run = [&](std::size_t written) {
    stream s = m.new_stream(0);
    s.fill(data.on(0), 0, written * sizeof(int));
    s.copy(mine.data(), data.on(0), 100 * sizeof(int));
    s.synchronize();
  };
  const auto e = finding_of([&] { run(90); });
  if (e) {
    CHECK(e->what_kind() == defect::uninitialised);
    check_parts(e->what(), {"the host reads", "(byte 360 of an allocation of 400)"});
  }
  CHECK(mine[0] == -1);
  run(100);
  CHECK(mine[99] == 0);
}

TEST_CASE("padding inside a struct is not missed") {
  struct padded {
    int a;
    double b;
  };
  machine m = checked_machine(1);
  const auto data = m.allocate<padded>(3);
  for (int i = 0; i < 3; ++i) {
    data.on(0)[i].a = i;
    data.on(0)[i].b = i;
  }
  std::vector<padded> mine(3);
  m.copy(mine.data(), data.on(0), 3 * sizeof(padded));
  CHECK(mine[2].b == 2);
}

}  // namespace
}  // namespace starling::test::host_reads_tests
