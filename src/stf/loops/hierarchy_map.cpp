#include "starling/stf/detail/hierarchy_map.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "starling/stf/detail/launch_kernel.hpp"

namespace starling::stf {

void refuse_width(index_t width) {
  throw argument_error(
      message("par or con: a width of ", width, "; must be at least 1, or left out for an automatic one"));
}

void refuse_level(int level, int depth) {
  throw range_error(message("launch: level ", level, " of a hierarchy with ", depth, depth == 1 ? " level" : " levels",
                            "; levels are numbered from 0, the outermost"));
}

void refuse_sync(int level) {
  throw argument_error(message("sync(", level,
                               "): this level cannot synchronise: it is par, is not there, or has "
                               "several blocks and a con level outside; make it con, or synchronise another level"));
}

void refuse_scratch(std::size_t bytes) {
  throw argument_error(message("launch: mem of a level that has several blocks needs ", bytes,
                               " bytes of device memory; plan the launch, allocate map.device_scratch_bytes, set "
                               "map.device_scratch, and enqueue the plan"));
}

namespace {

constexpr index_t most_threads = 1024;
constexpr index_t warp = 32;
// Blocks of a launch that takes its groups in turns.
constexpr index_t blocks_in_turns = index_t{1} << 20;
// Virtual devices run the threads of a block one after another: as many as it takes to try what a body does.
constexpr index_t virtual_threads = 32;
constexpr index_t virtual_blocks = 4;
constexpr int part_barriers = 15;  // that a block of a GPU has beside its own

index_t times(index_t a, index_t b) {
  index_t product = 0;
  expect<argument_error>(!__builtin_mul_overflow(a, b, &product), "launch: a hierarchy of more than 2^63 threads (", a,
                         " x ", b, "); use smaller widths");
  return product;
}

class mapper {
 public:
  mapper(const level_facts* levels, int depth, bool on_gpus,
         const std::function<int(int, std::size_t)>& blocks_that_fit)
      : levels_(levels), depth_(depth), on_gpus_(on_gpus), blocks_that_fit_(blocks_that_fit) {
    while (outer_ < depth_ && levels_[outer_].finest != hardware::thread) ++outer_;
    spread_ = outer_ < depth_ && levels_[depth_ - 1].coarsest != hardware::thread;
    while (first_sync_ < depth_ && !levels_[first_sync_].synchronises) ++first_sync_;
  }

  hierarchy_map map(int place, int places) {
    expect<argument_error>(places >= 1 && place >= 0 && place < places, "launch: place ", place, " of ", places,
                           "; places are numbered from 0");
    map_.place = place;
    map_.places = places;
    for (int l = 0; l < depth_; ++l) map_.width[l] = levels_[l].width;
    check_places();
    map_threads();
    place_scratch();
    map_.threads = static_cast<int>(round_up(map_.active, warp));
    map_blocks();
    size_scratch();
    return map_;
  }

 private:
  const level_facts& last() const { return levels_[depth_ - 1]; }
  bool spans_places() const { return levels_[0].coarsest == hardware::device; }
  // Whether blocks would have to wait for each other.
  bool blocks_synchronise() const { return first_sync_ < outer_ || (spread_ && last().synchronises); }
  index_t& width(int l) { return map_.width[l]; }
  index_t product(int from, int to) const {
    index_t n = 1;
    for (int l = from; l < to && l < most_levels; ++l) n = times(n, std::max<index_t>(1, map_.width[l]));
    return n;
  }

  void check_places() {
    expect<argument_error>(map_.places == 1 || spans_places(), "launch: ", map_.places,
                           " places for a hierarchy whose outermost level is forced onto one device; leave hw_scope "
                           "out there, or launch on one place");
    expect<unsupported_error>(map_.places == 1 || !levels_[0].synchronises, "launch: the outermost level is con over ",
                              map_.places,
                              " places, and threads of different devices cannot synchronise in a launch; "
                              "use par outermost, one place, or machine::run with sync_all");
    if (levels_[0].finest != hardware::device) return;
    expect<argument_error>(width(0) == 0 || width(0) == map_.places, "launch: level 0 is hw_scope::device with width ",
                           width(0), " on ", map_.places, " places; leave the width out");
    width(0) = map_.places;
  }

