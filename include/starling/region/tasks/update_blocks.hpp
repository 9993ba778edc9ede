// How the blocks of one launch share an update. Some write the region, each of which commits a tile when it is done.
// Blocks of the agent are part of the same launch, so that they end with it, whatever ends it, and no stream or graph
// has to start them at the right time. They wait for blocks that write, never the other way round: it is enough that
// some of these run at a time.
#pragma once

#include "starling/region/tasks/views.hpp"
#include "starling/stf/task_run.hpp"

namespace starling {

// What the kernel of an update is given for x.update().
template <class T>
struct region_writer {
  region_handle<T> handle;
  int tiles = 0;                          // of the PE
  int agents = 0;                         // blocks that send
  where at;                               // of the call of update()
  const region_memory* memory = nullptr;  // for the host
};

namespace region_words {

template <class Arg>
inline constexpr bool is_writer = false;
template <class T>
inline constexpr bool is_writer<region_writer<T>> = true;

template <class T, class... More>
STARLING_HD const region_writer<T>& writer_of(const region_writer<T>& w, const More&...) {
  return w;
}
template <class Arg, class... More>
  requires(!is_writer<Arg>)
STARLING_HD const auto& writer_of(const Arg&, const More&... more) {
  return writer_of(more...);
}

// What a block that writes has to know.
template <class T>
struct update_share {
  int which;  // block, of those that write
  int of;
  std::uint64_t epoch;  // that is written
  region_view<T> old;   // the one before
};

// By all blocks of a launch that updates a region. Calls write(share) if the block is one of those that write, and says
// whether it is.
template <class T, class Write>
STARLING_HD bool update(block& b, const region_writer<T>& w, bool agents_first, const Write& write) {
  const region_handle<T>& h = w.handle;
  const region_state& s = h.state();
  const int writers = b.blocks_per_pe() - w.agents;
  const int which = b.index() - (agents_first ? w.agents : 0);
  const bool writes = which >= 0 && which < writers;
  if (writes) {
    const int pe = b.pe();
    const where at = target::on_gpu ? where::current() : w.at;
    const std::uint64_t epoch = *s.newest.on(pe) + 1;  // the last of these blocks to end changes it
    write(update_share<T>{which, writers, epoch, {s, (h.values() + s.buffer_of(epoch - 1) * h.pitch()).on(pe), pe}});
    const bool last = end(b, s, writers, at);
    if (s.credits && last && b.member() == 0)
      for (int to = 0; to < b.n_pes(); ++to)
        if (s.reads(pe, to, pe)) b.thread().signal_set(s.credit + pe, epoch, to);
  } else {
    polling_agent<T>{{s, h.values(), h.pitch()}}.serve(b, agents_first ? b.index() : which - writers);
  }
  b.quiet();  // a persistent program tells others that the block is done
  return writes;
}

// Launches such a kernel, made by `kernel_with(agents_first)`: at most `writers` blocks that write, and the agent's. A
// GPU starts blocks in the order of their numbers, and the agent is to run from the start; blocks of virtual devices
// run one after the other, and operations of persistent programs may. Returns how many blocks those are together.
template <class Together, class T, class KernelWith>
int launch_update(stf::task_stream<Together>& s, const region_writer<T>& w, int writers, const launch_options& options,
                  const KernelWith& kernel_with) {
  const int blocks = writers + w.agents;
  const bool agents_first = s.run().on().kind() == machine_kind::cuda && !s.run().noted();
  const auto k = kernel_with(agents_first);
  if (const std::shared_ptr<rotation> turn = w.memory->turn(s.pe())) {
    if (s.run().noted()) s.run().refuse_operation("an update of a region whose agent is copy_engine");
    w.memory->launch(s.stream(), blocks, make_kernel(k), options, s.run().take(turn));
  } else {
    s.launch(blocks, k, options);
  }
  return blocks;
}

}  // namespace region_words
}  // namespace starling
