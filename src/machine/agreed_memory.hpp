// Symmetric memory of a machine of several processes: all hand out the same offsets, since they agree on every
// allocation and on what is free again.
#pragma once

#include "distributed/process_group.hpp"
#include "distributed/released_memory.hpp"
#include "symmetric_heap.hpp"

namespace starling {

class agreed_memory {
 public:
  agreed_memory(symmetric_heap& heap, process_group& processes) : heap_(heap), processes_(processes) {}

  // Collective, before an allocation of so many bytes: what all have freed goes back to the heap. Gives the largest of
  // what the processes tell. Throws argument_error in all of them where they ask for different sizes.
  std::uint64_t agree(std::size_t bytes, std::uint64_t told);

  // Not collective: free when every process has said so, from the next agreement on.
  void free(std::size_t offset) { released_.add(offset); }

 private:
  symmetric_heap& heap_;
  process_group& processes_;
  released_memory released_;
};

}  // namespace starling
