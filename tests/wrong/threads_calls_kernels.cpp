// Threads of a block and calls to other blocks and PEs: what a call reads and writes, who makes it, and what it orders
// for the threads that did not make it.
#include "wrong/wrong.hpp"

namespace starling::test::threads_calls_tests {
namespace {

constexpr index_t n = 16;

// One thread sends what all have computed.
WRONG_PROGRAM(one_thread_sends_what_all_computed, found, .kinds = {defect::within_block},
              .says = {"threads_calls_kernels.cpp:"}, .threads = 3) {
  const auto data = zeroed<int>(m, 2 * n);
  const auto flags = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> came = flags.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe());
        b.for_each(n, [=](index_t i) { mine[i] = 7; });
        if (fixed) b.sync();
        if (b.member() == 0) b.thread().put_signal(x + n, mine, n, came, 1, 1 - b.pe());
        b.wait(came, 1);
      });
  return read(m, data, 0)[2 * n - 1] == 7;
}

// The source of a put that does not wait for all threads is filled again by the next loop.
WRONG_PROGRAM(source_filled_again_before_quiet, found, .kinds = {defect::within_block, defect::source_reused},
              .says = {}, .threads = 4) {
  const auto data = filled<int>(m, 2 * n, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe());
        b.put_nbi(x + n, mine, n, 1 - b.pe());
        if (fixed) b.quiet();
        b.for_each(n, [=](index_t i) { mine[i] = 2; });
        b.barrier_all();
      });
  return read(m, data, 0)[n] == 0x01010101;
}

// A put makes its elements of what the threads then overwrite; it has no barrier, as one from memory has.
WRONG_PROGRAM(what_elements_are_made_of_overwritten, found, .kinds = {defect::within_block},
              .says = {"threads_calls_kernels.cpp:"}, .threads = 3) {
  const auto data = filled<int>(m, 2 * n, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe());
        b.put(x + n, [=](index_t i) { return mine[n - 1 - i]; }, n, 1 - b.pe());
        if (fixed) b.sync();
        b.for_each(n, [=](index_t i) { mine[i] = 2; });
        b.barrier_all();
      });
  return read(m, data, 0)[n] == 0x01010101;
}

// A value is fetched by all threads, and replaced by the first one while others still fetch it.
WRONG_PROGRAM(value_replaced_while_threads_fetch_it, found,
              .kinds = {defect::unordered_read, defect::unordered_write, defect::within_block}, .says = {},
              .threads = 4) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() != 0) return;
        const int old = b.g(x, 1);
        if (fixed) b.sync();
        b.p(x, old + 1, 1);
      });
  return read(m, data, 1)[0] == 1;
}

// What a get of one thread has brought is read by the others at once.
WRONG_PROGRAM(get_of_one_thread_read_by_all, found, .kinds = {defect::within_block}, .says = {"get at"}, .threads = 2) {
  const auto data = filled<int>(m, 2 * n, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe());
        if (b.member() == 0) b.thread().get(mine + n, x, n, 1 - b.pe());
        if (fixed) b.sync();
        int all = 0;
        b.for_each(n, [&](index_t i) { all += mine[n + i]; });
        all = b.reduce(all, plus{});
        if (b.member() == 0) *sum.on(b.pe()) = all;
      });
  return read(m, sums, 0)[0] == n * 0x01010101;
}

// Every thread adds to the signal that stands for the block, and the receiver waits for the first.
WRONG_PROGRAM(every_thread_signals_for_the_block, found, .kinds = races, .says = {}, .threads = 3) {
  const auto data = zeroed<int>(m, 64);
  const auto flags = zeroed<signal>(m, 1);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> came = flags.data();
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) {
          if (fixed)
            b.put_signal(x, [](index_t) { return 1; }, 32, came, 1, 1);
          else
            b.thread().put_signal(x + b.member() * 8, [](index_t) { return 1; }, 8, came, 1, 1, signal_op::add);
          return;
        }
        b.wait(came, 1);
        int all = 0;
        b.for_each(24, [&](index_t i) { all += x.on(1)[i]; });
        all = b.reduce(all, plus{});
        if (b.member() == 0) *sum.on(1) = all;
      });
  return read(m, sums, 1)[0] == 24;
}

