// The agents that regions can have in a test.
#pragma once

#include <vector>

#include "starling/region/region.hpp"

namespace starling::test {

// `launches`: whether kernels can launch others where they are compiled; those of libraries cannot on GPUs.
inline std::vector<region_agent> agents_of(const machine& m, bool launches = target::can_launch) {
  std::vector<region_agent> all;
  for (const region_agent a : region_agents)
    if (a != region_agent::launched || launches || m.kind() == machine_kind::host) all.push_back(a);
  return all;
}

// The same without those that do what is asked for in another way.
inline std::vector<region_agent> agents_without(const std::vector<region_agent>& all, region_agent other) {
  std::vector<region_agent> left;
  for (const region_agent a : all)
    if (a != other) left.push_back(a);
  return left;
}

}  // namespace starling::test
