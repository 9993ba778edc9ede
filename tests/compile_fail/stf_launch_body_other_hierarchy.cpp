// expect: parameter 1 of the body does not fit
#include "starling/stf/detail/launch_kernel.hpp"

using namespace starling::stf;
void wrong(starling::stream& s, starling::machine& m) {
  const auto body = [](thread_hierarchy<decltype(par(con<64>()))>) {};
  enqueue_launch(s, m, par(con<32>()), 0, 1, body);
}
