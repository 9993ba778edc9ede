// expect: the body has the wrong number of parameters
#include "starling/stf/context.hpp"

using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::logical_data<slice<double>> x) {
  ctx.task(x.read(), x.rw())->*[](starling::stream&, slice<const double>) {};
}
