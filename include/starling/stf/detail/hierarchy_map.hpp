// Where the levels of a thread hierarchy are on one place: widths, blocks, threads, scratch memory. Computed on the
// host, carried by the kernel as plain data.
//
// Groups of threads that form a block are numbered; blocks take the numbers from first_group to last_group in turn. A
// level that is spread over blocks and threads is partitioned in groups of `active` members.
#pragma once

#include <functional>

#include "starling/stf/hierarchy_spec.hpp"

namespace starling::stf {

struct hierarchy_map {
  int place = 0;
  int places = 1;
  index_t width[most_levels] = {};  // of all places together

  int blocks = 0;  // 0: this place has no part of it
  int threads = 32;
  index_t active = 1;  // threads of a block that are members; the others have nothing to do
  bool resident = false;
  index_t first_group = 0;
  index_t last_group = 0;
  // Of a level that is spread: this place's members, in groups from number 0 on.
  index_t first_member = 0;
  index_t last_member = 0;
  index_t first_of_outermost = 0;  // this place's first member of level 0

  // Scratch memory by level: bytes of one group, and where the first group's starts.
  std::size_t scratch_bytes[most_levels] = {};
  std::size_t scratch_start[most_levels] = {};
  bool scratch_in_block[most_levels] = {};
  std::size_t block_scratch_bytes = 0;
  std::size_t device_scratch_bytes = 0;
  std::byte* device_scratch = nullptr;  // device_scratch_bytes that the caller provides
};

// What the mapping knows of a level.
struct level_facts {
  bool synchronises = false;
  index_t width = 0;  // 0: automatic
  std::size_t scratch_bytes = 0;
  hardware finest = hardware::thread;
  hardware coarsest = hardware::device;
};

// `blocks_that_fit(threads, scratch_bytes)`: how many blocks of the kernel one device holds at once. Throws
// argument_error for widths that cannot be mapped, unsupported_error for a level that would synchronise devices.
hierarchy_map map_levels(const level_facts* levels, int depth, int place, int places, bool on_gpus,
                         const std::function<int(int, std::size_t)>& blocks_that_fit);

template <class Spec>
hierarchy_map map_hierarchy(const Spec& spec, int place, int places, bool on_gpus,
                            const std::function<int(int, std::size_t)>& blocks_that_fit) {
  level_facts levels[Spec::depth];
  for (int l = 0; l < Spec::depth; ++l)
    levels[l] = {Spec::synchronises(l), spec.width[l], spec.scratch_bytes[l], Spec::finest(l), Spec::coarsest(l)};
  return map_levels(levels, Spec::depth, place, places, on_gpus, blocks_that_fit);
}

}  // namespace starling::stf
