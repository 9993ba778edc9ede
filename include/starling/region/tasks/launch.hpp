// Updates by launch: the groups of a thread hierarchy that are blocks share the tiles.
//
//   ctx.launch(spec, stf::exec_place::all_devices(), x.update(), A.read())  // stf::par(stf::con<128>())
//       ->*[] STARLING_HD (hierarchy th, region_tiles<float> v, stf::slice<const float> a) {
//         v.each_tile([&](const tile& t, const tracked<float>& next) {
//           v.for_each(t, [&](index_t i) { next(i) = f(v.old, i, a(i)); });  // or by th.inner()
//         });
//       };
//
// The tiles are committed one by one, and blocks of the agent are part of the launch, as in loops.
#pragma once

#include "starling/region/tasks/loop.hpp"
#include "starling/stf/launch.hpp"

namespace starling {

namespace region_words {

// The tile that threads of a block write together where the block is one thread of a virtual device.
template <class T>
struct tile_of_mates {
  const starling::tile* tile = nullptr;  // null: there are no more
  const tracked<T>* next = nullptr;
};

// A thread of a launch that updates a region, and its group among those of the PE.
template <class T>
struct tile_thread {
  const region_writer<T>* region;
  block* of;
  stf::fiber_group* mates;  // as thread_place has them
  tile_of_mates<T>* shared;
  index_t in_block;
  index_t threads;  // of the group
  index_t group;
  index_t groups;
  bool called = false;  // each_tile

  STARLING_HD void refuse(region_defect what, where at) const {
    const region_fault f{what, group, static_cast<std::uint64_t>(groups), 0};
    region_words::refuse(of->thread(), f, at);
  }
};

}  // namespace region_words

// What the body of a launch gets for x.update().
template <class T>
class region_tiles {
 public:
  region_view<T> old;   // the newest epoch, whole
  std::uint64_t epoch;  // that is written

  // Made by the launch.
  STARLING_HD region_tiles(const region_words::update_share<T>& share, region_words::tile_thread<T>& me)
      : old(share.old), epoch(share.epoch), me_(&me) {}

  // A collective of all threads of a block, which every group calls once. The tiles of the PE's part are distributed
  // round-robin over the groups of its blocks: over the members of the levels that are blocks. Calls f(tile, next) for
  // each that is this group's, with all its threads; f stores every element of the tile through next(i) = value, by
  // whatever threads, or all call tile.unchanged(). When f returns the tile is committed, and the threads have met: the
  // next may use the scratch memory of the last.
  template <class F>
  STARLING_HD void each_tile(const F& f, where at = where::current()) const {
    region_words::tile_thread<T>& me = *me_;
    if (me.called) me.refuse(region_defect::tiles_again, at);
    me.called = true;
    if constexpr (!target::on_gpu)
      if (me.mates != nullptr) return among_mates(f, at);
    deal(f, at);
  }

  // f(i) for every element of a tile, whatever its mapping; by the threads of the block in turn.
  template <class F>
  STARLING_HD void for_each(const tile& t, const F& f) const {
    for (int k = 0; k < t.count; ++k)
      for (index_t i = t.ranges[k].begin + me_->in_block; i < t.ranges[k].end; i += me_->threads) f(i);
  }

 private:
  template <class F>
  STARLING_HD void deal(const F& f, where at) const {
    constexpr index_t most = index_t{1} << 30;  // tiles are fewer
    const auto which = static_cast<int>(most < me_->group ? most : me_->group);
    const auto of = static_cast<int>(most < me_->groups ? most : me_->groups);
    me_->region->handle.deal_tiles(*me_->of, epoch, which, of, f, at);
  }

  // To the region the block is one thread: the first of the group's stands for it.
  template <class F>
  void among_mates(const F& f, where at) const {
    region_words::tile_of_mates<T>& now = *me_->shared;
    const auto meet = [&] { me_->mates->sync(0, me_->threads, at); };
    if (me_->in_block == 0) {
      const auto together = [&](const tile& t, const tracked<T>& next) {
        now = {&t, &next};
        meet();
        f(t, next);
        meet();
      };
      deal(together, at);
      now = {};
      return meet();
    }
    for (meet(); now.tile != nullptr; meet()) {
      f(*now.tile, *now.next);
      meet();
    }
  }

