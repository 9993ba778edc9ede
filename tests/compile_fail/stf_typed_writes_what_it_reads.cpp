// expect: untyped data of const bytes can only be read
#include "starling/stf/context.hpp"
#include "starling/stf/untyped.hpp"

using starling::stf::slice;

void wrong(starling::stf::logical_data<starling::stf::const_untyped> d) {
  (void)starling::stf::typed<slice<double>>(d, starling::stf::shape_of<slice<double>>(1));
}
