// All agents behind one interface, and the one place where they are told apart. To the blocks that write a region an
// agent is two calls: hand_on, by who completes a chunk, and no_more, by the last block of the kernel. To
// machine::run it is what goes beside the kernel: nothing, a program of blocks, or copies that the kernel sets off.
#pragma once

#include "starling/machine/machine.hpp"
#include "starling/region/agent_copy_engine.hpp"
#include "starling/region/agent_inline.hpp"
#include "starling/region/agent_polling.hpp"

namespace starling::region_words {

// Chunk `c` of the part has epoch `epoch`, and other PEs or the host get it. By the thread that completed it, which has
// acquired what all writers released. `how`: see region_item; to send all of it is right too, but for `pieces`.
STARLING_HD inline void hand_on(const thread& one, const region_state& s, int c, std::uint64_t epoch, std::uint64_t how,
                                where at) {
  if (s.writers_tell()) return inline_stores::hand_on(one, s, c, epoch, how, at);
  switch (s.agent) {
    case region_agent::inline_stores:
      return;  // then the writers tell
    case region_agent::polling:
      return polling::hand_on(one, s, c, epoch, how, at);
    case region_agent::copy_engine:
      return copy_engine::hand_on(one, s, c, epoch, at);
  }
}

// The kernel is over on this PE. By the last of its blocks, when all chunks are whole.
STARLING_HD inline void no_more(const block& b, const region_state& s, where at) {
  if (!s.has_agent() || !s.leaves(b.n_pes())) return;
  switch (s.agent) {
    case region_agent::inline_stores:
      return;
    case region_agent::polling:
      return polling::no_more(b, s, at);
    case region_agent::copy_engine:
      return copy_engine::no_more(b, s, at);
  }
}

// Adds the agent, which there is: what goes beside the kernel that writes, the last of `all`. `options` are the
// kernel's: an agent's blocks have as many threads. `copies`: the region's, for the copy engine.
template <class T>
void add_agent(std::vector<program>& all, const region_state& s, sym<T> values, index_t pitch,
               const std::shared_ptr<triggered_copies>& copies, const launch_options& options) {
  switch (s.agent) {
    case region_agent::inline_stores:
      return;
    case region_agent::polling: {
      role_plan agents;
      agents.add("polling agent", s.agent_blocks);
      launch_options as = options;
      as.scratch_bytes = 0;
      all.push_back({agents, make_kernel(polling_agent<T>{s, values, pitch}), as});
      return;
    }
    case region_agent::copy_engine:
      all.back().copies = copies;
      return;
  }
}

}  // namespace starling::region_words
