// thread_hierarchy<Spec>: what the body of a launch is given first, th. It tells the thread where it is, synchronises
// groups, and partitions shapes among threads. th.inner() is the same hierarchy without its outermost level; levels are
// counted from the outermost of the one that is asked.
#pragma once

#include "starling/device/block.hpp"
#include "starling/device/bounds.hpp"
#include "starling/stf/detail/fiber_group.hpp"
#include "starling/stf/detail/hierarchy_map.hpp"
#include "starling/stf/partition.hpp"
#include "starling/stf/slice.hpp"

namespace starling::stf {

// Throw range_error and argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_level(int level, int depth);
[[noreturn]] void refuse_sync(int level);

namespace detail {

// Where a thread is, and what it synchronises with. Levels are compile-time numbers wherever the place is looked at, so
// that all of it can be kept in registers.
template <int Depth>
struct thread_place {
  const hierarchy_map* map = nullptr;
  block* of = nullptr;
  fiber_group* mates = nullptr;  // virtual devices, whose block is one thread: what runs at the same time, or null
  index_t mate = 0;              // virtual devices: this one's number among those that run at the same time
  index_t in_block = 0;          // and in its block
  std::byte* scratch = nullptr;  // of the block
  index_t at[Depth] = {};
};

}  // namespace detail

template <class Spec, int First = 0>
class thread_hierarchy {
  static_assert(First < Spec::depth, "inner(): there is no level below");

 public:
  // Made by the launch.
  STARLING_HD explicit thread_hierarchy(const detail::thread_place<Spec::depth>& p) : p_(p) {}

  STARLING_HD static constexpr int depth() { return Spec::depth - First; }
  // 0 where the width is not static.
  template <int Level>
  static constexpr index_t static_width = Spec::static_width_of(First + Level);

  // ---- where ----

  // This thread among all of the hierarchy; and how many those are, over all places.
  STARLING_HD index_t rank() const { return rank_from<First>(0); }
  STARLING_HD index_t size() const { return product<First>(); }
  // This thread's group among those of the level above; how many members the level has.
  STARLING_HD index_t rank(int level) const { return has(level) ? at_level<First>(First + level) : 0; }
  STARLING_HD index_t size(int level) const { return has(level) ? width_at<First>(First + level) : 1; }

  STARLING_HD auto inner() const { return thread_hierarchy<Spec, First + 1>(p_); }

  // ---- together ----

  // Barrier of all threads of the hierarchy, or of those that share its levels further out: of the group of a level.
  // Orders their accesses to memory. All threads of the group must call it.
  STARLING_HD void sync(where at = where::current()) const {
    static_assert(Spec::synchronises(First),
                  "sync(): the outermost level of this hierarchy is par; make it con, or "
                  "synchronise a level further in: th.sync(level), th.inner().sync()");
    static_assert(!Spec::synchronises(First) || Spec::can_synchronise(First),
                  "sync(): a level of several blocks can synchronise only if no con level is outside of it");
    if constexpr (Spec::can_synchronise(First)) sync_group<First>(at);
  }
  // The same of a level. One that cannot synchronise ends the launch: argument_error.
  STARLING_HD void sync(int level, where at = where::current()) const { sync_level<First>(First + level, at); }

