// expect: parameter 2 of the body does not fit
#include "starling/stf/detail/for_kernel.hpp"

// A copy of the accumulator would lose what is added to it.
void wrong(starling::stream& s) {
  const auto body = [](starling::index_t i, double sum) { sum += static_cast<double>(i); };
  starling::stf::enqueue_for(s, {}, starling::stf::box(10), body, starling::stf::accumulator<double>{});
}
