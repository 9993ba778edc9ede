// Bounds of puts, gets and packets at both of their ends, and whose memory these are.
#include "wrong/wrong.hpp"

namespace starling::test::transfers_kernels_tests {
namespace {

constexpr index_t n = 8;

// The left neighbour's last element is taken from one before the first.
WRONG_PROGRAM(put_to_a_negative_offset, found, .kinds = {defect::out_of_bounds},
              .says = {"put", "not inside one live allocation", "transfers_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, n);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v[2] = {1, 2};
        b.put(x + (fixed ? 0 : -1), v, 2, 1 - b.pe());
      });
  return read(m, data, 0)[0] == 1;
}

// n elements from element 1 on: one too many.
WRONG_PROGRAM(get_from_one_further, found, .kinds = {defect::out_of_bounds},
              .says = {"get", "not inside one live allocation", "transfers_kernels.cpp:"}) {
  const auto from = filled<int>(m, n, 1);
  const auto to = zeroed<int>(m, n);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(1, STARLING_KERNEL(block & b) { b.get(y.on(b.pe()), x + 1, fixed ? n - 1 : n, 1 - b.pe()); });
  return read(m, to, 0)[n - 2] == 0x01010101;
}

// A column of a 4 x 4 array, as long as a row of a larger one.
WRONG_PROGRAM(column_put_too_long, found, .kinds = {defect::out_of_bounds},
              .says = {"put", "not inside one live allocation", "transfers_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 16);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v[5] = {1, 2, 3, 4, 5};
        b.iput(x + 3, 4, v, 1, fixed ? 4 : 5, 1 - b.pe());
      });
  return read(m, data, 1)[15] == 4;
}

// The stride at the near side is that of the far side, where the array is wider.
WRONG_PROGRAM(strides_of_iget_mixed_up, found, .kinds = {defect::out_of_bounds},
              .says = {"get", "its destination", "transfers_kernels.cpp:"}) {
  const auto wide = filled<int>(m, 4 * 64, 1);
  const auto narrow = zeroed<int>(m, 4);
  const sym<int> x = wide.data();
  const sym<int> y = narrow.data();
  m.run(1, STARLING_KERNEL(block & b) { b.iget(y.on(b.pe()), fixed ? 1 : 64, x, fixed ? 64 : 1, 4, 1 - b.pe()); });
  return read(m, narrow, 0)[3] == 0x01010101;
}

// Bytes where elements are meant, at the source of put_nbi.
WRONG_PROGRAM(put_nbi_counts_bytes, found, .kinds = {defect::out_of_bounds},
              .says = {"put_nbi", "its source, 64 bytes", "transfers_kernels.cpp:"}) {
  const auto from = zeroed<int>(m, 4);
  const auto to = filled<int>(m, 64, 1);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_nbi(y, x.on(b.pe()), fixed ? 4 : 4 * static_cast<index_t>(sizeof(int)), 1 - b.pe());
        b.quiet();
      });
  return read(m, to, 0)[3] == 0;
}

// The halo row with its corners is longer than the row buffer.
WRONG_PROGRAM(put_signal_with_corners, found, .kinds = {defect::out_of_bounds},
              .says = {"put_signal", "not inside one live allocation", "transfers_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, n);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_signal(x, [](index_t i) { return static_cast<int>(i); }, fixed ? n : n + 2, s, 1, 1 - b.pe());
        b.wait(s, 1, 1 - b.pe());
      });
  return read(m, data, 0)[n - 1] == n - 1;
}

// One signal for each step, of which there is one more.
WRONG_PROGRAM(signal_behind_the_last, found, .kinds = {defect::out_of_bounds},
              .says = {"signal", "transfers_kernels.cpp:"}) {
  const auto signals = zeroed<signal>(m, 3);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int steps = fixed ? 3 : 4;
        for (int step = 0; step < steps; ++step) {
          b.signal_set(s + step, 1, 1 - b.pe());
          b.wait(s + step, 1, 1 - b.pe());
        }
        *x.on(b.pe()) = steps;
      });
  return read(m, data, 0)[0] == 3;
}

// wait_all over a signal for each PE, of an array with one for each neighbour.
WRONG_PROGRAM(wait_for_signals_that_are_not_there, found, .kinds = {defect::out_of_bounds},
              .says = {"wait", "transfers_kernels.cpp:"}, .pes = 4) {
  const auto signals = zeroed<signal>(m, 2);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.signal_set(s, 1, (b.pe() + 1) % 4);
        b.signal_set(s + 1, 1, (b.pe() + 3) % 4);
        b.wait_all(s, fixed ? 2 : 4, 1);
        *x.on(b.pe()) = 1;
      });
  return read(m, data, 3)[0] == 1;
}

// Floats travel two to a packet; the boxes are counted as for that, the packets as for doubles.
WRONG_PROGRAM(packets_beyond_the_boxes, found, .kinds = {defect::out_of_bounds}, .says = {"transfers_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, packets_for<float>(n));
  const auto data = zeroed<float>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<float> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const auto content = [](index_t k) { return packet_content<float>{{static_cast<float>(k), 0.5f}}; };
        b.put_packets<float>(box, content, fixed ? packets_for<float>(n) : packets_for<double>(n), 1, 1 - b.pe());
        *x.on(b.pe()) = b.take_packet<float>(box + 3, 1, 1 - b.pe()).element[0];
      });
  return read(m, data, 0)[0] == 3;
}