  // The scratch memory of a level: mem(bytes) of its specification, shared by the level's members. Not initialised.
  template <class T>
  STARLING_HD slice<T> storage(int level) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16, "storage holds trivially copyable types");
    return has(level) ? storage_at<T, First>(First + level) : slice<T>(nullptr, 0);
  }

  // ---- shapes ----

  // This thread's part of a shape: blocked over the places, as data is; cyclic over the threads of a place, so that
  // neighbours touch neighbours.
  template <shape_like Shape>
  STARLING_HD auto apply_partition(const Shape& s) const {
    if constexpr (detail::box_like<Shape>)
      return in_turns(detail::every(detail::as_box(s), 0, 1, s.size()));
    else
      return in_turns(detail::every(s, 0, 1, s.size()));
  }
  // With one partitioner, over all threads at once; with one for each level, one after the other.
  template <shape_like Shape, class... Partitioners>
    requires(sizeof...(Partitioners) >= 1)
  STARLING_HD auto apply_partition(const Shape& s, const Partitioners&... p) const {
    constexpr int n = static_cast<int>(sizeof...(Partitioners));
    static_assert(n == 1 || n == Spec::depth - First,
                  "apply_partition: one partitioner, or one for each level of the hierarchy");
    if constexpr (n == 1)
      return (p.part(s, rank(), size()), ...);
    else
      return part_of<First>(s, p...);
  }

 private:
  template <int L>
  STARLING_HD index_t width() const {
    if constexpr (Spec::static_width_of(L) != 0)
      return Spec::static_width_of(L);
    else
      return p_.map->width[L];
  }
  template <int L>
  STARLING_HD index_t product() const {
    if constexpr (L == Spec::depth)
      return 1;
    else
      return width<L>() * product<L + 1>();
  }
  template <int L>
  STARLING_HD index_t rank_from(index_t before) const {
    if constexpr (L == Spec::depth)
      return before;
    else
      return rank_from<L + 1>(before * width<L>() + p_.at[L]);
  }
  template <int L>
  STARLING_HD index_t at_level(int l) const {
    if constexpr (L == Spec::depth - 1)
      return p_.at[L];
    else
      return l == L ? p_.at[L] : at_level<L + 1>(l);
  }
  template <int L>
  STARLING_HD index_t width_at(int l) const {
    if constexpr (L == Spec::depth - 1)
      return width<L>();
    else
      return l == L ? width<L>() : width_at<L + 1>(l);
  }
  STARLING_HD bool has(int level) const {
    if (level >= 0 && level < depth()) return true;
    if constexpr (!target::on_gpu) refuse_level(level, depth());
    return false;
  }

  // Threads of a place take turns: at any moment they are all near each other in memory.
  template <class Sub>
  STARLING_HD Sub in_turns(const Sub& s) const {
    if constexpr (First == 0) {
      const index_range here = share(width<0>(), p_.map->places, p_.map->place);
      const index_t begin = share(s.size(), width<0>(), here.begin).begin;
      const index_t end = share(s.size(), width<0>(), here.end - 1).end;
      constexpr int next = Spec::depth > 1 ? 1 : 0;
      const index_t inner = Spec::depth > 1 ? product<next>() : 1;
      const index_t rank = (p_.at[0] - here.begin) * inner + (Spec::depth > 1 ? rank_from<next>(0) : 0);
      return detail::round_robin(detail::numbers(s, {begin, end}), rank, here.size() * inner);
    } else {
      return detail::round_robin(s, rank(), size());
    }
  }
  template <int Level, class Shape, class P, class... More>
  STARLING_HD auto part_of(const Shape& s, const P& p, const More&... more) const {
    const auto mine = p.part(s, p_.at[Level], width<Level>());
    if constexpr (sizeof...(More) == 0)
      return mine;
    else
      return part_of<Level + 1>(mine, more...);
  }

  template <class T, int L>
  STARLING_HD slice<T> storage_at(int l) const {
    if constexpr (L < Spec::depth - 1)
      if (l != L) return storage_at<T, L + 1>(l);
    const hierarchy_map& m = *p_.map;
    const auto n = static_cast<index_t>(m.scratch_bytes[L] / sizeof(T));
    if (n == 0) return slice<T>(nullptr, 0);
    std::byte* start = (m.scratch_in_block[L] ? p_.scratch : m.device_scratch) + m.scratch_start[L];
    return slice<T>(reinterpret_cast<T*>(start + static_cast<std::size_t>(number_of_group<L>()) * m.scratch_bytes[L]),
                    n);
  }
  // The number of this thread's group at a level: of those in its block, or on its place.
  template <int L>
  STARLING_HD index_t number_of_group() const {
    if constexpr (L >= Spec::outer_levels() && !Spec::spread())
      return p_.in_block / product<L>();
    else if constexpr (L == 0)
      return 0;
    else
      return number_from<1, L>(p_.at[0] - p_.map->first_of_outermost);
  }
  template <int K, int L>
  STARLING_HD index_t number_from(index_t before) const {
    if constexpr (K == L)
      return before;
    else
      return number_from<K + 1, L>(before * width<K>() + p_.at[K]);
  }

  template <int L>
  STARLING_HD void sync_level(int l, where at) const {
    if constexpr (L < Spec::depth) {
      if constexpr (Spec::can_synchronise(L))
        if (l == L) return sync_group<L>(at);
      sync_level<L + 1>(l, at);
    } else {
      if constexpr (target::on_gpu)
        end_without_level(*p_.of, l - First, at);
      else
        refuse_sync(l - First);
    }
  }

  template <int L>
  STARLING_HD void sync_group(where at) const {
    constexpr bool within_block = L >= Spec::outer_levels() && !Spec::spread();
    if constexpr (!within_block) {
      if constexpr (target::on_gpu) {
        if (p_.map->resident)
          p_.of->sync_pe(at);
        else
          target::sync_block();
      } else if (p_.mates == nullptr && p_.map->resident) {
        p_.of->sync_pe(at);
      } else {
        sync_mates(0, p_.map->active, at);
        if (!p_.map->resident) return;
        if (p_.mate == 0) p_.of->sync_pe(at);
        sync_mates(0, p_.map->active, at);
      }
    } else {
      const index_t n = product<L>();
      if constexpr (target::on_gpu && L == Spec::outer_levels())
        target::sync_block();
      else if constexpr (target::on_gpu)
        sync_part(n);
      else
        sync_mates(p_.mate / n * n, n, at);
    }
  }
  void sync_mates(index_t first, index_t count, where at) const {
    if (p_.mates != nullptr)
      p_.mates->sync(first, count, at);
    else if (count == p_.of->members())
      p_.of->sync(at);
    else if (count > 1)
      p_.of->port().sync_part(static_cast<int>(first), static_cast<int>(count), at);
  }
  STARLING_HD void sync_part(index_t n) const {
    if (n == p_.map->active) return target::sync_block();
    const auto group = static_cast<int>(p_.in_block / n);
    if (n > 32) return target::sync_part(1 + group, static_cast<int>(n));
    const auto first = static_cast<unsigned>(p_.in_block % 32 / n * n);
    const unsigned lanes = n == 32 ? 0xffffffffu : (1u << static_cast<unsigned>(n)) - 1;
    target::sync_lanes(lanes << first);
  }

  detail::thread_place<Spec::depth> p_;
};

// The same of a specification that is const, as decltype says of a variable that is.
template <class Spec, int First>
class thread_hierarchy<const Spec, First> : public thread_hierarchy<Spec, First> {
 public:
  STARLING_HD thread_hierarchy(const thread_hierarchy<Spec, First>& th)  // NOLINT: bodies take either
      : thread_hierarchy<Spec, First>(th) {}
};

// What a launch without a specification has: blocks, and threads of a block, which may synchronise.
inline constexpr auto default_spec = par(con());
using default_hierarchy = thread_hierarchy<decltype(default_spec)>;

}  // namespace starling::stf
