// What a context has done so far, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace starling::stf {

struct place_usage {
  int pe = 0;                // -1: the host
  std::size_t reserved = 0;  // bytes taken from the machine
  std::size_t in_use = 0;    // bytes of them in instances
  std::size_t most_in_use = 0;
  std::size_t largest_free = 0;  // bytes in one piece
  std::size_t cap = 0;           // 0: none
};

struct statistics {
  std::uint64_t tasks = 0;
  std::uint64_t copies = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t evictions = 0;
  // Of graph contexts: epochs, and how many of them found an executable graph that could be updated.
  std::uint64_t epochs = 0;
  std::uint64_t graphs_reused = 0;
  std::vector<place_usage> places;  // devices in order, then the host
};

}  // namespace starling::stf
