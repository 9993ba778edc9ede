// What a schedule has found, before it becomes an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop_accesses.hpp"
#include "shadow.hpp"
#include "starling/machine/check.hpp"
#include "thread_accesses.hpp"

namespace starling::check {

struct finding {
  defect what = defect::deadlock;
  std::string text{};         // complete but for what follows
  std::vector<int> blocks{};  // concerned, by number
  // To be told with source lines, which a replay of the seed finds.
  std::optional<conflict> race{};
  std::optional<bad_access> access{};
  std::optional<thread_conflict> threads{};
  std::optional<element_conflict> elements{};
};

}  // namespace starling::check
