// expect: the body has the wrong number of parameters
#include "starling/stf/detail/for_kernel.hpp"
#include "starling/stf/slice.hpp"

void wrong(starling::stream& s, starling::stf::slice<double, 2> x) {
  const auto body = [](starling::index_t, starling::stf::slice<double, 2>) {};
  starling::stf::enqueue_for(s, {}, starling::stf::shape(x), body, x);
}
