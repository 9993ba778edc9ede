// program_order: which operations of a persistent program wait for which, from the memory that they access. Operations
// of one round come in the order of the list, rounds one after the other; of that order only what an access needs is
// kept, and of that only what does not follow from the rest.
#pragma once

#include <vector>

#include "operation_list.hpp"

namespace starling::stf {

struct program_edge {
  int earlier = 0;
  int later = 0;
  int lag = 0;  // 1: the earlier operation's work of the round before

  friend bool operator==(const program_edge&, const program_edge&) = default;
};

// By the later operation.
std::vector<program_edge> order_operations(const std::vector<program_operation>& operations);

}  // namespace starling::stf
