// Words of a machine that its processes share, behind the memory of the PEs. Zeros are their first state.
#pragma once

#include "parking.hpp"

namespace starling::host {

struct shared_words {
  parking_words lots;
  std::atomic<std::uint64_t> ended;  // the number of the last run that was ended: end_flag
};

}  // namespace starling::host
