// expect: levels go from devices over blocks to threads
#include "starling/stf/hierarchy_spec.hpp"

using starling::stf::hw_scope;
const auto wrong = starling::stf::par(hw_scope::thread, starling::stf::con(hw_scope::block));
