// expect: a launch updates one region
#include "starling/region/tasks.hpp"

namespace st = starling;
namespace stf = starling::stf;

struct write_both {
  template <class Hierarchy>
  STARLING_HD void operator()(Hierarchy, st::region_tiles<int>, st::region_tiles<float>) const {}
};

void submit(stf::context& ctx, const st::region<int>& x, const st::region<float>& y) {
  ctx.launch(stf::exec_place::all_devices(), x.update(), y.update())->*write_both();
}
