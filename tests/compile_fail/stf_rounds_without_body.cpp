// expect: stf::rounds: after the number come loops with their bodies
#include "starling/stf/rounds.hpp"

using starling::stf::slice;

void wrong(starling::stf::context& ctx, starling::stf::logical_data<slice<double>> x) {
  starling::stf::rounds(ctx, 3, starling::stf::loop(x.shape(), x.rw()));
}
