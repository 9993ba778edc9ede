// expect: context::repeat: the body is called once
#include "starling/stf/context.hpp"

void wrong(starling::stf::context& ctx) {
  ctx.repeat(3, [](starling::index_t) {});
}
