// The back ends on which tests of tasks run what holds for each of them.
#pragma once

#include "starling/stf/context.hpp"

namespace starling::test {

inline constexpr stf::backend_kind stream_and_graph[] = {stf::backend_kind::stream, stf::backend_kind::graph};

}  // namespace starling::test
