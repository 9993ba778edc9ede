// Channels: numbers, lengths, lanes and credits that the two ends do not agree upon.
#include "wrong/wrong.hpp"

namespace starling::test::channels_kernels_tests {
namespace {

// A kernel for two PEs: one that sends, one that receives.
constexpr int sender = 0;
constexpr int receiver = 1;

// The receiver counts from 0, as its loop does, and waits for the message before the first.
WRONG_PROGRAM(receiver_expects_a_number_that_never_comes, found, .kinds = {defect::lost_signal, defect::deadlock},
              .says = {"channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(4);
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (int k = 0; k < 2; ++k) {
          const auto number = static_cast<std::uint64_t>(k) + 1;
          if (b.pe() == sender)
            b.send(c, [=](index_t i) { return k + static_cast<int>(i); }, 4, number, receiver);
          else
            x.on(receiver)[k] = b.receive(c, 4, fixed ? number : number + 1, sender)(3);
        }
      });
  return read(m, data, receiver) == std::vector<int>{3, 4};
}

// The receiver asks for more elements than were sent.
WRONG_PROGRAM(receiver_asks_for_more_than_was_sent, found,
              .kinds = {defect::lost_signal, defect::uninitialised, defect::deadlock},
              .says = {"channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<double>(16);
  const auto c = owner.handle();
  const auto data = zeroed<double>(m, 1);
  const sym<double> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const index_t n = fixed || b.pe() == receiver ? 12 : 8;
        if (b.pe() == sender)
          b.send(c, [](index_t i) { return static_cast<double>(i); }, n, 1, receiver);
        else
          *x.on(receiver) = b.receive(c, n, 1, sender)(11);
      });
  return read(m, data, receiver)[0] == 11;
}

// The same beyond the size up to which messages are packets: the data comes, but not all of it.
WRONG_PROGRAM(receiver_asks_for_more_of_a_large_message, found, .kinds = {defect::uninitialised},
              .says = {"channels_kernels.cpp:", "which nothing has written"}) {
  auto owner = m.allocate_channel<int>(64, {.how = protocol::stores});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const index_t n = fixed || b.pe() == receiver ? 64 : 32;
        if (b.pe() == sender)
          b.send(c, [](index_t i) { return static_cast<int>(i); }, n, 1, receiver);
        else
          *x.on(receiver) = b.receive(c, n, 1, sender)(63);
      });
  return read(m, data, receiver)[0] == 63;
}

// Lengths on both sides of the size up to which messages are packets: one end stores, the other takes packets.
WRONG_PROGRAM(lengths_of_two_protocols, found, .kinds = {defect::lost_signal, defect::deadlock},
              .says = {"channels_kernels.cpp:"}) {
  constexpr index_t limit = packets_up_to_other_pe / 4;
  auto owner = m.allocate_channel<int>(limit + 8);
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == sender)
          b.send(c, [](index_t) { return 7; }, limit + 8, 1, receiver);
        else
          *x.on(receiver) = b.receive(c, fixed ? limit + 8 : limit, 1, sender)(0);
      });
  return read(m, data, receiver)[0] == 7;
}

// The view of the message before is still in use when the credit for both is given.
WRONG_PROGRAM(view_kept_beyond_its_credit, found, .kinds = races, .says = {"channels_kernels.cpp:", "a credit"}) {
  auto owner = m.allocate_channel<int>(4, {.slots = 2, .how = protocol::stores});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t k = 1; k <= 6; k += 2) {
          if (b.pe() == sender) {
            for (std::uint64_t number = k; number <= k + 1; ++number) {
              b.await_credit(c, number, receiver);
              b.send(c, [=](index_t) { return static_cast<int>(number); }, 4, number, receiver);
            }
          } else {
            const auto before = b.receive(c, 4, k, sender);
            const auto now = b.receive(c, 4, k + 1, sender);
            if (!fixed) b.give_credit(c, k + 1, sender);
            *x.on(receiver) += now(0) - before(0);
            if (fixed) b.give_credit(c, k + 1, sender);
          }
        }
      });
  return read(m, data, receiver)[0] == 3;
}

