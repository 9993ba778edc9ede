// Updates by parallel_for: each thread stores elements of its block's tiles by a region_step.
#pragma once

#include "starling/region/tasks/update_blocks.hpp"
#include "starling/stf/parallel_for.hpp"

namespace starling {

// What the body of an update gets: the epoch before, whole, and where the next one is stored; v.next(i) = f(v.old, i).
template <class T>
struct region_step {
  region_view<T> old;
  tracked<T> next;
  std::uint64_t epoch;  // of `next`
};

namespace stf {
namespace detail {

template <class T>
struct in_loop<region_source<T>> {
  using given = region_view<T>;
  region_view<T> view;
  STARLING_HD explicit in_loop(const region_source<T>& s) : view(s.view()) {}
  STARLING_HD const region_view<T>& argument() const { return view; }
};
template <class T>
struct in_loop<region_writer<T>> {
  using given = region_step<T>;
  const region_step<T>* step = nullptr;  // of the tile
  STARLING_HD explicit in_loop(const region_writer<T>&) {}
  STARLING_HD const region_step<T>& argument() const { return *step; }
};

}  // namespace detail

// The kernel of an update. Tiles are distributed round-robin over the blocks that write.
template <class Body, class... Args>
struct region_loop {
  static constexpr int max_threads = for_threads;

  Body body;
  pack<Args...> args;
  bool finishes_itself;
  bool agents_first;

  STARLING_HD void operator()(block& b) const { run(b, std::index_sequence_for<Args...>()); }

 private:
  template <std::size_t... I>
  STARLING_HD void run(block& b, std::index_sequence<I...> all) const {
    run(b, region_words::writer_of(get<I>(args)...), all);
  }
  template <class T, std::size_t... I>
  STARLING_HD void run(block& b, const region_writer<T>& w, std::index_sequence<I...> all) const {
    const auto writes = [&](const region_words::update_share<T>& share) { write(b, w, share, all); };
    if (!region_words::update(b, w, agents_first, writes)) (leave_none(b, get<I>(args)), ...);
    if constexpr (has_accumulators<Args...>) {
      if (!last_to_finish(b, finishes_itself, first_partials(get<I>(args)...))) return;
      (finish(b, get<I>(args), b.blocks_per_pe()), ...);
    }
  }

  template <class T, std::size_t... I>
  STARLING_HD void write(block& b, const region_writer<T>& w, const region_words::update_share<T>& share,
                         std::index_sequence<I...>) const {
    const region_handle<T>& h = w.handle;
    pack<detail::in_loop<Args>...> mine{{{detail::in_loop<Args>(get<I>(args))}...}};
    h.deal_tiles(
        b, share.epoch, share.which, share.of,
        [&](const tile& t, const tracked<T>& next) {
          const region_step<T> step{share.old, next, share.epoch};
          (set_step(get<I>(mine), step), ...);
          h.for_each(b, t, [&](index_t i) { body(i, get<I>(mine).argument()...); });
        },
        target::on_gpu ? where::current() : w.at);
    (leave_value(b, get<I>(args), get<I>(mine)), ...);
  }

  template <class T>
  STARLING_HD static void set_step(detail::in_loop<region_writer<T>>& mine, const region_step<T>& step) {
    mine.step = &step;
  }
  template <class Mine>
  STARLING_HD static void set_step(Mine&, const auto&) {}

  template <class T, class Op>
  STARLING_HD static void leave_value(block& b, const accumulator<T, Op>& a,
                                      const detail::in_loop<accumulator<T, Op>>& mine) {
    stf::leave_value(b, a, mine.value);
  }
  template <class Arg>
  STARLING_HD static void leave_value(block&, const Arg&, const detail::in_loop<Arg>&) {}
  template <class T, class Op>
  STARLING_HD static void leave_none(block& b, const accumulator<T, Op>& a) {
    stf::leave_value(b, a, reducer::identity_of<Op, T>(a.op));
  }
  template <class Arg>
  STARLING_HD static void leave_none(block&, const Arg&) {}
};

// How parallel_for launches an update.
template <class Together, class Part, class Body, class... Args>
  requires(region_words::is_writer<Args> || ...)
void enqueue_for(task_stream<Together>&& s, const launch_plan& plan, const Part&, const Body& body,
                 const Args&... args) {
  if constexpr (detail::check_body<Part, Body, Args...>()) {
    const auto& w = region_words::writer_of(args...);
    const int writers = std::clamp(w.tiles, 1, std::min(plan.blocks, detail::most_blocks - w.agents));
    const launch_options options{.threads = plan.threads, .scratch_bytes = plan.scratch_bytes};
    const int blocks = region_words::launch_update(s, w, writers, options, [&](bool agents_first) {
      return region_loop<Body, Args...>{body, {{{args}...}}, plan.finishes_itself, agents_first};
    });
    if constexpr (has_accumulators<Args...>)
      if (!plan.finishes_itself && blocks > 1)
        s.launch(1, finish_kernel<Args...>{{{{args}...}}, blocks}, {.threads = for_threads});
  }
}

}  // namespace stf
}  // namespace starling
