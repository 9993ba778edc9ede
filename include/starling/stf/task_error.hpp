// Errors of tasks.
#pragma once

#include "starling/base/error.hpp"

namespace starling::stf {

// A task could not be run, or data has no value, because an earlier task threw; the text names it.
class task_error : public error {
 public:
  using error::error;
};

}  // namespace starling::stf
