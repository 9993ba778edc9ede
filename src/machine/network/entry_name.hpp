// Which entry a card works on.
#pragma once

#include <cstdint>

namespace starling::network {

struct entry_name {
  std::uint32_t queue = 0;
  std::uint16_t index = 0;
};

}  // namespace starling::network
