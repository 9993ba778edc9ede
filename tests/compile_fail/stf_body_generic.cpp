// expect: the body cannot be called with what it is given
#include "starling/stf/detail/for_kernel.hpp"
#include "starling/stf/slice.hpp"

void wrong(starling::stream& s, starling::stf::slice<double> x) {
  const auto body = [](auto, auto, auto) {};
  starling::stf::enqueue_for(s, {}, starling::stf::shape(x), body, x);
}
