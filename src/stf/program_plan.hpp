// program_plan: which block of which device does which part of which item of a persistent program, and what it waits
// for before. Computed on the host, before the program starts; nothing is decided while it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "item_list.hpp"
#include "program_order.hpp"

namespace starling::stf {

struct planned_wait {
  int item = 0;  // whose counter is to show that the round, or the one before, is done
  int lag = 0;
};

struct planned_step {
  int item = 0;
  int part = 0;  // of the item's parts
  std::vector<planned_wait> waits;
};

// An item's parts are done by blocks first_block, first_block + 1, ... of its device.
struct placed_item {
  int first_block = 0;
  int parts = 1;
  std::uint64_t tells = 0;  // devices whose blocks wait for it, a bit each
};

struct program_plan {
  std::vector<placed_item> items;
  // By device and block; the steps of a block are in the order of the items.
  std::vector<std::vector<std::vector<planned_step>>> blocks;
  // Of the device that has most.
  int blocks_per_device() const;
};

// `most_blocks` fit on each of `devices` devices; a block has `grain` blocks of a launch to do before an item gets a
// second one. Items that do not depend on each other are put on different blocks while there are some, an item that
// continues what one block has done on the same block.
program_plan plan_program(const std::vector<noted_item>& items, const std::vector<program_edge>& edges, int devices,
                          int most_blocks, int grain);

}  // namespace starling::stf
