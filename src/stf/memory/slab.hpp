// slab: one piece of memory that the blocks of a place are cut from, and where such pieces come from.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "starling/machine/machine.hpp"
#include "stf/order/sync_point.hpp"

namespace starling::stf {

struct slab {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<void> owner;  // gives it back when it goes; work that uses it has ended by then
  sync_point_list ready;        // when it may be used
};

struct slab_wish {
  std::size_t least;   // bytes
  std::size_t wanted;  // better so many
  std::size_t most;
};

struct slab_source {
  // Throws memory_error when there is none of the least bytes.
  std::function<slab(const slab_wish&)> take;
  bool of_user = false;  // an allocator of the user
};

// As machine::allocate_on gives it: what is wanted, or else the least. Throws its memory_error.
local_memory allocate_on(machine& m, int pe, const slab_wish& w);
slab_source memory_of_machine(machine m, int pe);

}  // namespace starling::stf