// Each thread names a PE of its own in a call of the block.
WRONG_PROGRAM(threads_name_different_pes, found, .kinds = {defect::collective}, .says = {"arguments differ"}, .pes = 3,
              .threads = 3) {
  const auto data = filled<int>(m, 2 * n, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int to = fixed ? (b.pe() + 1) % 3 : (b.pe() + b.member()) % 3;
        b.put(x + n, x.on(b.pe()), n, to);
        b.barrier_all();
      });
  return read(m, data, 0)[n] == 0x01010101;
}

// A reduction over all PEs that the first thread makes for the others.
WRONG_PROGRAM(reduction_of_one_thread, found, .kinds = {defect::collective}, .says = {"threads missing"},
              .threads = 2) {
  const auto sums = zeroed<int>(m, 1);
  const sym<int> sum = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (fixed || b.member() == 0) {
          const int all = b.all_reduce(b.pe() + 1, plus{});
          if (b.member() == 0) *sum.on(b.pe()) = all;
        }
        b.sync();
      });
  return read(m, sums, 1)[0] == 3;
}

// Packets taken by threads are stored for others, who read them without a barrier.
WRONG_PROGRAM(packets_stored_for_others, found, .kinds = {defect::within_block, defect::uninitialised}, .says = {},
              .threads = 4) {
  const auto boxes = zeroed<packet>(m, n);
  const auto data = zeroed<int>(m, 2 * n);
  const sym<packet> q = boxes.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int other = 1 - b.pe();
        b.put_packets<std::uint64_t>(
            q, [](index_t k) { return packet_content<std::uint64_t>{{static_cast<std::uint64_t>(k)}}; }, n, 1, other);
        int* mine = x.on(b.pe());
        b.for_each(n, [&](index_t k) {
          mine[k] = static_cast<int>(b.thread().take_packet<std::uint64_t>(q + k, 1, other).element[0]);
        });
        if (fixed) b.sync();
        b.for_each(n, [=](index_t k) { mine[n + k] = mine[n - 1 - k]; });
      });
  return read(m, data, 1)[n] == n - 1;
}

// One thread meets the other blocks of the PE on behalf of its block.
WRONG_PROGRAM(one_thread_meets_other_blocks, found, .kinds = {defect::collective}, .says = {"threads missing"},
              .pes = 1, .threads = 3) {
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        if (b.member() == 0) x.on(b.pe())[b.index()] = 1;
        if (fixed || b.member() == 0) b.sync_pe();
        if (b.member() == 0 && b.index() == 0) x.on(b.pe())[0] += x.on(b.pe())[1];
        b.sync();
      });
  return read(m, data, 0)[0] == 2;
}

// Threads of two blocks count into one word: within a block by an atomic operation, between blocks by plain additions.
WRONG_PROGRAM(blocks_add_by_plain_additions, found, .kinds = {defect::unordered_write, defect::unordered_read},
              .says = {}, .pes = 1, .threads = 2) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      3, STARLING_KERNEL(block & b) {
        const int all = b.reduce(b.member() == 0 ? 5 : 0, plus{});
        if (b.member() != 0) return;
        if (fixed)
          b.thread().atomic_add(x, all, b.pe());
        else
          *x.on(b.pe()) += all;
      });
  return read(m, data, 0)[0] == 15;
}

// Scratch memory asked for by one thread alone.
WRONG_PROGRAM(scratch_of_one_thread, found, .kinds = {defect::collective}, .says = {"threads missing", "scratch"},
              .pes = 1, .threads = 2) {
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          if (fixed || b.member() == 0) {
            int* s = b.scratch<int>(4);
            if (b.member() == 0) s[0] = 3;
            if (b.member() == 0) *x.on(b.pe()) = s[0];
          }
          b.sync();
        },
        {.scratch_bytes = 64});
  return read(m, data, 0)[0] == 3;
}

// The halo that one thread has waited for is read by the threads at the edge.
WRONG_PROGRAM(halo_awaited_by_one_thread, found, .kinds = races, .says = {"put_signal at"}, .threads = 4) {
  const auto data = zeroed<int>(m, n + 2);
  const auto flags = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> came = flags.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        int* mine = x.on(b.pe());
        b.put_signal(x + (n + 1), [](index_t) { return 9; }, 1, came, 1, 1 - b.pe());
        if (b.member() == 0) b.thread().wait(came, 1);
        if (fixed) b.sync();
        b.for_each(n, [=](index_t i) { mine[i] = mine[n + 1] + static_cast<int>(i); });
      });
  return read(m, data, 0)[3] == 12;
}

}  // namespace
}  // namespace starling::test::threads_calls_tests
