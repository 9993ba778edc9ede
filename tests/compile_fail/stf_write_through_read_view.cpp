// expect: assignment of read-only location
#include "starling/stf/context.hpp"

using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::logical_data<slice<double>> x) {
  ctx.host_launch(x.read())->*[](slice<const double> v) { v(0) = 1; };
}
