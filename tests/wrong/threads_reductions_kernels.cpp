// Reductions and histograms by the threads of a block.
#include "wrong/wrong.hpp"

namespace starling::test::threads_reductions_kernels_tests {
namespace {

constexpr int n = 24;
constexpr int bins = 4;
const std::vector<defect> within = {defect::within_block};
const std::vector<std::string> no_barrier = {"no barrier of the block is between", "threads_reductions_kernels.cpp:"};

// Each thread adds its part to one word by a plain store.
WRONG_PROGRAM(sum_by_plain_adds, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int mine = 0;
        b.for_each(n, [&](index_t i) { mine += static_cast<int>(i); });
        if (fixed)
          b.thread().atomic_add(x, mine, b.pe());
        else
          *x.on(b.pe()) += mine;
      });
  return read(m, sums, 0)[0] == n * (n - 1) / 2;
}

// Every thread adds the block's sum to the total: one should.
WRONG_PROGRAM(sum_added_by_all, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int mine = 0;
        b.for_each(n, [&](index_t i) { mine += static_cast<int>(i); });
        const int all = b.reduce(mine, plus{});
        if (!fixed || b.member() == 0) *x.on(b.pe()) += all;
      });
  return read(m, sums, 0)[0] == n * (n - 1) / 2;
}

// One thread asks for the sum of all.
WRONG_PROGRAM(reduce_by_one_thread, found, .kinds = {defect::collective}, .says = {"threads_reductions_kernels.cpp:"},
              .pes = 1, .threads = 4) {
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed) {
          const int all = b.reduce(1, plus{});
          if (b.member() == 0) *x.on(b.pe()) = all == b.members();
        } else if (b.member() == 0) {
          *x.on(b.pe()) = b.reduce(1, plus{}) == b.members();
        }
      });
  return read(m, sums, 0)[0] == 1;
}

// Parts lie in scratch memory, and thread 0 adds them before they are all there.
WRONG_PROGRAM(parts_added_too_early, found, .kinds = {defect::within_block, defect::uninitialised},
              .says = {"threads_reductions_kernels.cpp:"}, .pes = 1, .threads = 5) {
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = sums.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* const part = b.scratch<int>(32);
          part[b.member()] = 1;
          if (fixed) b.sync();
          if (b.member() == 0) {
            int sum = 0;
            for (int i = 0; i < b.members(); ++i) sum += part[i];
            *x.on(b.pe()) = sum == b.members();
          }
        },
        {.scratch_bytes = 32 * sizeof(int)});
  return read(m, sums, 0)[0] == 1;
}

// A barrier of the warp is taken for one of the block.
WRONG_PROGRAM(levels_with_a_barrier_of_the_warp, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto parts = zeroed<int>(m, 16);
  const sym<int> x = parts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const part = x.on(b.pe());
        b.for_each(16, [&](index_t i) { part[i] = static_cast<int>(i); });
        b.sync();
        for (int half = 8; half > 0; half /= 2) {
          b.for_each(half, [&](index_t i) { part[i] += part[i + half]; });
          if (fixed)
            b.sync();
          else
            b.warp().sync();
        }
      });
  return read(m, parts, 0)[0] == 120;
}

// The other half of each pair begins one too early: an element is written as one of a pair and read as one of another.
WRONG_PROGRAM(tree_with_overlapping_pairs, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto parts = zeroed<int>(m, n);
  const sym<int> x = parts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const part = x.on(b.pe());
        b.for_each(n, [&](index_t i) { part[i] = 1; });
        b.sync();
        const int half = fixed ? n / 2 : n / 2 - 1;
        b.for_each(n / 2, [&](index_t i) { part[i] += part[i + half]; });
      });
  return read(m, parts, 0)[0] == 2;
}

// Only threads with work come to the barrier inside the tree.
WRONG_PROGRAM(barrier_of_the_lower_half, found, .kinds = {defect::collective},
              .says = {"threads_reductions_kernels.cpp:"}, .pes = 1, .threads = 4) {
  const auto parts = zeroed<int>(m, 32);
  const sym<int> x = parts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const part = x.on(b.pe());
        part[b.member()] = 1;
        b.sync();
        const bool low = b.member() < (b.members() + 1) / 2;
        const int other = b.member() + (b.members() + 1) / 2;
        if (low) {
          if (other < b.members()) part[b.member()] += part[other];
          if (!fixed) b.sync();
        }
        if (fixed) b.sync();
      });
  return read(m, parts, 0)[0] >= 1;
}

// The largest value is stored by whoever has seen a smaller one.
WRONG_PROGRAM(maximum_by_comparing, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto best = zeroed<int>(m, 1);
  const sym<int> x = best.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int mine = 0;
        b.for_each(n, [&](index_t i) { mine = std::max(mine, static_cast<int>(i)); });
        if (fixed) mine = b.reduce(mine, maximum{});
        if (fixed ? b.member() == 0 : mine > *x.on(b.pe())) *x.on(b.pe()) = mine;
      });
  return read(m, best, 0)[0] == n - 1;
}

