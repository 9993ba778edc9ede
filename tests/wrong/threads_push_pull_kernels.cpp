// Threads of a block that work on a graph: push (a vertex changes its neighbours), pull (a vertex reads them), and
// pointer jumping.
#include "wrong/wrong.hpp"

namespace starling::test::threads_push_pull_kernels_tests {
namespace {

constexpr int n = 20;
const std::vector<defect> within = {defect::within_block};
const std::vector<std::string> no_barrier = {"no barrier of the block is between", "threads_push_pull_kernels.cpp:"};

// Two vertices push to the same neighbour without an atomic operation.
WRONG_PROGRAM(push_by_plain_adds, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto sums = zeroed<int>(m, n);
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          for (const index_t to : {(i + 1) % n, (i + 3) % n})
            if (fixed)
              b.thread().atomic_add(sum + to, static_cast<int>(i), b.pe());
            else
              sum.on(b.pe())[to] += static_cast<int>(i);
        });
      });
  return read(m, sums, 0)[5] == 6;
}

// What others have pushed by atomic operations is read without a barrier.
WRONG_PROGRAM(pushed_and_read_at_once, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto sums = zeroed<int>(m, n);
  const auto out = zeroed<int>(m, n);
  const sym<int> sum = sums.data();
  const sym<int> y = out.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { b.thread().atomic_add(sum + (i + 1) % n, static_cast<int>(i), b.pe()); });
        if (fixed) b.sync();
        b.for_each(n, [&](index_t i) { y.on(b.pe())[i] = sum.on(b.pe())[i]; });
      });
  return read(m, out, 0)[5] == 4;
}

// Vertices pull from neighbours that are changed in the same array.
WRONG_PROGRAM(pull_in_place, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const old = x.on(b.pe());
        int* const next = fixed ? old + n : old;
        b.for_each(n, [&](index_t i) { next[i] = old[(i + 1) % n] + 1; });
      });
  return read(m, values, 0)[n] == 1;
}

// The second round pulls what the first is still writing.
WRONG_PROGRAM(pull_twice_without_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const a = x.on(b.pe());
        b.for_each(n, [&](index_t i) { a[n + i] = a[(i + 1) % n] + 1; });
        if (fixed) b.sync();
        b.for_each(n, [&](index_t i) { a[i] = a[n + (i + 1) % n] + 1; });
      });
  return read(m, values, 0)[3] == 2;
}

// Each vertex writes one edge more than it has: the first of the next vertex.
WRONG_PROGRAM(edges_one_too_many, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto edges = zeroed<int>(m, 2 * n + 1);
  const sym<int> e = edges.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          const index_t end = 2 * i + 2 + (fixed ? 0 : 1);
          for (index_t k = 2 * i; k < end; ++k) e.on(b.pe())[k] = static_cast<int>(i);
        });
      });
  return read(m, edges, 0)[2 * n - 1] == n - 1;
}

// The last vertex pulls from a neighbour behind the end.
WRONG_PROGRAM(pull_behind_the_end, found, .kinds = {defect::out_of_bounds},
              .says = {"behind the end of an allocation", "threads_push_pull_kernels.cpp:"}, .pes = 1, .threads = 3) {
  const auto values = zeroed<int>(m, n);
  const auto out = zeroed<int>(m, n);
  const sym<int> x = values.data();
  const sym<int> y = out.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) { y.on(b.pe())[i] = 1 + x.on(b.pe())[fixed ? (i + 1) % n : i + 1]; });
      });
  return read(m, out, 0)[n - 1] == 1;
}

// The largest value wins only if nobody writes between comparing and storing.
WRONG_PROGRAM(push_of_a_maximum, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 32) {
  const auto best = zeroed<int>(m, 4);
  const sym<int> x = best.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          const sym<int> to = x + i % 4;
          const int mine = static_cast<int>(i);
          if (fixed) {
            int seen = b.thread().atomic_fetch(to, b.pe());
            while (seen < mine) {
              const int before = b.thread().atomic_compare_swap(to, seen, mine, b.pe());
              if (before == seen) break;
              seen = before;
            }
          } else if (*to.on(b.pe()) < mine) {
            *to.on(b.pe()) = mine;
          }
        });
      });
  return read(m, best, 0)[3] == n - 1;
}

// Each thread adds for a vertex of its own, by a call of the whole block.
// On a GPU only what one thread passes is added.
WRONG_PROGRAM(push_by_a_call_of_the_block, found, .kinds = {defect::collective}, .says = {"atomic"}, .pes = 1,
              .threads = 4) {
  const auto sums = zeroed<int>(m, n);
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          if (fixed)
            b.thread().atomic_add(sum + (i + 1) % n, 1, b.pe());
          else
            b.atomic_add(sum + (i + 1) % n, 1, b.pe());
        });
      });
  return read(m, sums, 0)[7] == 1;
}

// All threads count the round that one should count.
WRONG_PROGRAM(round_counted_by_all, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto rounds = zeroed<int>(m, 1);
  const sym<int> x = rounds.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (int round = 0; round < 3; ++round) {
          if (!fixed || b.member() == 0) *x.on(b.pe()) += 1;
          b.sync();
        }
      });
  return read(m, rounds, 0)[0] == 3;
}

// Parents are replaced by grandparents in place.
WRONG_PROGRAM(jumping_in_place, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto parents = zeroed<int>(m, n);
  const sym<int> x = parents.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const p = x.on(b.pe());
        b.for_each(n, [&](index_t i) { p[i] = i > 0 ? static_cast<int>(i) - 1 : 0; });
        b.sync();
        for (int round = 0; round < 5; ++round) {
          int far[n] = {};
          if (fixed) {
            b.for_each(n, [&](index_t i) { far[i] = p[p[i]]; });
            b.sync();
            b.for_each(n, [&](index_t i) { p[i] = far[i]; });
          } else {
            b.for_each(n, [&](index_t i) { p[i] = p[p[i]]; });
          }
          b.sync();
        }
      });
  return read(m, parents, 0)[n - 1] == 0;
}

// Two arrays take turns, without a barrier between the rounds.
WRONG_PROGRAM(jumping_without_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto parents = zeroed<int>(m, 2 * n);
  const sym<int> x = parents.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* from = x.on(b.pe());
        int* to = from + n;
        b.for_each(n, [&](index_t i) { from[i] = i > 0 ? static_cast<int>(i) - 1 : 0; });
        b.sync();
        for (int round = 0; round < 6; ++round) {
          b.for_each(n, [&](index_t i) { to[i] = from[from[i]]; });
          if (fixed) b.sync();
          std::swap(from, to);
        }
      });
  return read(m, parents, 0)[n - 1] == 0;
}

// Two edges hook the same root by plain stores: one of them is lost.
WRONG_PROGRAM(hooked_by_plain_stores, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto parents = zeroed<int>(m, 4);
  const sym<int> x = parents.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          const sym<int> root = x + i % 4;
          const int mine = static_cast<int>(i) + 1;
          if (fixed)
            b.thread().atomic_compare_swap(root, 0, mine, b.pe());
          else if (*root.on(b.pe()) == 0)
            *root.on(b.pe()) = mine;
        });
      });
  return read(m, parents, 0)[3] % 4 == 0 && read(m, parents, 0)[3] > 0;
}

}  // namespace
}  // namespace starling::test::threads_push_pull_kernels_tests
