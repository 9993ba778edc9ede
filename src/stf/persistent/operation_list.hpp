// operation_list: what a persistent program is made of: the launches and copies of recorded tasks, in the order of
// their submission, each with the memory that it reads and writes. That order gives the right values; program_order
// says how much of it is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "starling/machine/access_scope.hpp"
#include "starling/stf/detail/erased_kernel.hpp"

namespace starling::stf {

struct operation_access {
  const std::byte* start = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
  // Stands for data without bytes, whose tasks come one after the other as a whole. Of other data each of a task's
  // operations changes what is its own.
  bool whole_task = false;
};

// More is no use to any device.
inline constexpr int most_blocks_of_operation = 1 << 20;

struct program_operation {
  std::string name;        // "task 'x'", for stall reports
  std::uint64_t task = 0;  // operations of one task are not ordered by what they access, but by `after`
  int pe = 0;
  int blocks = 1;          // of the launch; of a divisible operation, as many as have something to do
  bool divisible = false;  // any number of blocks leaves the same values
  int threads = 256;
  std::size_t scratch_bytes = 0;
  int unit = 0;  // which of the programs does it
  erased_kernel code;
  std::vector<operation_access> accesses;
  std::vector<int> after;                     // earlier operations of its task
  std::shared_ptr<const access_scope> scope;  // what it may touch; null outside of check mode and for copies
};

struct operation_list {
  std::vector<program_operation> operations;
  std::uint64_t tasks = 0;
  // Memory that holds zeros before the first round.
  struct range {
    std::byte* start;
    std::size_t bytes;
  };
  std::vector<range> zeros;
  // Why there can be no program of it; empty: there can.
  std::string refused;

  // A copy that the coherence asks for, of rows as stream::copy_rows takes them, by device `from` to device `to`.
  struct rows {
    int from;
    int to;
    std::byte* dest;
    std::size_t dest_pitch;
    const std::byte* source;
    std::size_t source_pitch;
    std::size_t bytes;
    std::size_t count;
  };
  void copy(const std::string& name, const rows& r);
};

// Copies rows, a part by each block.
erased_kernel copying_kernel(const operation_list::rows& r);

}  // namespace starling::stf
