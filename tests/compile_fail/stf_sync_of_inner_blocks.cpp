// expect: a level of several blocks can synchronise only if no con level is outside of it
#include "starling/stf/thread_hierarchy.hpp"

using spec = decltype(starling::stf::con(2, starling::stf::con(2, starling::stf::con<32>())));
void wrong(const starling::stf::thread_hierarchy<spec>& th) { th.inner().sync(); }
