// Copies and fills by the host beyond an allocation, of freed memory, and of null addresses.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::copy_bounds_tests {
namespace {

constexpr std::size_t bytes = 100 * sizeof(int);

// Two arrays, one after the other, so that what leaves the first meets memory that is not its own.
struct fixture {
  explicit fixture(machine& m) : a(zeroed<int>(m, 100)), b(zeroed<int>(m, 100)) {}
  symmetric_array<int> a, b;
  std::vector<int> host = std::vector<int>(1000, 7);
};

void check_refused(machine& m, fixture& f, const char* call, std::size_t n, const std::function<void()>& misuse) {
  check_parts(failure_of<range_error>(misuse),
              {call, message(n, " bytes at 0x"), "not inside one live symmetric allocation", "still allocated"});
  CHECK(read(m, f.a, 0) == std::vector<int>(100, 0));
  CHECK(read(m, f.b, 1) == std::vector<int>(100, 0));
}

TEST_CASE("a copy past the end of an allocation") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  check_refused(*m, f, "machine::copy (dest)", bytes + 1, [&] { m->copy(f.a.on(0), f.host.data(), bytes + 1); });
  check_refused(*m, f, "machine::copy (source)", bytes + 4, [&] { m->copy(f.host.data(), f.a.on(1), bytes + 4); });
  check_refused(*m, f, "machine::copy (dest)", 4, [&] { m->copy(f.b.on(1) + 100, f.host.data(), 4); });
}

TEST_CASE("a copy of one whole device") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  const auto stride = static_cast<std::size_t>(f.a.data().stride_bytes());
  check_refused(*m, f, "machine::copy (dest)", stride, [&] { m->copy(f.a.on(1), f.a.on(0), stride); });
}

TEST_CASE("a fill past the end of an allocation") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  check_refused(*m, f, "machine::fill", bytes + 1, [&] { m->fill(f.a.on(0), 1, bytes + 1); });
}

TEST_CASE("a copy or fill of freed memory") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  auto freed = m->allocate<int>(100);
  int* const there = freed.on(1);
  freed.reset();
  check_refused(*m, f, "machine::copy (source)", 4, [&] { m->copy(f.host.data(), there, 4); });
  check_refused(*m, f, "machine::copy (dest)", 4, [&] { m->copy(there, f.host.data(), 4); });
  check_refused(*m, f, "machine::fill", 4, [&] { m->fill(there, 1, 4); });
}

TEST_CASE("a stream's copy past the end of an allocation") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  stream s = m->new_stream(0);
  check_refused(*m, f, "stream::copy (dest)", bytes + 1, [&] { s.copy(f.a.on(0), f.host.data(), bytes + 1); });
  check_refused(*m, f, "stream::copy (source)", bytes + 1, [&] { s.copy(f.host.data(), f.a.on(0), bytes + 1); });
  check_refused(*m, f, "stream::fill", bytes + 1, [&] { s.fill(f.a.on(0), 1, bytes + 1); });
  CHECK_NOTHROW(s.synchronize());
}

TEST_CASE("a stream's copy of rows of which the last ends too late") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  stream s = m->new_stream(0);
  // 10 rows, 40 bytes apart, the last from byte 361 on.
  check_refused(*m, f, "stream::copy (dest)", 9 * 40 + 40,
                [&] { s.copy_rows(f.a.on(0) + 1, 40, f.host.data(), 40, 40, 10); });
  check_refused(*m, f, "stream::copy (source)", 10 * 40 + 8,
                [&] { s.copy_rows(f.host.data(), 40, f.a.on(0), 40, 8, 11); });
  CHECK_NOTHROW(s.synchronize());
}

TEST_CASE("rows that are longer than their pitch") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  std::vector<char> host(100);
  check_parts(failure_of<argument_error>([&] { s.copy_rows(host.data(), 9, host.data(), 20, 10, 2); }),
              {"rows of 10 bytes", "pitches 9 (dest) and 20 (source)", "at least the row"});
  CHECK_NOTHROW(s.synchronize());
}

TEST_CASE("null addresses") {
  auto m = test_machine(2);
  if (!m) return;
  fixture f(*m);
  stream s = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { m->copy(nullptr, f.a.on(0), 8); }),
              {"machine::copy (dest)", "null address for 8 bytes"});
  check_parts(failure_of<argument_error>([&] { m->copy(f.a.on(0), nullptr, 8); }),
              {"machine::copy (source)", "null address for 8 bytes"});
  check_parts(failure_of<argument_error>([&] { m->fill(nullptr, 0, 1); }), {"machine::fill", "null address"});
  check_parts(failure_of<argument_error>([&] { s.copy(nullptr, f.a.on(0), 8); }), {"stream::copy (dest)", "null"});
  check_parts(failure_of<argument_error>([&] { s.copy(f.a.on(0), nullptr, 8); }), {"stream::copy (source)", "null"});
  check_parts(failure_of<argument_error>([&] { s.fill(nullptr, 0, 1); }), {"stream::fill", "null address"});
  CHECK_NOTHROW(s.synchronize());
}

}  // namespace
}  // namespace starling::test::copy_bounds_tests
