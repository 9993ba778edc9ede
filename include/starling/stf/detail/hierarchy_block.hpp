// The threads of a hierarchy as one block runs them: its groups one after another, and of each group all threads.
#pragma once

#include "starling/stf/thread_hierarchy.hpp"

namespace starling::stf::detail {

// `All`: threads of a group may wait for each other whatever their levels say.
template <class Spec, bool All = false>
struct hierarchy_block {
  using place_t = thread_place<Spec::depth>;

  const hierarchy_map& map;
  int which;  // block, of those that share the groups
  int of;

  // call(place, group) for each thread of the block's groups.
  template <class Call>
  STARLING_HD void run(block& b, const Call& call) const {
    place_t p;
    p.map = &map;
    p.of = &b;
    if (map.block_scratch_bytes > 0) p.scratch = b.scratch<std::byte>(static_cast<index_t>(map.block_scratch_bytes));
    if constexpr (!target::on_gpu) {
      if (b.members() < map.active) return run_threads(b, p, call);
      p.mate = b.member();
    }
    p.in_block = b.member();
    if (p.in_block >= map.active) return;
    each_group(b, [&](index_t group) { run_thread(p, group, call); });
  }

 private:
  // One thread's part of a group.
  template <class Call>
  STARLING_HD void run_thread(place_t& p, index_t group, const Call& call) const {
    if constexpr (Spec::spread()) {
      const index_t member = map.first_member + group * map.active + p.in_block;
      if (member >= map.last_member) return;
      p.at[0] = map.place;
      p.at[Spec::depth - 1] = member;
    } else {
      take_digits<Spec::outer_levels() - 1, 0>(p, group);
      take_digits<Spec::depth - 1, Spec::outer_levels()>(p, p.in_block);
    }
    call(p, group);
  }
  // The places at levels Last down to First, of which `number` counts the innermost fastest.
  template <int Last, int First>
  STARLING_HD void take_digits(place_t& p, index_t number) const {
    if constexpr (Last > First) {
      const index_t fixed = Spec::static_width_of(Last);
      const index_t width = fixed != 0 ? fixed : map.width[Last];
      const index_t left = number / width;
      p.at[Last] = number - left * width;
      take_digits<Last - 1, First>(p, left);
    } else if constexpr (Last == First) {
      p.at[First] = number;
    }
  }

  // The groups of a block, one after another.
  template <class F>
  STARLING_HD void each_group(block& b, const F& f) const {
    for (index_t group = map.first_group + which; group < map.last_group; group += of) {
      f(group);
      if (group + of >= map.last_group) return;
      // Before the next group takes the scratch memory of this one.
      if (Spec::blocks_synchronise() && map.resident)
        b.sync_pe();
      else
        b.sync();
    }
  }

  // How many threads run at the same time where a block is one thread: those that may wait for each other.
  index_t threads_together() const {
    if constexpr (All || Spec::blocks_synchronise()) return map.active;
    if constexpr (Spec::spread()) return 1;
    index_t n = 1;
    for (int l = Spec::first_synchronising(); l < Spec::depth; ++l) n *= map.width[l];
    return n;
  }

  // A block that is one thread: threads that synchronise run at the same time, others one after another.
  template <class Call>
  void run_threads(block& b, const place_t& shared, const Call& call) const {
    const index_t together = threads_together();
    const auto run = [&](index_t group, index_t first, index_t mate, fiber_group* mates) {
      place_t p = shared;
      p.mates = mates;
      p.mate = mate;
      p.in_block = first + mate;
      run_thread(p, group, call);
    };
    if (together == 1) {
      each_group(b, [&](index_t group) {
        for (index_t t = 0; t < map.active; ++t) run(group, t, 0, nullptr);
      });
      return;
    }
    fiber_group mates(together);
    each_group(b, [&](index_t group) {
      for (index_t first = 0; first < map.active; first += together)
        mates.run([&](index_t mate) { run(group, first, mate, &mates); });
    });
  }
};

}  // namespace starling::stf::detail