// The box behind the last is waited for.
WRONG_PROGRAM(packet_taken_behind_the_last, found, .kinds = {defect::out_of_bounds},
              .says = {"transfers_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, 4);
  const auto data = zeroed<double>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const auto content = [](index_t k) { return packet_content<double>{{static_cast<double>(k)}}; };
        b.put_packets<double>(box, content, 4, 1, 1 - b.pe());
        for (int k = fixed ? 0 : 1; k < (fixed ? 4 : 5); ++k)
          *x.on(b.pe()) += b.take_packet<double>(box + k, 1, 1 - b.pe()).element[0];
      });
  return read(m, data, 0)[0] == 6;
}

// The far copy's address serves as the source: what `on` is for on one PE.
WRONG_PROGRAM(put_signal_from_another_pes_memory, found, .kinds = {defect::foreign_access},
              .says = {"its source", "memory of another PE", "transfers_kernels.cpp:"}) {
  const auto from = filled<int>(m, n, 1);
  const auto to = zeroed<int>(m, n);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int other = 1 - b.pe();
        b.put_signal(y, x.on(fixed ? b.pe() : other), n, s, 1, other);
        b.wait(s, 1, other);
      });
  return read(m, to, 0)[0] == 0x01010101;
}

// A gather: the result is written straight to the PE that wants it.
WRONG_PROGRAM(iget_into_another_pes_memory, found, .kinds = {defect::foreign_access},
              .says = {"its destination", "memory of another PE", "transfers_kernels.cpp:"}) {
  const auto from = filled<int>(m, n, 1);
  const auto to = zeroed<int>(m, n);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 1) b.iget(y.on(fixed ? 1 : 0), 2, x, 1, 4, 0);
      });
  return read(m, to, 1)[6] == 0x01010101;
}

// get_nbi straight into a neighbour's memory.
WRONG_PROGRAM(get_nbi_into_another_pes_memory, found, .kinds = {defect::foreign_access},
              .says = {"its destination", "memory of another PE", "transfers_kernels.cpp:"}, .pes = 3) {
  const auto from = filled<int>(m, n, 1);
  const auto to = zeroed<int>(m, n);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() != 1) return;
        b.get_nbi(y.on(fixed ? 1 : 2), x, n, 0);
        b.quiet();
      });
  return read(m, to, 1)[0] == 0x01010101;
}

// A bulk copy whose source ends before the copy does.
WRONG_PROGRAM(bulk_put_beyond_its_source, found, .kinds = {defect::out_of_bounds},
              .says = {"its source", "transfers_kernels.cpp:"}) {
  const auto from = filled<int>(m, 1024, 1);
  const auto to = zeroed<int>(m, 2048);
  const sym<int> x = from.data();
  const sym<int> y = to.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          bulk_buffer via = b.bulk_scratch();
          b.put(via, y, x.on(b.pe()), fixed ? 1024 : 2048, 1 - b.pe());
        },
        {.scratch_bytes = bulk_scratch_bytes});
  return read(m, to, 0)[1023] == 0x01010101;
}

// Histogram with a bin for each value from 0 to n: one bin short.
WRONG_PROGRAM(atomic_behind_the_last_bin, found, .kinds = {defect::out_of_bounds},
              .says = {"atomic", "transfers_kernels.cpp:"}) {
  const auto bins = zeroed<int>(m, fixed ? n + 1 : n);
  const sym<int> x = bins.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        for (index_t value = 0; value <= n; ++value) b.atomic_fetch_add(x + value, 1, 0);
      });
  return read(m, bins, 0)[n] == 4;
}

// Binary search asks for the element behind the end.
WRONG_PROGRAM(g_behind_the_end, found, .kinds = {defect::out_of_bounds},
              .says = {"not inside one live allocation", "transfers_kernels.cpp:"}) {
  const auto table = filled<int>(m, n, 1);
  const auto data = zeroed<index_t>(m, 1);
  const sym<int> t = table.data();
  const sym<index_t> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        index_t at = 0;
        while ((!fixed || at < n) && b.g(t + at, 1 - b.pe()) < 0x02020202) ++at;
        *x.on(b.pe()) = at;
      });
  return read(m, data, 0)[0] == n;
}

// Halos to both sides in one call; the lower row of the last PE is counted from 1.
WRONG_PROGRAM(one_of_put_signals_outside, found, .kinds = {defect::out_of_bounds}, .says = {"transfers_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 2 * n);
  const auto signals = zeroed<signal>(m, 2);
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int other = 1 - b.pe();
        const auto to = [&](int i) { return signalled_put<int>{x + (fixed ? i : i + 1) * n, n, s + i, other}; };
        b.put_signals<int>(2, to, [](int i, index_t k) { return 10 * i + static_cast<int>(k); }, 1);
        b.wait_all(s, 2, 1, other);
      });
  return read(m, data, 0)[2 * n - 1] == 10 + n - 1;
}

// The staging buffer goes before the run that puts from it.
WRONG_PROGRAM(put_of_memory_freed_before, found, .kinds = {defect::out_of_bounds},
              .says = {"its source", "transfers_kernels.cpp:"}) {
  const auto to = zeroed<int>(m, n);
  const sym<int> y = to.data();
  auto staging = filled<int>(m, n, 1);
  const sym<int> x = staging.data();
  if (!fixed) staging.reset();
  m.run(1, STARLING_KERNEL(block & b) { b.put(y, x.on(b.pe()), n, 1 - b.pe()); });
  return read(m, to, 0)[n - 1] == 0x01010101;
}

}  // namespace
}  // namespace starling::test::transfers_kernels_tests
