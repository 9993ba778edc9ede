// expect: context::repeat_while: the condition is a kernel that gets a view of each dependency and returns a bool
#include "starling/stf/context.hpp"

void wrong(starling::stf::context& ctx, const starling::stf::logical_data<starling::stf::slice<int>>& x) {
  ctx.repeat_while(3, [] {}, x.read())->*STARLING_KERNEL(starling::stf::slice<const int>){};
}