  region_words::tile_thread<T>* me_;
};

namespace stf {
namespace detail {

// What the body of a launch gets for an argument.
template <class Arg>
struct in_launch {
  using given = Arg;
  template <class T>
  STARLING_HD static const Arg& of(const Arg& a, const region_tiles<T>&) {
    return a;
  }
};
template <class T>
struct in_launch<region_writer<T>> {
  using given = region_tiles<T>;
  template <class U>
  STARLING_HD static const region_tiles<T>& of(const region_writer<T>&, const region_tiles<U>& tiles) {
    static_assert(std::is_same_v<T, U>, "a launch updates one region: use a launch for each");
    return tiles;
  }
};

}  // namespace detail

// The kernel of an update.
template <class Spec, class Body, class... Args>
struct region_launch {
  static constexpr int max_threads = Spec::most_threads();

  hierarchy_map map;
  Body body;
  pack<Args...> args;
  bool agents_first;

  int threads_in_check() const { return static_cast<int>(map.active); }

  STARLING_HD void operator()(block& b) const { run(b, std::index_sequence_for<Args...>()); }

 private:
  template <std::size_t... I>
  STARLING_HD void run(block& b, std::index_sequence<I...> all) const {
    run(b, region_words::writer_of(get<I>(args)...), all);
  }
  template <class T, std::size_t... I>
  STARLING_HD void run(block& b, const region_writer<T>& w, std::index_sequence<I...> all) const {
    const auto writes = [&](const region_words::update_share<T>& share) { write(b, w, share, all); };
    region_words::update(b, w, agents_first, writes);
  }

  template <class T, std::size_t... I>
  STARLING_HD void write(block& b, const region_writer<T>& w, const region_words::update_share<T>& share,
                         std::index_sequence<I...>) const {
    const index_t groups = map.last_group - map.first_group;
    region_words::tile_of_mates<T> shared;
    const detail::hierarchy_block<Spec, true> threads{map, share.which, share.of};
    threads.run(b, [&](const detail::thread_place<Spec::depth>& p, index_t group) {
      region_words::tile_thread<T> me{&w,    p.of, p.mates, &shared, p.in_block, map.active, group - map.first_group,
                                      groups};
      const region_tiles<T> tiles(share, me);
      body(thread_hierarchy<Spec>(p), detail::in_launch<Args>::of(get<I>(args), tiles)...);
      if (!me.called) me.refuse(region_defect::left_tiles, target::on_gpu ? where::current() : w.at);
    });
  }
};

// How launch plans an update: as others, with room for the agent's blocks where it chooses how many there are.
template <class Spec, class Body, class... Args>
  requires(region_words::is_writer<Args> || ...)
hierarchy_map plan_launch(const machine& m, const Spec& spec, int place_index, int place_count, const Body& body,
                          const Args&... args) {
  if constexpr (check_callable<Body, thread_hierarchy<Spec>, typename detail::in_launch<Args>::given...>()) {
    const auto fit = [&](int threads, std::size_t scratch) {
      const region_launch<Spec, Body, Args...> k{{}, body, {{{args}...}}, true};
      const int all = m.blocks_that_fit(k, launch_options{.threads = threads, .scratch_bytes = scratch});
      return all == 0 ? 0 : std::max(1, all - region_words::writer_of(args...).agents);
    };
    return map_hierarchy(spec, place_index, place_count, m.kind() == machine_kind::cuda, fit);
  } else {
    return {};
  }
}

template <class Together, class Spec, class Body, class... Args>
  requires(region_words::is_writer<Args> || ...)
void enqueue_launch(task_stream<Together>&& s, const hierarchy_map& map, const Spec&, const Body& body,
                    const Args&... args) {
  if constexpr (check_callable<Body, thread_hierarchy<Spec>, typename detail::in_launch<Args>::given...>()) {
    const auto& w = region_words::writer_of(args...);
    // Blocks take groups in turn.
    const int writers = std::min(map.blocks, detail::most_blocks - w.agents);
    const launch_options options{.threads = map.threads, .scratch_bytes = map.block_scratch_bytes};
    region_words::launch_update(s, w, writers, options, [&](bool agents_first) {
      return region_launch<Spec, Body, Args...>{map, body, {{{args}...}}, agents_first};
    });
  }
}

}  // namespace stf
}  // namespace starling
