// expect: inner(): there is no level below
#include "starling/stf/thread_hierarchy.hpp"

using spec = decltype(starling::stf::par());
void wrong(const starling::stf::thread_hierarchy<spec>& th) { (void)th.inner(); }
