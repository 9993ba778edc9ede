// A kernel that writes a region in a plain launch, where the agent's blocks are part of the same launch: they end with
// it, whatever ends it, and no stream or graph has to start them at the right time. They wait for blocks that write,
// never the other way round: it is enough that some of these run at a time.
#pragma once

#include "starling/region/agent_polling.hpp"
#include "starling/region/commit.hpp"
#include "starling/region/handle.hpp"

namespace starling::region_words {

template <class T, class F>
struct launched_kernel {
  static constexpr int max_threads = target::most_threads<F>;
  static constexpr int least_blocks = target::least_blocks<F>;
  static constexpr bool one_thread_on_host = target::one_thread_on_host<F>;
  static constexpr bool whole_warps = target::for_whole_warps<F>;

  region_handle<T> handle;
  F f;
  int writers;        // blocks
  bool agents_first;  // in the order of blocks

  STARLING_HD void operator()(block& b) const {
    const int agents = b.blocks_per_pe() - writers;
    const int which = b.index() - (agents_first ? agents : 0);
    if (which >= 0 && which < writers) {
      // The kernel sees the blocks that write alone.
      program_state launch = b.state();
      launch.n_blocks = writers;
      launch.roles.first[1] = writers;
      host_port* port = nullptr;
      if constexpr (!target::on_gpu) port = &b.port();
      block mine = b.in_place_of(launch, port, which);
      f(mine);
      (void)end(mine, handle.state(), writers, where::current());
    } else {
      polling_agent<T>{{handle.state(), handle.values(), handle.pitch()}}.serve(
          b, agents_first ? b.index() : which - writers);
    }
  }
};

}  // namespace starling::region_words
