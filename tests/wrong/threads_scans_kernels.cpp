// Scans and stencils by the threads of a block.
#include "wrong/wrong.hpp"

namespace starling::test::threads_scans_kernels_tests {
namespace {

constexpr int n = 16;
const std::vector<defect> within = {defect::within_block};
const std::vector<std::string> no_barrier = {"no barrier of the block is between", "threads_scans_kernels.cpp:"};

// Sums of the step before are read while others replace them.
WRONG_PROGRAM(scan_in_place, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* from = x.on(b.pe());
        int* to = from + n;
        b.for_each(n, [&](index_t i) { from[i] = 1; });
        b.sync();
        if (!fixed) to = from;
        for (int d = 1; d < n; d *= 2) {
          b.for_each(n, [&](index_t i) { to[i] = from[i] + (i >= d ? from[i - d] : 0); });
          b.sync();
          std::swap(from, to);
        }
      });
  return read(m, values, 0)[n - 1] == n;
}

// Two arrays take turns, without a barrier between the steps.
WRONG_PROGRAM(scan_without_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 3) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* from = x.on(b.pe());
        int* to = from + n;
        b.for_each(n, [&](index_t i) { from[i] = 1; });
        b.sync();
        for (int d = 1; d < n; d *= 2) {
          b.for_each(n, [&](index_t i) { to[i] = from[i] + (i >= d ? from[i - d] : 0); });
          if (fixed) b.sync();
          std::swap(from, to);
        }
      });
  return read(m, values, 0)[n - 1] == n;
}

// Thread 0 adds up the parts of all, and the others do not wait for it.
WRONG_PROGRAM(scan_of_parts_not_awaited, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto values = zeroed<int>(m, 64);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const part = x.on(b.pe());
        part[b.member()] = 2;
        b.sync();
        if (b.member() == 0)
          for (int i = 1; i < b.members(); ++i) part[i] += part[i - 1];
        if (fixed) b.sync();
        part[32 + b.member()] = part[b.member()];
      });
  return read(m, values, 0)[32] == 2;
}

// All threads add up the parts that one should.
WRONG_PROGRAM(scan_of_parts_by_all, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto values = zeroed<int>(m, n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const part = x.on(b.pe());
        b.for_each(n, [&](index_t i) { part[i] = 1; });
        b.sync();
        if (!fixed || b.member() == 0)
          for (int i = 1; i < n; ++i) part[i] += part[i - 1];
      });
  return read(m, values, 0)[n - 1] == n;
}

// A step of a scan reads what the pair to the right writes.
WRONG_PROGRAM(up_sweep_one_too_far, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 2) {
  const auto values = zeroed<int>(m, n + 1);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const a = x.on(b.pe());
        b.for_each(n, [&](index_t i) { a[i] = 1; });
        b.sync();
        b.for_each(n / 2, [&](index_t i) { a[2 * i + 1] += a[fixed ? 2 * i : 2 * i + 3 < n ? 2 * i + 3 : 0]; });
      });
  return read(m, values, 0)[n - 1] == 2;
}

// A barrier within the loop over the elements, which not all threads go round equally often.
WRONG_PROGRAM(barrier_inside_for_each, found, .kinds = {defect::collective}, .says = {"threads_scans_kernels.cpp:"},
              .pes = 1, .threads = 3) {
  const auto values = zeroed<int>(m, n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(n, [&](index_t i) {
          x.on(b.pe())[i] = 1;
          if (!fixed) b.sync();
        });
        if (fixed) b.sync();
      });
  return read(m, values, 0)[n - 1] == 1;
}

// Offsets of the blocks are read before all have left them.
WRONG_PROGRAM(offsets_of_blocks_not_awaited, found, .kinds = races, .says = {"threads_scans_kernels.cpp:"}, .pes = 1,
              .threads = 2) {
  const auto values = zeroed<int>(m, 6);
  const sym<int> x = values.data();
  m.run(
      3, STARLING_KERNEL(block & b) {
        const int mine = b.reduce(1, plus{}) / b.members();
        if (b.member() == 0) x.on(b.pe())[b.rank()] = mine;
        if (fixed) b.sync_pe();
        if (b.member() == 0) {
          int before = 0;
          for (int i = 0; i < b.rank(); ++i) before += x.on(b.pe())[i];
          x.on(b.pe())[3 + b.rank()] = before;
        }
      });
  return read(m, values, 0)[5] == 2;
}

// A step of a stencil goes over the values it reads.
WRONG_PROGRAM(stencil_in_place, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 4) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const u = x.on(b.pe());
        int* const v = fixed ? u + n : u;
        b.for_each(index_range{1, n - 1}, [&](index_t i) { v[i] = u[i - 1] + u[i + 1] + 1; });
      });
  return read(m, values, 0)[n + 1] == 1;
}

