// promised_values: while a body is recorded in several parts, the values that the parts before leave in launches. They
// are promised to the part that is recorded now, as flags of instances; what is really there is put back in the end.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stf/memory/data_state.hpp"

namespace starling::stf {

class task_scope;

class promised_values {
 public:
  // How many promises there are; see undo_to.
  std::size_t count() const { return values_.size(); }
  // Data has the values that a launch of these tasks leaves. Its instances stay where they are until that is undone.
  void promise(const task_scope& tasks);
  // What came after `count` promises is forgotten: the data is as before.
  void undo_to(std::size_t count) noexcept;

 private:
  struct value_before {
    std::shared_ptr<data_state> data;
    std::vector<std::pair<data_instance*, bool>> valid;
    std::string failed_by;
    pending_sum pending;  // of data that is written
    bool written;
    bool promised;
  };
  std::vector<value_before> values_;
};

}  // namespace starling::stf
