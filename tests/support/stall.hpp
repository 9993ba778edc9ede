// What the stall tests look at.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "starling/machine/stall_error.hpp"
#include "support/failure.hpp"

namespace starling::test {

// Short, so that a stall test takes about this long.
inline constexpr double stall_deadline = 0.1;

// The stall that f() throws; the test fails when it throws none.
template <class F>
std::optional<stall_error> stall_of(const F& f) {
  try {
    f();
  } catch (const stall_error& e) {
    return e;
  } catch (const std::exception& e) {
    FAIL_CHECK("another type of error: " << e.what());
    return std::nullopt;
  }
  FAIL_CHECK("no stall");
  return std::nullopt;
}

inline block_report report_of(const stall_error& e, int pe, int block) {
  for (const block_report& r : e.reports())
    if (r.pe == pe && r.block == block) return r;
  FAIL_CHECK("no report of PE " << pe << " block " << block);
  return {};
}

// What a report of a wait must say. The signal is looked at by the caller.
struct expected_wait {
  operation op;
  int role;
  int peer;
  compare how;
  std::uint64_t wanted;
  std::uint64_t seen;
  const char* file;  // its end
  int line;
};

inline void check_wait(const block_report& r, const expected_wait& wanted) {
  CAPTURE(r.pe);
  CAPTURE(r.block);
  CHECK((r.state == block_state::expired || r.state == block_state::waiting));
  CHECK(std::string(name(r.op)) == name(wanted.op));
  CHECK(r.role == wanted.role);
  CHECK(r.peer == wanted.peer);
  CHECK(std::string(symbol(r.how)) == symbol(wanted.how));
  CHECK(r.wanted == wanted.wanted);
  CHECK(r.seen == wanted.seen);
  CHECK(r.line == wanted.line);
  const std::string file = r.file;
  const std::string end = wanted.file;
  CHECK((file.size() >= end.size() && file.compare(file.size() - end.size(), end.size(), end) == 0));
}

inline int expired(const stall_error& e) {
  return static_cast<int>(std::count_if(e.reports().begin(), e.reports().end(),
                                        [](const block_report& r) { return r.state == block_state::expired; }));
}

// The blocks of a cycle, from the smallest on: where it is entered is not promised.
inline std::vector<block_id> cycle_of(const stall_error& e) {
  std::vector<block_id> c = e.cycle();
  const auto less = [](const block_id& a, const block_id& b) { return a.pe != b.pe ? a.pe < b.pe : a.block < b.block; };
  std::rotate(c.begin(), std::min_element(c.begin(), c.end(), less), c.end());
  return c;
}

}  // namespace starling::test
