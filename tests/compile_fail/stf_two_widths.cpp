// expect: par and con take one width, static or dynamic
#include "starling/stf/hierarchy_spec.hpp"

const auto wrong = starling::stf::par<4>(5);
