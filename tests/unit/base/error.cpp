// Errors: their text, their family, and expect().
#include "starling/base/error.hpp"

#include <doctest/doctest.h>

#include "support/failure.hpp"

namespace starling::test::error_tests {
namespace {

TEST_CASE("message joins values of any type") {
  CHECK(message("wanted ", 3, " PEs, got ", 2.5, 'x') == "wanted 3 PEs, got 2.5x");
}

TEST_CASE("expect throws the type asked for, with the text, only when the condition fails") {
  CHECK_NOTHROW(expect<range_error>(true, "not seen"));
  check_parts(failure_of<range_error>([] { expect<range_error>(1 + 1 == 3, "index ", 7, " of ", 4); }),
              {"index 7 of 4"});
}

template <class Error>
void check_family() {
  bool caught = false;
  try {
    throw Error("text");
  } catch (const error& e) {
    caught = std::string(e.what()) == "text";
  }
  CHECK(caught);
  CHECK_THROWS_AS(throw Error("text"), std::runtime_error);
}

TEST_CASE("every error can be caught as error and as std::runtime_error") {
  check_family<error>();
  check_family<argument_error>();
  check_family<type_error>();
  check_family<range_error>();
  check_family<memory_error>();
  check_family<launch_error>();
  check_family<unsupported_error>();
  check_family<device_error>();
}

}  // namespace
}  // namespace starling::test::error_tests
