// expect: sync(): the outermost level of this hierarchy is par
#include "starling/stf/thread_hierarchy.hpp"

using spec = decltype(starling::stf::par(starling::stf::con<32>()));
void wrong(const starling::stf::thread_hierarchy<spec>& th) { th.sync(); }