// The next step reads what this one writes.
WRONG_PROGRAM(stencil_steps_without_barrier, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 5) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* u = x.on(b.pe());
        int* v = u + n;
        for (int step = 0; step < 2; ++step) {
          b.for_each(index_range{1, n - 1}, [&](index_t i) { v[i] = u[i - 1] + u[i + 1] + 1; });
          if (fixed) b.sync();
          std::swap(u, v);
        }
      });
  return read(m, values, 0)[2] == 3;
}

// The tile in scratch memory is read before it is filled.
WRONG_PROGRAM(tile_read_too_early, found, .kinds = {defect::within_block, defect::uninitialised},
              .says = {"threads_scans_kernels.cpp:"}, .pes = 1, .threads = 3) {
  const auto values = zeroed<int>(m, n);
  const sym<int> x = values.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* const tile = b.scratch<int>(n);
          b.for_each(n, [&](index_t i) { tile[i] = 1; });
          if (fixed) b.sync();
          b.for_each(index_range{1, n - 1}, [&](index_t i) { x.on(b.pe())[i] = tile[i - 1] + tile[i + 1]; });
        },
        {.scratch_bytes = n * sizeof(int)});
  return read(m, values, 0)[1] == 2;
}

// The edges of the tile are filled by one thread after the barrier.
WRONG_PROGRAM(edge_of_the_tile_after_the_barrier, found, .kinds = {defect::within_block, defect::uninitialised},
              .says = {"threads_scans_kernels.cpp:"}, .pes = 1, .threads = 4) {
  const auto values = zeroed<int>(m, n);
  const sym<int> x = values.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          int* const tile = b.scratch<int>(n + 2);
          b.for_each(n, [&](index_t i) { tile[i + 1] = 1; });
          if (!fixed) b.sync();
          if (b.member() == 0) tile[0] = tile[n + 1] = 5;
          if (fixed) b.sync();
          b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = tile[i] + tile[i + 2]; });
        },
        {.scratch_bytes = 128});
  return read(m, values, 0)[n - 1] == 6;
}

// Rows and columns: the row below is written by another thread in the same step.
WRONG_PROGRAM(rows_in_place, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 32) {
  const auto values = zeroed<int>(m, 32);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const u = x.on(b.pe());
        b.for_each(3, 4, [&](index_t y, index_t k) { u[(fixed ? 16 : 0) + 4 * y + k] = u[4 * (y + 1) + k] + 1; });
      });
  return read(m, values, 0)[16] == 1;
}

// The same with numbers of threads that the seeds draw: with 1, 2 and 4 each has whole columns, and nothing is
// unordered.
WRONG_PROGRAM(rows_in_place_by_drawn_threads, found, .kinds = within, .says = no_barrier, .pes = 1, .threads = 0) {
  const auto values = zeroed<int>(m, 32);
  const sym<int> x = values.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* const u = x.on(b.pe());
        b.for_each(3, 4, [&](index_t y, index_t k) { u[(fixed ? 16 : 0) + 4 * y + k] = u[4 * (y + 1) + k] + 1; });
      });
  return read(m, values, 0)[16] == 1;
}

// The stencil reads one element behind the end.
WRONG_PROGRAM(stencil_behind_the_end, found, .kinds = {defect::out_of_bounds}, .says = {"threads_scans_kernels.cpp:"},
              .pes = 1, .threads = 2) {
  const auto values = zeroed<int>(m, n);
  const auto out = zeroed<int>(m, n);
  const sym<int> x = values.data();
  const sym<int> y = out.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.for_each(index_range{1, fixed ? n - 1 : n},
                   [&](index_t i) { y.on(b.pe())[i] = x.on(b.pe())[i - 1] + x.on(b.pe())[i + 1] + 1; });
      });
  return read(m, out, 0)[n - 2] == 1;
}

// Two blocks share the rows, and each reads the other's edge in the next step.
WRONG_PROGRAM(edges_of_two_blocks, found, .kinds = races, .says = {"threads_scans_kernels.cpp:"}, .pes = 1,
              .threads = 3) {
  const auto values = zeroed<int>(m, 2 * n);
  const sym<int> x = values.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        int* u = x.on(b.pe());
        int* v = u + n;
        for (int step = 0; step < 2; ++step) {
          b.for_each(b.my_share(n), [&](index_t i) { v[i] = u[(i + 1) % n] + 1; });
          if (fixed)
            b.sync_pe();
          else
            b.sync();
          std::swap(u, v);
        }
      });
  return read(m, values, 0)[0] == 2;
}

}  // namespace
}  // namespace starling::test::threads_scans_kernels_tests
