#include "operation_list.hpp"

#include "starling/base/error.hpp"
#include "starling/stf/launch.hpp"

namespace starling::stf {

void detail::check_operation(const task_run& run, const hierarchy_map& map) {
  if (map.blocks == 0) return;
  if (map.resident) run.refuse_operation(message("a launch whose ", map.blocks, " blocks wait for each other"));
  if (map.active != map.threads)
    run.refuse_operation(message("a launch of ", map.active, " threads a block, which is no multiple of 32"));
}

}  // namespace starling::stf
