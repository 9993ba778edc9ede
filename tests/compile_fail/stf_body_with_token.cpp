// expect: the body has the wrong number of parameters
#include "starling/stf/context.hpp"

using namespace starling::stf;
void wrong(context& ctx, token t, logical_data<slice<int>> x) {
  ctx.task(t.rw(), x.rw())->*[](starling::stream&, token_view, slice<int>) {};
}
