// All agents behind one interface, and the one place where they are told apart. To the blocks that write a region an
// agent is a few calls: hand_on, by who completes a chunk, hand_on_tile, by who has written a tile, block_over, by each
// block of the kernel, and no_more, by the last of them. To machine::run it is what goes beside the kernel: nothing, a
// program of blocks, what the kernel launches, or copies that it sets off; an own warp is within it.
#pragma once

#include "starling/machine/machine.hpp"
#include "starling/region/agent_copy_engine.hpp"
#include "starling/region/agent_inline.hpp"
#include "starling/region/agent_launched.hpp"
#include "starling/region/agent_own_warp.hpp"
#include "starling/region/agent_polling.hpp"

namespace starling::region_words {

// Chunk `c` of the part has epoch `epoch`, and other PEs or the host get it. By the thread that completed it, which has
// acquired what all writers released. `how`: see region_item; to send all of it is right too, but for `pieces`.
// `values`, `pitch`: see chunk_sender.
template <class T>
STARLING_HD void hand_on(const thread& one, const region_state& s, sym<T> values, index_t pitch, int c,
                         std::uint64_t epoch, std::uint64_t how, where at) {
  if (s.writers_tell()) return inline_stores::hand_on(one, s, c, epoch, how, at);
  switch (s.agent) {
    case region_agent::inline_stores:
      return;  // then the writers signal
    case region_agent::polling:
      return polling::hand_on(one, s, c, epoch, how, at);
    case region_agent::own_warp:
      return;  // who sends the last of its tiles tells
    case region_agent::launched:
      return launched::hand_on(one, s, values, pitch, c, epoch, how, at);
    case region_agent::copy_engine:
      return copy_engine::hand_on(one, s, c, epoch, at);
  }
}

// Tile `t` of the part has epoch `epoch`, for which it was stored or left unchanged, and has been counted. By one
// thread of the block.
STARLING_HD inline void hand_on_tile(const thread& one, const region_state& s, int t, std::uint64_t epoch, bool stored,
                                     where at) {
  if (s.has_own_warps(one.n_pes()))
    own_warp::hand_on(one, s, {epoch, t, stored ? region_item::whole : region_item::kept}, at);
}

// The block has returned from the kernel. By one of its threads.
STARLING_HD inline void block_over(const thread& one, const region_state& s, where at) {
  if (s.has_own_warps(one.n_pes())) own_warp::hand_on(one, s, {0, region_item::end, region_item::whole}, at);
}

// The kernel is over on this PE. By the last of its blocks, when all chunks are whole.
STARLING_HD inline void no_more(const block& b, const region_state& s, where at) {
  if (!s.has_agent() || !s.leaves(b.n_pes())) return;
  switch (s.agent) {
    case region_agent::inline_stores:
    case region_agent::own_warp:
    case region_agent::launched:
      return;
    case region_agent::polling:
      return polling::no_more(b, s, at);
    case region_agent::copy_engine:
      return copy_engine::no_more(b, s, at);
  }
}

// Adds the agent, which there is: what goes beside the kernel that writes, the last of `all`. `options` are the
// kernel's: an agent's blocks have as many threads. `copies`: the region's, for the copy engine. `in_blocks`: own warps
// are in the kernel's.
template <class T>
void add_agent(std::vector<program>& all, const region_state& s, sym<T> values, index_t pitch,
               const std::shared_ptr<triggered_copies>& copies, bool in_blocks, const launch_options& options) {
  switch (s.agent) {
    case region_agent::inline_stores:
      return;
    case region_agent::polling: {
      role_plan agents;
      agents.add("polling agent", s.agent_blocks);
      launch_options as = options;
      as.scratch_bytes = 0;
      all.push_back({agents, make_kernel(polling_agent<T>{{s, values, pitch}}), as});
      return;
    }
    case region_agent::own_warp: {
      // On GPUs they are in the kernel's blocks.
      if (in_blocks) return;
      role_plan warps;
      warps.add("own warps", all.back().roles.blocks());
      all.push_back({warps, make_kernel(own_warp_agent<T>{s, values, pitch}), {.deadline = options.deadline}});
      return;
    }
    case region_agent::launched: {
      role_plan at_once;
      at_once.add("launched copies", s.agent_blocks);
      launch_options as = options;
      as.scratch_bytes = 0;
      const launched_copy<T> copy{{s, values, pitch}, {}};
      all.back().launches = std::make_shared<const program>(program{at_once, make_kernel(copy), as});
      // Who finds no room sends by itself, and is not behind many.
      all.back().most_pending = s.agent_blocks;
      return;
    }
    case region_agent::copy_engine:
      all.back().copies = copies;
      return;
  }
}

}  // namespace starling::region_words
