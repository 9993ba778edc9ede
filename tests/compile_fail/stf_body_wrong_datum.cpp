// expect: parameter 3 of the body does not fit
#include "starling/stf/detail/for_kernel.hpp"
#include "starling/stf/slice.hpp"

// The third parameter wants to write what is only to be read.
void wrong(starling::stream& s, starling::stf::slice<const double, 2> x) {
  const auto body = [](starling::index_t, starling::index_t, starling::stf::slice<double, 2>) {};
  starling::stf::enqueue_for(s, {}, starling::stf::shape(x), body, x);
}