// Two blocks send side by side on the one lane.
WRONG_PROGRAM(two_blocks_send_on_one_lane, found,
              .kinds = {defect::unordered_write, defect::unordered_read, defect::two_writers},
              .says = {"channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(4, {.lanes = 2});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const auto lane = fixed ? c.lane(b.index()) : c;
        const int which = b.index();
        if (b.pe() == sender)
          b.send(lane, [=](index_t) { return which; }, 4, 1, receiver);
        else
          x.on(receiver)[which] = b.receive(lane, 4, 1, sender)(0) + 1;
      });
  return read(m, data, receiver) == std::vector<int>{1, 2};
}

// Two PEs send to a third on the one lane.
WRONG_PROGRAM(two_pes_send_on_one_lane, found,
              .kinds = {defect::unordered_write, defect::unordered_read, defect::two_writers},
              .says = {"channels_kernels.cpp:"}, .pes = 3) {
  auto owner = m.allocate_channel<int>(4, {.lanes = 2});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() < 2) {
          const int me = b.pe();
          b.send(fixed ? c.lane(me) : c, [=](index_t) { return me; }, 4, 1, 2);
        } else {
          for (int from = 0; from < 2; ++from) x.on(2)[from] = b.receive(fixed ? c.lane(from) : c, 4, 1, from)(0) + 1;
        }
      });
  return read(m, data, 2) == std::vector<int>{1, 2};
}

// A message tells of its own data, not of a put before it.
WRONG_PROGRAM(put_announced_by_a_message, found, .kinds = races, .says = {"by put", "channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(1);
  const auto c = owner.handle();
  const auto table = zeroed<int>(m, 8);
  const auto data = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> t = table.data();
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const auto entry = [](index_t i) { return 10 * static_cast<int>(i); };
        if (b.pe() == sender) {
          if (fixed)
            b.put_signal(t, entry, 8, s, 1, receiver);
          else
            b.put(t, entry, 8, receiver);
          b.send(c, [](index_t) { return 7; }, 1, 1, receiver);
        } else {
          const int which = b.receive(c, 1, 1, sender)(0);
          if (fixed) b.wait(s, 1, sender);
          *x.on(receiver) = t.on(receiver)[which];
        }
      });
  return read(m, data, receiver)[0] == 70;
}

// The second run numbers its messages from 1 again.
WRONG_PROGRAM(second_run_counts_messages_from_one, found,
              .kinds = {defect::signal_back, defect::unordered_read, defect::unordered_write, defect::lost_signal},
              .says = {"channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(4);
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  for (std::uint64_t run = 0; run < 2; ++run) {
    m.run(
        1, STARLING_KERNEL(block & b) {
          for (std::uint64_t k = 1; k <= 2; ++k) {
            const std::uint64_t number = fixed ? 2 * run + k : k;
            if (b.pe() == sender) {
              b.await_credit(c, number, receiver);
              b.send(c, [=](index_t) { return static_cast<int>(10 * run + k); }, 4, number, receiver);
            } else {
              *x.on(receiver) = b.receive(c, 4, number, sender)(2);
              b.give_credit(c, number, sender);
            }
          }
        });
  }
  return read(m, data, receiver)[0] == 12;
}

// One element more than the channel was made for.
WRONG_PROGRAM(message_beyond_the_capacity, found, .kinds = {defect::out_of_bounds}, .says = {"channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(fixed ? 5 : 4);
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == sender)
          b.send(c, [](index_t i) { return static_cast<int>(i); }, 5, 1, receiver);
        else
          *x.on(receiver) = b.receive(c, 5, 1, sender)(4);
      });
  return read(m, data, receiver)[0] == 4;
}

