// scope_entry: one piece of data as the tasks of a recorded scope use it. While they are recorded, nothing is copied
// for a value from before: its instance is noted, and each launch sees to it that the value is there.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stf/memory/data_state.hpp"

namespace starling::stf {

struct scope_entry {
  std::shared_ptr<data_state> data;
  // When the scope first used it.
  bool had_value = false;
  std::vector<std::pair<data_instance*, bool>> valid_before;
  std::string failed_before;
  pending_sum pending_before;

  bool was_valid(data_instance* i) const {
    return std::find(valid_before.begin(), valid_before.end(), std::pair(i, true)) != valid_before.end();
  }

  bool written = false;
  std::vector<data_instance*> used;
  std::vector<data_instance*> needed;       // hold the value before each launch: the scope reads it there
  std::vector<data_instance*> valid_after;  // hold it after one, if the scope writes

  // A task of the scope has this instance; `value`: it reads it. Whether the value is one from before, which is noted.
  bool brings(data_instance* i, bool value) {
    if (std::find(used.begin(), used.end(), i) == used.end()) used.push_back(i);
    if (!value || written || !had_value) return false;
    if (std::find(needed.begin(), needed.end(), i) == needed.end()) needed.push_back(i);
    return true;
  }
};

}  // namespace starling::stf
