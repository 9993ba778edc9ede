// Who does what on a PE: how its rows are partitioned among blocks, which of them take values of other PEs, and for
// whom each waits. On the host, once for a number of blocks.
#pragma once

#include <vector>

#include "sparse/rows.hpp"

namespace starling::sparse {

// What is assigned to blocks: a slice or a row block.
struct part_of_rows {
  index_t first_row;
  index_t entries;                   // stored
  int piece = -1;                    // of a row in pieces: its number there; they stay together
  index_range rows_read{};           // own rows whose values it reads
  index_range receive_slots_read{};  // values of other PEs
};

// Widens `all` so that it covers `one` too.
void join(index_range& all, index_range one);

// What one PE has to partition.
struct rows_to_deal {
  rows_of_pe own;
  std::vector<part_of_rows> parts;      // in order
  std::vector<std::int32_t> send_rows;  // of the values that other PEs need, ascending
  std::vector<std::int32_t> senders;    // the PE that each value of the halo comes from
};

// A plan for each of `blocks` blocks, about equally much work; boundaries at multiples of `unit` rows where there are
// any. `entry_bytes`: of a stored entry. `least_bytes`: those that take as long as a part does however little it has.
std::vector<block_plan> plan_blocks(const rows_to_deal& pe, int blocks, index_t unit, index_t entry_bytes,
                                    index_t least_bytes);

}  // namespace starling::sparse
