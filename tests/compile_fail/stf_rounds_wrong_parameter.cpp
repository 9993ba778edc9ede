// expect: parameter 2 of the body does not fit
#include "starling/stf/rounds.hpp"

using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::logical_data<slice<double>> x) {
  starling::stf::rounds(ctx, 3, starling::stf::loop(x.shape(), x.read())->*[](starling::index_t, slice<double>) {});
}
