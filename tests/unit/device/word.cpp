// Words as waits see them: kinds, widening, and comparisons in the word's own type.
#include "starling/device/word.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace starling::test::word_tests {
namespace {

constexpr compare comparisons[] = {compare::eq, compare::ne, compare::gt, compare::ge, compare::lt, compare::le};

template <class T>
bool by_operator(T seen, compare how, T wanted) {
  switch (how) {
    case compare::eq:
      return seen == wanted;
    case compare::ne:
      return seen != wanted;
    case compare::gt:
      return seen > wanted;
    case compare::ge:
      return seen >= wanted;
    case compare::lt:
      return seen < wanted;
    default:
      return seen <= wanted;
  }
}

TEST_CASE_TEMPLATE("widened words compare as their type does", T, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, long long, unsigned long long) {
  test::random r(71);
  INFO(r.seed);
  std::vector<T> values{T(0), T(1), static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  for (int i = 0; i < 6; ++i) values.push_back(static_cast<T>(r.next()));
  for (const T seen : values)
    for (const T wanted : values)
      for (const compare how : comparisons) {
        CAPTURE(seen);
        CAPTURE(wanted);
        CAPTURE(symbol(how));
        CHECK(holds(kind_of<T>(), widened(seen), how, widened(wanted)) == by_operator(seen, how, wanted));
        CHECK(static_cast<T>(widened(seen)) == seen);
      }
}

TEST_CASE("kinds have the size and the sign of their types") {
  CHECK(kind_of<std::int32_t>() == word_kind::signed_4);
  CHECK(kind_of<std::uint32_t>() == word_kind::unsigned_4);
  CHECK(kind_of<std::int64_t>() == word_kind::signed_8);
  CHECK(kind_of<std::uint64_t>() == word_kind::unsigned_8);
  CHECK(kind_of<float>() == word_kind::bits_4);
  CHECK(kind_of<double>() == word_kind::bits_8);
  for (const word_kind k : {word_kind::signed_4, word_kind::unsigned_4, word_kind::bits_4}) CHECK(bytes_of(k) == 4);
  for (const word_kind k : {word_kind::signed_8, word_kind::unsigned_8, word_kind::bits_8}) CHECK(bytes_of(k) == 8);
  CHECK(widened(-0.0) == std::uint64_t{1} << 63);
  CHECK_FALSE(waitable_word<double>);
  CHECK_FALSE(waitable_word<short>);
}

TEST_CASE("times in nanoseconds: at least one look, and no overflow") {
  CHECK(limit_in_ns(0.5) == 500000001);
  CHECK(limit_in_ns(0) == 1);
  CHECK(limit_in_ns(-3) == 1);
  CHECK(limit_in_ns(std::numeric_limits<double>::quiet_NaN()) == 1);
  CHECK(limit_in_ns(std::numeric_limits<double>::infinity()) == limit_in_ns(1e9));
  CHECK(limit_in_ns(1e9) < std::uint64_t{1} << 62);
}

}  // namespace
}  // namespace starling::test::word_tests
