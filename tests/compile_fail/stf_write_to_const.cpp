// expect: logical data of const elements can only be read
#include "starling/stf/context.hpp"

void wrong(starling::stf::context& ctx, const std::vector<double>& values) { (void)ctx.logical_data(values).write(); }
