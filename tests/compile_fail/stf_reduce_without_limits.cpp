// expect: minval comparisons and std::numeric_limits
#include "starling/stf/context.hpp"

// Ordered, but without a largest value, that would be the identity.
struct date {
  int day;
  friend auto operator<=>(const date&, const date&) = default;
};

auto wrong(starling::stf::logical_data<starling::stf::scalar_view<date>> x) {
  return x.reduce(starling::stf::reducer::minval(), starling::stf::no_init());
}
