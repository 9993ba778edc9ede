// program_plan: which block of which program on which device does which part of which operation of a persistent
// program, and what it waits for before. Computed on the host, before the programs start; nothing is decided while they
// run.
#pragma once

#include <cstdint>
#include <vector>

#include "operation_list.hpp"
#include "program_order.hpp"

namespace starling::stf {

struct planned_wait {
  int operation = 0;  // whose counter is to show that the round, or the one before, is done
  int lag = 0;
};

struct planned_step {
  int operation = 0;
  int part = 0;  // of the operation's parts
  std::vector<planned_wait> waits;
};

// An operation's parts are done by blocks first_block, first_block + 1, ... of its program on its device.
struct placed_operation {
  int first_block = 0;
  int parts = 1;
  std::uint64_t tells = 0;  // devices whose blocks wait for it, a bit each
};

struct program_plan {
  int units = 1;
  std::vector<placed_operation> operations;
  // By station, which is a device and one of the programs on it, and block; the steps of a block are in the order of
  // the operations.
  std::vector<std::vector<std::vector<planned_step>>> blocks;

  const std::vector<std::vector<planned_step>>& on(int device, int unit) const {
    return blocks[static_cast<std::size_t>(device * units + unit)];
  }
  // Of the device where a program has most.
  int blocks_of(int unit) const;
};

// On each of `devices` devices program u may have most_blocks[u] blocks. An operation is shared by as many as it has
// blocks of its own, but where it follows an operation of the same program on the same device, and both are small: at
// most `most_alone` blocks, if they are divisible. One block does both then, and waits for nothing. Operations that do
// not depend on each other are put on different blocks while there are some.
program_plan plan_program(const std::vector<program_operation>& operations, const std::vector<program_edge>& edges,
                          int devices, const std::vector<int>& most_blocks, int most_alone);

}  // namespace starling::stf
