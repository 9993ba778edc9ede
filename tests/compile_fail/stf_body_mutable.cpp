// expect: leave out `mutable`
#include "starling/stf/detail/for_kernel.hpp"

void wrong(starling::stream& s) {
  const auto body = [n = 0](starling::index_t) mutable { ++n; };
  starling::stf::enqueue_for(s, {}, starling::stf::box(4), body);
}