  // Levels that are threads of a block, or the block's part of the level that is spread.
  void map_threads() {
    if (spread_) return map_spread_threads();
    const index_t given = product(outer_, depth_);
    const index_t usual = on_gpus_ ? index_t{usual_threads} : first_sync_ < depth_ ? virtual_threads : 1;
    for (int l = depth_ - 1; l >= outer_; --l)
      if (width(l) == 0) width(l) = std::max<index_t>(1, usual / product(outer_, depth_));
    map_.active = product(outer_, depth_);
    expect<argument_error>(map_.active <= most_threads, "launch: ", given, " threads in a block; at most ",
                           most_threads, ", so move a level to hw_scope::block or use smaller widths");
    for (int l = first_sync_; l < depth_; ++l)
      if (l >= outer_ && levels_[l].synchronises) check_part(l, product(l, depth_));
  }

  // A group of threads that synchronises must be one that a GPU's block can make.
  void check_part(int l, index_t size) {
    if (size == map_.active) return;
    const bool in_warp = size <= warp && warp % size == 0;
    const bool of_warps = size % warp == 0 && map_.active / size <= part_barriers;
    expect<argument_error>(in_warp || of_warps, "launch: groups of ", size, " threads that synchronise at level ", l,
                           ", ", map_.active / size,
                           " in a block; they must be 1, 2, 4, 8, 16 or 32 threads, or a "
                           "multiple of 32 with at most ",
                           part_barriers, " groups");
  }

  void map_spread_threads() {
    const int l = depth_ - 1;
    if (width(l) == 0) {
      map_.active = on_gpus_ ? index_t{usual_threads} : last().synchronises ? virtual_threads : 1;
    } else if (!last().synchronises) {
      map_.active = std::min(width(l), on_gpus_ ? index_t{usual_threads} : virtual_threads);
    } else if (width(l) <= most_threads) {
      map_.active = width(l);
    } else {
      index_t t = usual_threads;
      while (t > 0 && width(l) % t != 0) t -= warp;
      expect<argument_error>(t > 0, "launch: con of ", width(l), " threads in several blocks; more than ", most_threads,
                             " must be a multiple of ", warp, ": use ", round_up(width(l), warp));
      map_.active = t;
    }
  }

  // Whether the group of a level is certainly within one block.
  bool one_block(int l) const {
    if (spread_ && l == depth_ - 1) return last().synchronises && map_.width[l] != 0 && map_.width[l] <= most_threads;
    return l >= outer_;
  }

  void place_scratch() {
    for (int l = 0; l < depth_; ++l) {
      map_.scratch_bytes[l] = static_cast<std::size_t>(round_up(static_cast<index_t>(levels_[l].scratch_bytes), 16));
      map_.scratch_in_block[l] = one_block(l);
      if (map_.scratch_bytes[l] == 0 || !map_.scratch_in_block[l]) continue;
      map_.scratch_start[l] = map_.block_scratch_bytes;
      const index_t groups = spread_ ? 1 : map_.active / product(l, depth_);
      map_.block_scratch_bytes += map_.scratch_bytes[l] * static_cast<std::size_t>(groups);
    }
  }

  index_t fit() {
    if (fit_ == 0) {
      fit_ = blocks_that_fit_(map_.threads, map_.block_scratch_bytes);
      expect<launch_error>(fit_ >= 1, "launch: no block of ", map_.threads, " threads with ", map_.block_scratch_bytes,
                           " bytes of scratch memory fits on the device; use smaller widths or less mem");
    }
    return fit_;
  }
  // How many blocks an automatic width aims at on one place.
  index_t blocks_wanted() { return on_gpus_ ? fit() : std::min(fit(), virtual_blocks); }

