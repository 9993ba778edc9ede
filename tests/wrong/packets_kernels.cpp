// Packets: numbers used twice, boxes written again before they are read, and packets taken for signals.
#include "wrong/wrong.hpp"

namespace starling::test::packets_kernels_tests {
namespace {

using content = packet_content<double>;

// Numbers from 0: a box holds 0 before anything has come.
WRONG_PROGRAM(packets_numbered_from_zero, found, .kinds = races, .says = {"packets_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, 3);
  const auto data = zeroed<double>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t t = 0; t < 3; ++t) {
          const auto slot = box + static_cast<index_t>(t);
          const std::uint64_t number = fixed ? t + 1 : t;
          b.put_packets<double>(
              slot, [=](index_t) { return content{{static_cast<double>(t + 1)}}; }, 1, number, 1 - b.pe());
          *x.on(b.pe()) += b.take_packet<double>(slot, number, 1 - b.pe()).element[0];
        }
      });
  return read(m, data, 0)[0] == 6;
}

// A number for each of the two slots: every second message has the number of the one before in its slot.
WRONG_PROGRAM(packets_numbered_by_slot, found, .kinds = races, .says = {"packets_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, 2);
  const auto data = zeroed<double>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t t = 1; t <= 6; ++t) {
          const auto slot = box + static_cast<index_t>(t % 2);
          const std::uint64_t number = fixed ? t : t % 2 + 1;
          b.put_packets<double>(
              slot, [=](index_t) { return content{{static_cast<double>(t)}}; }, 1, number, 1 - b.pe());
          *x.on(b.pe()) += b.take_packet<double>(slot, number, 1 - b.pe()).element[0];
        }
      });
  return read(m, data, 0)[0] == 21;
}

// One way, with nothing that tells the sender which boxes have been emptied.
WRONG_PROGRAM(packets_sent_without_credit, found, .kinds = races, .says = {"packets_kernels.cpp:", "a credit"}) {
  const auto boxes = zeroed<packet>(m, 2);
  const auto data = zeroed<double>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  const sym<signal> emptied = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t t = 1; t <= 5; ++t) {
          const auto slot = box + static_cast<index_t>(t % 2);
          if (b.pe() == 0) {
            if (fixed && t > 2) b.wait(emptied, t - 2, 1);
            b.put_packets<double>(slot, [=](index_t) { return content{{static_cast<double>(t)}}; }, 1, t, 1);
          } else {
            const double got = b.take_packet<double>(slot, t, 0).element[0];
            *x.on(1) += got;
            b.signal_set(emptied, t, 0);
          }
        }
      });
  return read(m, data, 1)[0] == 15;
}

// A packet behind a put does not say that the put has come.
WRONG_PROGRAM(packet_taken_for_a_signal, found, .kinds = races, .says = {"by put", "packets_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, 1);
  const auto data = zeroed<double>(m, 4);
  const auto signals = zeroed<signal>(m, 1);
  const auto sums = zeroed<double>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  const sym<signal> s = signals.data();
  const sym<double> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const auto value = [](index_t i) { return static_cast<double>(i); };
        if (b.pe() == 0) {
          if (fixed)
            b.put_signal(x, value, 4, s, 1, 1);
          else
            b.put(x, value, 4, 1);
          b.put_packets<double>(box, [](index_t) { return content{{4.0}}; }, 1, 1, 1);
        } else {
          const double count = b.take_packet<double>(box, 1, 0).element[0];
          if (fixed) b.wait(s, 1, 0);
          *y.on(1) = count + x.on(1)[3];
        }
      });
  return read(m, sums, 1)[0] == 7;
}

// The sender packs floats by two, the receiver waits for one to a packet.
WRONG_PROGRAM(packets_counted_for_another_type, found, .kinds = {defect::lost_signal, defect::deadlock},
              .says = {"packets_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, 8);
  const auto data = zeroed<float>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<float> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const auto pair = [](index_t k) {
          return packet_content<float>{{static_cast<float>(2 * k), static_cast<float>(2 * k + 1)}};
        };
        b.put_packets<float>(box, pair, packets_for<float>(8), 1, 1 - b.pe());
        for (index_t k = 0; k < (fixed ? packets_for<float>(8) : packets_for<double>(8)); ++k)
          for (const float f : b.take_packet<float>(box + k, 1, 1 - b.pe()).element) *x.on(b.pe()) += f;
      });
  return read(m, data, 0)[0] == 28;
}

// The boxes were never set to zero.
WRONG_PROGRAM(boxes_without_a_value, found, .kinds = {defect::uninitialised}, .says = {"packets_kernels.cpp:"}) {
  const auto boxes = m.allocate<packet>(1);
  if (fixed)
    for (int pe = 0; pe < 2; ++pe) m.fill(boxes.on(pe), 0, sizeof(packet));
  const auto data = zeroed<double>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put_packets<double>(box, [](index_t) { return content{{4.0}}; }, 1, 1, 1 - b.pe());
        *x.on(b.pe()) = b.take_packet<double>(box, 1, 1 - b.pe()).element[0];
      });
  return read(m, data, 0)[0] == 4;
}

// Both blocks of a PE answer into the first box.
WRONG_PROGRAM(two_blocks_put_into_one_box, found,
              .kinds = {defect::unordered_write, defect::unordered_read, defect::two_writers},
              .says = {"packets_kernels.cpp:"}) {
  const auto boxes = zeroed<packet>(m, 2);
  const auto data = zeroed<double>(m, 1);
  const sym<packet> box = boxes.data();
  const sym<double> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const int which = b.index();
        const auto slot = box + (fixed ? which : 0);
        if (b.pe() == 0)
          b.put_packet_each<double>(true, slot, [=] { return content{{1.0 + which}}; }, 1, 1);
        else if (which == 0)
          for (index_t k = 0; k < 2; ++k) *x.on(1) += b.take_packet<double>(box + (fixed ? k : 0), 1, 0).element[0];
      });
  return read(m, data, 1)[0] == 3;
}

}  // namespace
}  // namespace starling::test::packets_kernels_tests
