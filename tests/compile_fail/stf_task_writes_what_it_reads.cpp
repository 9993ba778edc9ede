// expect: parameter 2 of the body does not fit
#include "starling/stf/context.hpp"

using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::logical_data<slice<double>> x) {
  ctx.task(x.read())->*[](starling::stream&, slice<double>) {};
}