// Lanes are numbered from 0: the third block has none.
WRONG_PROGRAM(lane_that_does_not_exist, found, .kinds = {defect::out_of_bounds}, .says = {"channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(1024, {.lanes = fixed ? 3 : 2});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 3);
  const sym<int> x = data.data();
  m.run(
      3, STARLING_KERNEL(block & b) {
        const int which = b.index();
        if (b.pe() == sender)
          b.send(c.lane(which), [=](index_t) { return which; }, 1024, 1, receiver);
        else
          x.on(receiver)[which] = b.receive(c.lane(which), 1024, 1, sender)(0) + 1;
      });
  return read(m, data, receiver) == std::vector<int>{1, 2, 3};
}

// The source of the message is shorter than the message.
WRONG_PROGRAM(message_longer_than_its_source, found, .kinds = {defect::out_of_bounds},
              .says = {"channels_kernels.cpp:", "behind the end of an allocation of 32"}) {
  auto owner = m.allocate_channel<int>(16);
  const auto c = owner.handle();
  const auto source = zeroed<int>(m, 8);
  const auto data = zeroed<int>(m, 1);
  const sym<int> from = source.data();
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const index_t n = fixed ? 8 : 16;
        if (b.pe() == sender)
          b.send(c, from.on(sender), n, 1, receiver);
        else
          *x.on(receiver) = b.receive(c, n, 1, sender)(n - 1) + 1;
      });
  return read(m, data, receiver)[0] == 1;
}

// The source of a message is written by the other block of the PE.
WRONG_PROGRAM(message_of_another_blocks_data, found, .kinds = races, .says = {"channels_kernels.cpp:", "sync_pe"}) {
  auto owner = m.allocate_channel<int>(4);
  const auto c = owner.handle();
  const auto source = zeroed<int>(m, 4);
  const auto data = zeroed<int>(m, 1);
  const sym<int> from = source.data();
  const sym<int> x = data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        if (b.pe() == sender && b.index() == 1) b.for_each(4, [&](index_t i) { from.on(sender)[i] = 9; });
        if (fixed) b.sync_pe();
        if (b.index() == 1) return;
        if (b.pe() == sender)
          b.send(c, from.on(sender), 4, 1, receiver);
        else
          *x.on(receiver) = b.receive(c, 4, 1, sender)(3);
      });
  return read(m, data, receiver)[0] == 9;
}

// The credit goes to the next PE of the pipeline instead of to the one before.
WRONG_PROGRAM(credit_to_the_wrong_pe, found, .kinds = {defect::lost_signal, defect::deadlock},
              .says = {"channels_kernels.cpp:"}, .pes = 3) {
  auto owner = m.allocate_channel<int>(4, {.slots = 1});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t k = 1; k <= 3; ++k) {
          int v = static_cast<int>(k);
          if (b.pe() > 0) {
            v = b.receive(c, 4, k, b.pe() - 1)(0) + 1;
            b.give_credit(c, k, fixed ? b.pe() - 1 : (b.pe() + 1) % 3);
          }
          if (b.pe() == 2) {
            *x.on(2) = v;
            continue;
          }
          b.await_credit(c, k, b.pe() + 1);
          b.send(c, [=](index_t) { return v; }, 4, k, b.pe() + 1);
        }
      });
  return read(m, data, 2)[0] == 5;
}

// Both ends send all of theirs before they receive anything, with fewer slots than messages.
WRONG_PROGRAM(both_ends_await_credit_first, found, .kinds = {defect::deadlock},
              .says = {"wait-for cycle", "channels_kernels.cpp:"}) {
  auto owner = m.allocate_channel<int>(4, {.slots = 1});
  const auto c = owner.handle();
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int other = 1 - b.pe();
        const auto send = [&](std::uint64_t k) {
          b.await_credit(c, k, other);
          b.send(c, [=](index_t) { return static_cast<int>(k); }, 4, k, other);
        };
        const auto take = [&](std::uint64_t k) {
          *x.on(b.pe()) += b.receive(c, 4, k, other)(1);
          b.give_credit(c, k, other);
        };
        send(1);
        if (fixed) take(1);
        send(2);
        if (!fixed) take(1);
        take(2);
      });
  return read(m, data, 0)[0] == 3;
}

}  // namespace
}  // namespace starling::test::channels_kernels_tests
