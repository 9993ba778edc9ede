// call_site: the source line of a call, taken by a default argument, for messages about what has no name.
#pragma once

#include "starling/device/report.hpp"

namespace starling::stf {

using call_site = starling::where;

inline constexpr call_site no_call_site{"", 0};

}  // namespace starling::stf
