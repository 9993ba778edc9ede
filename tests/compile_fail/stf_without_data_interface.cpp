// expect: data_view
#include "starling/stf/context.hpp"

struct not_a_view {
  double* start;
};

void wrong(starling::stf::context& ctx) { (void)ctx.logical_data(not_a_view{nullptr}); }
