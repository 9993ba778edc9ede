// expect: parameter 1 of the body does not fit
#include "starling/stf/context.hpp"

using starling::index_t;
using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::split_data<slice<double>> x) {
  ctx.parallel_for(starling::stf::exec_place::all_devices(), x, x.rw())->*[](index_t, index_t, slice<double>) {};
}
