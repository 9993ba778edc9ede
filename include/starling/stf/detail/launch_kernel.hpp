// The kernel behind launch: body(th, data...) by every thread of a hierarchy. The body's first parameter is a
// thread_hierarchy<decltype(spec)>; generic lambdas, auto th, work in sources that nvcc does not compile.
#pragma once

#include "starling/machine/machine.hpp"
#include "starling/stf/detail/hierarchy_block.hpp"
#include "starling/stf/detail/invocable_check.hpp"
#include "starling/stf/detail/pack.hpp"

namespace starling::stf {

// Throws argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_scratch(std::size_t bytes);

template <class Spec, class Body, class... Args>
struct launch_kernel {
  static constexpr int max_threads = Spec::most_threads();

  hierarchy_map map;
  Body body;
  pack<Args...> args;

  // All that are members, so that each is one of the block's own.
  int threads_in_check() const { return static_cast<int>(map.active); }

  STARLING_HD void operator()(block& b) const { run(b, std::index_sequence_for<Args...>()); }

 private:
  template <std::size_t... I>
  STARLING_HD void run(block& b, std::index_sequence<I...>) const {
    const detail::hierarchy_block<Spec> threads{map, b.index(), b.blocks_per_pe()};
    threads.run(b, [&](const detail::thread_place<Spec::depth>& p, index_t) {
      body(thread_hierarchy<Spec>(p), get<I>(args)...);
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
