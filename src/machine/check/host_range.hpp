// Memory of the host, outside of what a machine has allocated, that copies in streams read or write. It is part of what
// every schedule starts from.
#pragma once

#include <cstddef>
#include <vector>

namespace starling::check {

struct host_range {
  std::byte* start;
  std::size_t bytes;
};

using host_ranges = std::vector<host_range>;

}  // namespace starling::check
