// How a machine is traced.
#pragma once

namespace starling {

struct trace_options {
  int records = 0;  // that a block's ring holds, rounded up to a power of two; 0: STARLING_TRACE_RECORDS
};

}  // namespace starling