// Two blocks of a PE write their sums to the same word.
WRONG_PROGRAM(sums_of_two_blocks, found, .kinds = races, .says = {"threads_reductions_kernels.cpp:"}, .pes = 1,
              .threads = 2) {
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = sums.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        int mine = 0;
        b.for_each(b.my_share(n), [&](index_t i) { mine += static_cast<int>(i); });
        mine = b.reduce(mine, plus{});
        if (b.member() == 0) {
          if (fixed)
            b.thread().atomic_add(x, mine, b.pe());
          else
            *x.on(b.pe()) += mine;
        }
      });
  return read(m, sums, 0)[0] == n * (n - 1) / 2;
}

// A barrier of the block is taken for one of the PE.
WRONG_PROGRAM(parts_of_blocks_after_a_barrier_of_one, found, .kinds = races,
              .says = {"threads_reductions_kernels.cpp:"}, .pes = 1, .threads = 3) {
  const auto parts = zeroed<int>(m, 4);
  const sym<int> x = parts.data();
  m.run(
      3, STARLING_KERNEL(block & b) {
        if (b.member() == 0) x.on(b.pe())[b.rank()] = b.rank() + 1;
        if (fixed)
          b.sync_pe();
        else
          b.sync();
        if (b.rank() == 0 && b.member() == 0) x.on(b.pe())[3] = x.on(b.pe())[0] + x.on(b.pe())[1] + x.on(b.pe())[2];
      });
  return read(m, parts, 0)[3] == 6;
}

// Bins are counted by plain stores.
WRONG_PROGRAM(bins_by_plain_adds, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto counts = zeroed<int>(m, bins);
  const sym<int> x = counts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          if (fixed)
            b.thread().atomic_inc(x + i % bins, b.pe());
          else
            x.on(b.pe())[i % bins] += 1;
        });
      });
  return read(m, counts, 0)[2] == n / bins;
}

// Threads count while another still sets the bins to zero.
WRONG_PROGRAM(bins_cleared_while_counted, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto counts = zeroed<int>(m, bins);
  const sym<int> x = counts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(bins, [&](index_t i) { x.on(b.pe())[i] = 0; });
        if (fixed) b.sync();
        b.for_each(n, [&](index_t i) { b.thread().atomic_inc(x + i % bins, b.pe()); });
      });
  return read(m, counts, 0)[1] == n / bins;
}

// Bins are copied out while threads still count.
WRONG_PROGRAM(bins_read_while_counted, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto counts = zeroed<int>(m, 2 * bins);
  const sym<int> x = counts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { b.thread().atomic_inc(x + i % bins, b.pe()); });
        if (fixed) b.sync();
        b.for_each(bins, [&](index_t i) { x.on(b.pe())[bins + i] = x.on(b.pe())[i]; });
      });
  return read(m, counts, 0)[bins + 1] == n / bins;
}

// Each thread has bins of its own, but their rows overlap by one.
WRONG_PROGRAM(rows_of_bins_overlap, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto counts = zeroed<int>(m, 32 * bins);
  const sym<int> x = counts.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* const mine = x.on(b.pe()) + b.member() * (fixed ? bins : bins - 1);
          b.for_each(n, [&](index_t i) { mine[i % bins] += 1; });
          b.sync();
          if (b.member() == 0)
            for (int row = 1; row < b.members(); ++row)
              for (int i = 0; i < bins; ++i) x.on(b.pe())[i] += x.on(b.pe())[row * bins + i];
        },
        {.threads = 32});
  return read(m, counts, 0)[1] == n / bins;
}

// The value n belongs to no bin.
WRONG_PROGRAM(bin_behind_the_last, found, .kinds = {defect::out_of_bounds}, .says = {"threads_reductions_kernels.cpp:"},
              .pes = 1, .threads = 3) {
  const auto counts = zeroed<int>(m, n);
  const sym<int> x = counts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { b.thread().atomic_inc(x + (fixed ? i : i + 1), b.pe()); });
      });
  return read(m, counts, 0)[n - 1] == 1;
}

// Only one thread counts by atomic operations, the others by plain stores.
WRONG_PROGRAM(bins_half_atomic, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto counts = zeroed<int>(m, bins);
  const sym<int> x = counts.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          if (fixed || b.member() == 0)
            b.thread().atomic_inc(x + i / 2 % bins, b.pe());
          else
            x.on(b.pe())[i / 2 % bins] += 1;
        });
      });
  return read(m, counts, 0)[0] == n / bins;
}

// Two blocks have bins of their own in scratch memory and add them up by plain stores.
WRONG_PROGRAM(bins_of_two_blocks_merged, found, .kinds = races, .says = {"threads_reductions_kernels.cpp:"}, .pes = 1,
              .threads = 3) {
  const auto counts = zeroed<int>(m, bins);
  const sym<int> x = counts.data();
  m.run(2,
        STARLING_KERNEL(block & b) {
          int* const own = b.scratch<int>(bins);
          b.for_each(bins, [&](index_t bin) {
            own[bin] = 0;
            for (const index_range mine = b.my_share(n); const index_t i : {mine.begin, mine.end - 1})
              own[bin] += i % bins == bin;
          });
          b.sync();
          b.for_each(bins, [&](index_t bin) {
            if (fixed)
              b.thread().atomic_add(x + bin, own[bin], b.pe());
            else
              x.on(b.pe())[bin] += own[bin];
          });
        },
        {.scratch_bytes = 64});
  return read(m, counts, 0)[0] == 2;
}

}  // namespace
}  // namespace starling::test::threads_reductions_kernels_tests
