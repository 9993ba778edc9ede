// Threads of a warp and what orders them: its barrier does, votes and values handed on do not; its calls are made by
// all of its threads. The seed says how many those are, so that some schedules have warps of several.
#include "wrong/wrong.hpp"

namespace starling::test::warps_tests {
namespace {

const std::vector<defect> within = {defect::within_block};
const std::vector<std::string> no_barrier = {"no barrier of the block is between", "b.warp().sync()", "in warps of",
                                             "warps_kernels.cpp:"};
constexpr index_t most = 1024;  // threads

// Each lane reads what its neighbour has just written.
WRONG_PROGRAM(neighbour_lane_without_a_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 6) {
  const auto data = zeroed<int>(m, 2 * most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        int* const mine = x.on(b.pe()) + b.member() - w.member();
        mine[w.member()] = w.member() + 1;
        if (fixed) w.sync();
        mine[most + w.member()] = mine[w.members() - 1 - w.member()];
      });
  return read(m, data, 0)[most] > 0;
}

// A vote waits for all lanes, and orders nothing that they have stored.
WRONG_PROGRAM(vote_for_a_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, 2 * most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        int* const mine = x.on(b.pe()) + b.member() - w.member();
        mine[w.member()] = 1;
        (void)w.any(false);
        if (fixed) w.sync();
        int sum = 0;
        if (w.member() == 0)
          for (int i = 0; i < w.members(); ++i) sum += mine[i];
        if (w.member() == 0) mine[most] = sum;
      });
  return read(m, data, 0)[most] > 0;
}

// The value goes from lane to lane, but not what lies behind the pointer.
WRONG_PROGRAM(first_for_a_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto data = zeroed<int>(m, 2 * most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        int* const mine = x.on(b.pe()) + b.member();
        *mine = 5;
        if (fixed) w.sync();
        const int* const of_first = w.first(mine);
        mine[most] = *of_first;
      });
  return read(m, data, 0)[most] == 5;
}

// The next round's values are stored while other lanes still read those of this one.
WRONG_PROGRAM(no_barrier_before_the_next_round, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 6) {
  const auto data = zeroed<int>(m, 2 * most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        int* const mine = x.on(b.pe()) + b.member() - w.member();
        for (int round = 1; round <= 2; ++round) {
          mine[w.member()] = round;
          w.sync();
          mine[most + w.member()] = mine[(w.member() + 1) % w.members()];
          if (fixed) w.sync();
        }
      });
  return read(m, data, 0)[most] == 2;
}

// What another warp has written, behind barriers of the two warps.
WRONG_PROGRAM(barriers_of_two_warps, found, .kinds = within, .says = {"no barrier of the block is between"}, .pes = 1,
              .threads = 4) {
  const auto data = zeroed<int>(m, 2 * most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const all = x.on(b.pe());
        all[b.member()] = 3;
        if (fixed)
          b.sync();
        else
          b.warp().sync();
        all[most + b.member()] = all[b.members() - 1 - b.member()];
      });
  return read(m, data, 0)[most] == 3;
}

// A warp sends what its lanes have written.
WRONG_PROGRAM(warp_sends_what_lanes_have_written, found, .kinds = within,
              .says = {"the threads of warp ", " read them in put at ", "warps_kernels.cpp:"}, .threads = 6) {
  const auto data = zeroed<int>(m, 2 * most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        const index_t first = b.member() - w.member();
        x.on(b.pe())[b.member()] = 4;
        if (fixed) w.sync();
        w.put(x + (most + first), x.on(b.pe()) + first, w.members(), 1 - b.pe());
        b.barrier_all();
      });
  return read(m, data, 0)[most] == 4;
}

// One lane has fetched; the others read it without a barrier.
WRONG_PROGRAM(lane_fetches_for_its_warp, found, .kinds = within, .says = no_barrier, .threads = 6) {
  const auto data = filled<int>(m, 2 * most, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        int* const fetched = x.on(b.pe()) + most + (b.member() - w.member());
        if (w.member() == 0) {
          b.thread().get(fetched, x, 1, 1 - b.pe());
          fetched[0] += 1;
        }
        if (fixed) w.sync();
        if (*fetched == 0) fetched[0] = 1;
      });
  return read(m, data, 0)[most] == 0x01010102;
}

// A lane has left before the others vote.
WRONG_PROGRAM(lane_leaves_before_the_vote, found, .kinds = {defect::collective},
              .says = {"threads missing", "calls a reduction, vote or first of warp ", " has returned", "of a warp"},
              .pes = 1, .threads = 6) {
  const auto data = zeroed<int>(m, most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        if (!fixed && w.member() != 0 && w.member() == w.members() - 1) return;
        x.on(b.pe())[b.member()] = w.votes(true) == w.members() ? 1 : 0;
      });
  return read(m, data, 0)[0] == 1;
}

// Lanes name as many elements as each has.
WRONG_PROGRAM(lanes_put_counts_of_their_own, found, .kinds = {defect::collective},
              .says = {"arguments differ: thread ", " calls put of warp ", "all threads of a warp"}, .threads = 4) {
  const auto data = filled<int>(m, 2 * most, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        const index_t mine = w.member() + 1;
        const index_t all = w.reduce(mine, maximum{});
        const index_t first = b.member() - w.member();
        w.put(x + (most + first), x.on(b.pe()) + first, fixed ? all : mine, 1 - b.pe());
        b.barrier_all();
      });
  return read(m, data, 0)[most] == 0x01010101;
}

// Each lane adds its own value by a call of the warp, which adds that of the first alone.
WRONG_PROGRAM(lanes_add_values_of_their_own, found, .kinds = {defect::collective},
              .says = {"arguments differ", "an atomic operation of warp "}, .threads = 6) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        const int mine = w.member() + 1;
        if (fixed)
          b.thread().atomic_add(x, mine, 0);
        else
          w.atomic_add(x, mine, 0);
        b.barrier_all();
        if (b.pe() == 0 && b.member() == 0) x.on(0)[1] = w.members() * (w.members() + 1) / 2 * w.count() * b.n_pes();
      });
  const auto got = read(m, data, 0);
  return got[0] == got[1];
}

// Lane 0 alone comes to the barrier of the block; the others wait for it at that of the warp.
WRONG_PROGRAM(lane_at_the_barrier_of_the_block, found, .kinds = {defect::collective},
              .says = {"threads missing", " calls sync of warp ", " calls sync at "}, .pes = 1, .threads = 4) {
  const auto data = zeroed<int>(m, most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        x.on(b.pe())[b.member()] = 1;
        if (!fixed && w.member() == 0) b.sync();
        w.sync();
        if (fixed || w.member() != 0) b.sync();
      });
  return read(m, data, 0)[0] == 1;
}

// Lanes of one warp take two ways, with a barrier of the warp in one of them.
WRONG_PROGRAM(barrier_in_one_branch_of_a_warp, found, .kinds = {defect::collective}, .says = {"threads missing"},
              .pes = 1, .threads = 6) {
  const auto data = zeroed<int>(m, most);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const warp w = b.warp();
        x.on(b.pe())[b.member()] = 1;
        if (w.member() % 2 == 0) {
          if (!fixed) w.sync();
          x.on(b.pe())[b.member()] += 1;
        }
        if (fixed) w.sync();
        if (w.votes(true) == 0) x.on(b.pe())[b.member()] = 0;
      });
  return read(m, data, 0)[0] == 2;
}

}  // namespace
}  // namespace starling::test::warps_tests