  void map_blocks() {
    if (spread_)
      map_spread_blocks();
    else
      map_outer_levels();
    if (map_.first_group >= map_.last_group) map_.blocks = 0;
    map_.resident = map_.blocks > 1 && blocks_synchronise();
    if (!map_.resident) return;
    expect<argument_error>(map_.active % warp == 0, "launch: blocks of ", map_.active,
                           " threads synchronise with each other; the threads of a block must be a multiple of ", warp);
    expect<launch_error>(map_.blocks <= fit(), "launch: ", map_.blocks,
                         " blocks synchronise with each other, and the device holds ", fit(),
                         " of them at once; use smaller widths, or leave one out");
  }

  void map_spread_blocks() {
    const int l = depth_ - 1;
    const index_t places = l == 0 ? map_.places : 1;
    if (width(l) == 0) width(l) = times(times(blocks_wanted(), map_.active), places);
    const index_range mine = share(width(l), places, l == 0 ? map_.place : 0);
    map_.first_member = mine.begin;
    map_.last_member = mine.end;
    map_.first_of_outermost = l == 0 ? mine.begin : map_.place;
    map_.last_group = ceil_div(mine.size(), map_.active);
    const index_t most = last().synchronises ? map_.last_group : on_gpus_ ? blocks_in_turns : virtual_blocks;
    expect_few(map_.last_group, most);
    map_.blocks = static_cast<int>(std::min(map_.last_group, most));
  }

  void map_outer_levels() {
    const bool waves = first_sync_ > 0 && first_sync_ < outer_;  // levels further out are taken in turns
    index_t left = -1;
    for (int l = outer_ - 1; l >= 0; --l) {
      if (width(l) != 0) continue;
      const index_t places = l == 0 && spans_places() ? map_.places : 1;
      if (left < 0 && (!waves || l >= first_sync_)) {
        left = 1;
        const index_t all_places = spans_places() ? map_.places : 1;
        const index_t given = product(waves ? first_sync_ : 0, outer_);
        index_t n = times(blocks_wanted(), waves ? 1 : all_places) / given;
        if (!waves && l > 0 && width(0) == 0) n /= all_places;  // level 0 gets one member for each place
        width(l) = std::max<index_t>(1, n);
        if (l == 0) width(l) = std::max(width(l), places);
      } else {
        width(l) = places;
      }
    }
    const index_t each = product(1, outer_);
    const index_range mine = outer_ == 0 ? index_range{0, 1} : share(width(0), map_.places, map_.place);
    map_.first_of_outermost = mine.begin;
    map_.first_group = times(mine.begin, each);
    map_.last_group = times(mine.end, each);
    const index_t groups = map_.last_group - map_.first_group;
    const index_t together = waves ? product(first_sync_, outer_) : groups;
    const index_t most = first_sync_ < outer_ ? together : on_gpus_ ? blocks_in_turns : virtual_blocks;
    expect_few(together, most);
    map_.blocks = static_cast<int>(std::min({groups, together, most}));
  }

  void expect_few(index_t groups, index_t most) {
    expect<launch_error>(std::min(groups, most) <= blocks_in_turns, "launch: ", groups,
                         " blocks that synchronise; use smaller widths");
  }

  // Memory for levels whose groups are larger than a block: one piece for each group of this place.
  void size_scratch() {
    for (int l = 0; l < depth_; ++l) {
      if (map_.scratch_bytes[l] == 0 || map_.scratch_in_block[l]) continue;
      map_.scratch_start[l] = map_.device_scratch_bytes;
      index_t groups = 1;
      if (l > 0) groups = times(share(width(0), map_.places, map_.place).size(), product(1, l));
      map_.device_scratch_bytes +=
          static_cast<std::size_t>(times(static_cast<index_t>(map_.scratch_bytes[l]), std::max<index_t>(1, groups)));
    }
  }

  const level_facts* levels_;
  int depth_;
  bool on_gpus_;
  const std::function<int(int, std::size_t)>& blocks_that_fit_;
  int outer_ = 0;
  bool spread_ = false;
  int first_sync_ = 0;
  index_t fit_ = 0;
  hierarchy_map map_;
};

}  // namespace

hierarchy_map map_levels(const level_facts* levels, int depth, int place, int places, bool on_gpus,
                         const std::function<int(int, std::size_t)>& blocks_that_fit) {
  return mapper(levels, depth, on_gpus, blocks_that_fit).map(place, places);
}

}  // namespace starling::stf
