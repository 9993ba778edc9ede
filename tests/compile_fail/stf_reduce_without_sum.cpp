// expect: logical_data::reduce: the operator has no T operator()(const T&, const T&) const
#include "starling/stf/context.hpp"

struct interval {
  double lower, upper;
};

auto wrong(starling::stf::logical_data<starling::stf::scalar_view<interval>> x) {
  return x.reduce(starling::stf::reducer::sum());
}
