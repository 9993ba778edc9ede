// Signals: 64-bit counters in symmetric memory that tell "my data up to here has arrived". They only grow.
#pragma once

#include <cstdint>

namespace starling {

struct signal {
  std::uint64_t value = 0;
};

// OpenSHMEM's comparisons, for wait and test.
enum class compare : std::int32_t { eq, ne, gt, ge, lt, le };

template <class T>
constexpr bool holds_as(const T& seen, compare how, const T& wanted) {
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
    case compare::le:
      return seen <= wanted;
  }
  return false;
}
constexpr bool holds(std::uint64_t seen, compare how, std::uint64_t wanted) { return holds_as(seen, how, wanted); }

constexpr const char* symbol(compare how) {
  switch (how) {
    case compare::eq:
      return "==";
    case compare::ne:
      return "!=";
    case compare::gt:
      return ">";
    case compare::ge:
      return ">=";
    case compare::lt:
      return "<";
    case compare::le:
      return "<=";
  }
  return "?";
}

// How a put or a call raises a signal.
enum class signal_op : std::int32_t { set, add };

}  // namespace starling
