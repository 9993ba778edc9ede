// What pieces of memory a user's allocator gives to the pools of a context.
#pragma once

#include <memory>

#include "slab.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/allocator.hpp"

namespace starling::stf {

class stream_pool;

// The allocator has no more, and what it said.
class allocator_refusal : public memory_error {
 public:
  using memory_error::memory_error;
};

// Without a cap the least bytes each time. `streams` is there for as long as it is asked, and pieces do not need them.
// Throws argument_error for a start that is not aligned.
slab_source memory_of_allocator(std::shared_ptr<allocator> from, machine m, const data_place& where,
                                stream_pool& streams);

}  // namespace starling::stf
