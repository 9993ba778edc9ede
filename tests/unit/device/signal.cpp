// The six comparisons of wait and test.
#include "starling/device/signal.hpp"

#include <doctest/doctest.h>

#include <string>

namespace starling::test::signal_tests {
namespace {

TEST_CASE("each comparison holds exactly when its operator does") {
  const std::uint64_t values[] = {0, 1, 4, 5, 6, std::uint64_t{1} << 63, ~std::uint64_t{0}};
  for (const std::uint64_t seen : values)
    for (const std::uint64_t wanted : values) {
      CAPTURE(seen);
      CAPTURE(wanted);
      CHECK(holds(seen, compare::eq, wanted) == (seen == wanted));
      CHECK(holds(seen, compare::ne, wanted) == (seen != wanted));
      CHECK(holds(seen, compare::gt, wanted) == (seen > wanted));
      CHECK(holds(seen, compare::ge, wanted) == (seen >= wanted));
      CHECK(holds(seen, compare::lt, wanted) == (seen < wanted));
      CHECK(holds(seen, compare::le, wanted) == (seen <= wanted));
    }
}

TEST_CASE("comparisons have the symbols of their operators") {
  CHECK(std::string(symbol(compare::eq)) == "==");
  CHECK(std::string(symbol(compare::ne)) == "!=");
  CHECK(std::string(symbol(compare::gt)) == ">");
  CHECK(std::string(symbol(compare::ge)) == ">=");
  CHECK(std::string(symbol(compare::lt)) == "<");
  CHECK(std::string(symbol(compare::le)) == "<=");
}

TEST_CASE("a signal starts at zero and takes eight bytes") {
  CHECK(signal{}.value == 0);
  CHECK(sizeof(signal) == 8);
}

}  // namespace
}  // namespace starling::test::signal_tests
