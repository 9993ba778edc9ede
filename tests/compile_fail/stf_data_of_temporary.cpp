// expect: use of deleted function
#include "starling/stf/context.hpp"

void wrong(starling::stf::context& ctx) { (void)ctx.logical_data(std::vector<double>(3)); }
