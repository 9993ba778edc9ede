// expect: parameter 3 of the body does not fit
#include "starling/stf/context.hpp"

using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::logical_data<slice<double, 2>> x) {
  ctx.parallel_for(x.shape(), x.read())->*[](starling::index_t, starling::index_t, slice<double, 2>) {};
}
