// What every launch must satisfy, and the deadline that applies. Messages are in misuse/launch_options.cpp.
#include "machine/launch_rules.hpp"

#include <doctest/doctest.h>

#include "starling/base/error.hpp"

namespace starling::test::launch_rules_tests {
namespace {

TEST_CASE("threads are a multiple of 32 from 32 to 1024") {
  for (int threads = -32; threads <= 1100; ++threads) {
    CAPTURE(threads);
    const bool allowed = threads >= 32 && threads <= 1024 && threads % 32 == 0;
    bool accepted = true;
    try {
      check_launch_options({.threads = threads});
    } catch (const argument_error&) {
      accepted = false;
    }
    CHECK(accepted == allowed);
  }
}

TEST_CASE("the launch's deadline goes before the machine's") {
  CHECK(deadline_of({}, 10.0) == 10.0);
  CHECK(deadline_of({.deadline = 0.5}, 10.0) == 0.5);
}

}  // namespace
}  // namespace starling::test::launch_rules_tests
