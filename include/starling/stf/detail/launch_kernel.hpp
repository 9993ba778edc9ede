// The kernel behind launch: body(th, data...) by every thread of a hierarchy. The body's first parameter is a
// thread_hierarchy<decltype(spec)>; generic lambdas, auto th, work in sources that nvcc does not compile.
#pragma once

#include "starling/machine/machine.hpp"
#include "starling/stf/detail/invocable_check.hpp"
#include "starling/stf/detail/pack.hpp"
#include "starling/stf/thread_hierarchy.hpp"

namespace starling::stf {

// Throws argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_scratch(std::size_t bytes);

template <class Spec, class Body, class... Args>
struct launch_kernel {
  static constexpr int max_threads = Spec::most_threads();
  using place_t = detail::thread_place<Spec::depth>;

  hierarchy_map map;
  Body body;
  pack<Args...> args;

  // All that are members, so that each is one of the block's own.
  int threads_in_check() const { return static_cast<int>(map.active); }

  STARLING_HD void operator()(block& b) const {
    place_t p;
    p.map = &map;
    p.of = &b;
    if (map.block_scratch_bytes > 0) p.scratch = b.scratch<std::byte>(static_cast<index_t>(map.block_scratch_bytes));
    if constexpr (!target::on_gpu) {
      if (b.members() < map.active) return run_threads(b, p);
      p.mate = b.member();
    }
    p.in_block = b.member();
    if (p.in_block >= map.active) return;
    each_group(b, [&](index_t group) { run_thread(p, group); });
  }

 private:
  // One thread's part of a group.
  STARLING_HD void run_thread(place_t& p, index_t group) const {
    if constexpr (Spec::spread()) {
      const index_t member = map.first_member + group * map.active + p.in_block;
      if (member >= map.last_member) return;
      p.at[0] = map.place;
      p.at[Spec::depth - 1] = member;
    } else {
      take_digits<Spec::outer_levels() - 1, 0>(p, group);
      take_digits<Spec::depth - 1, Spec::outer_levels()>(p, p.in_block);
    }
    call(thread_hierarchy<Spec>(p), std::index_sequence_for<Args...>());
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
  template <std::size_t... I>
  STARLING_HD void call(const thread_hierarchy<Spec>& th, std::index_sequence<I...>) const {
    body(th, get<I>(args)...);
  }

  // The groups of a block, one after another.
  template <class F>
  STARLING_HD void each_group(block& b, const F& run) const {
    for (index_t group = map.first_group + b.index(); group < map.last_group; group += b.blocks_per_pe()) {
      run(group);
      if (group + b.blocks_per_pe() >= map.last_group) return;
      // Before the next group takes the scratch memory of this one.
      if (Spec::blocks_synchronise() && map.resident)
        b.sync_pe();
      else
        b.sync();
    }
  }

  // How many threads run at the same time where a block is one thread: those that may wait for each other.
  index_t threads_together() const {
    if constexpr (Spec::blocks_synchronise()) return map.active;
    if constexpr (Spec::spread()) return 1;
    index_t n = 1;
    for (int l = Spec::first_synchronising(); l < Spec::depth; ++l) n *= map.width[l];
    return n;
  }

  // A block that is one thread: threads that synchronise run at the same time, others one after another.
  void run_threads(block& b, const place_t& shared) const {
    const index_t together = threads_together();
    const auto run = [&](index_t group, index_t first, index_t mate, fiber_group* mates) {
      detail::thread_place p = shared;
      p.mates = mates;
      p.mate = mate;
      p.in_block = first + mate;
      run_thread(p, group);
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

// How a hierarchy lies on a place: one of `place_count` that share it, a PE of `m` each.
template <class Spec, class Body, class... Args>
hierarchy_map plan_launch(const machine& m, const Spec& spec, int place_index, int place_count, const Body& body,
                          const Args&... args) {
  if constexpr (check_callable<Body, thread_hierarchy<Spec>, Args...>()) {
    const auto fit = [&](int threads, std::size_t scratch) {
      const launch_kernel<Spec, Body, Args...> k{{}, body, {{{args}...}}};
      return m.blocks_that_fit(k, launch_options{.threads = threads, .scratch_bytes = scratch});
    };
    return map_hierarchy(spec, place_index, place_count, m.kind() == machine_kind::cuda, fit);
  } else {
    return {};
  }
}

// Puts the launch into a stream, or a task_stream, as planned. map.device_scratch must be memory of
// map.device_scratch_bytes.
template <class Stream, class Spec, class Body, class... Args>
void enqueue_launch(Stream&& s, const hierarchy_map& map, const Spec&, const Body& body, const Args&... args) {
  if constexpr (check_callable<Body, thread_hierarchy<Spec>, Args...>()) {
    if (map.device_scratch_bytes > 0 && map.device_scratch == nullptr) refuse_scratch(map.device_scratch_bytes);
    if (map.blocks == 0) return;
    s.launch(map.blocks, launch_kernel<Spec, Body, Args...>{map, body, {{{args}...}}},
             {.threads = map.threads, .scratch_bytes = map.block_scratch_bytes, .resident = map.resident});
  }
}

// Both, for hierarchies whose scratch memory fits into blocks; others are refused with argument_error.
template <class Spec, class Body, class... Args>
void enqueue_launch(stream& s, machine& m, const Spec& spec, int place_index, int place_count, const Body& body,
                    const Args&... args) {
  enqueue_launch(s, plan_launch(m, spec, place_index, place_count, body, args...), spec, body, args...);
}

}  // namespace starling::stf
