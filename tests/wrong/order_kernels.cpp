// fence, quiet and causality over several PEs: orders that do not follow from what was called.
#include "wrong/wrong.hpp"

namespace starling::test::order_kernels_tests {
namespace {

// PE 0 puts to PE 2 and tells PE 1, who tells PE 2.
WRONG_PROGRAM(news_overtakes_data_through_a_third_pe, found, .kinds = races, .says = {"by put", "order_kernels.cpp:"},
              .pes = 3) {
  const auto data = zeroed<int>(m, 4);
  const auto sums = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int v[4] = {1, 2, 3, 4};
        if (b.pe() == 0) {
          b.put(x, v, 4, 2);
          if (fixed) b.quiet();
          b.signal_set(s, 1, 1);
          return;
        }
        b.wait(s, 1, b.pe() - 1);
        if (b.pe() == 1) b.signal_set(s, 1, 2);
        if (b.pe() == 2) *y.on(2) = x.on(2)[3];
      });
  return read(m, sums, 2)[0] == 4;
}

// The second block's quiet is not for the first block's put.
WRONG_PROGRAM(quiet_by_another_block, found, .kinds = races, .says = {"by put", "order_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 4);
  const auto sums = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  const sym<signal> s = signals.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const int v[4] = {1, 2, 3, 4};
        if (b.pe() == 0) {
          if (b.index() == 0) b.put(x, v, 4, 1);
          if (b.index() == 0 && fixed) b.quiet();
          b.sync_pe();
          if (b.index() == 1 && !fixed) b.quiet();
          if (b.index() == 1) b.signal_set(s, 1, 1);
        } else {
          if (b.index() == 0) b.wait(s, 1, 0);
          if (b.index() == 0) *y.on(1) = x.on(1)[3];
          b.sync_pe();
        }
      });
  return read(m, sums, 1)[0] == 4;
}

// fence orders puts, it does not complete them.
WRONG_PROGRAM(fence_in_place_of_quiet, found, .kinds = {defect::source_reused},
              .says = {"put_nbi", "quiet()", "order_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 8);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        x.on(b.pe())[0] = 1;
        b.put_nbi(x + 4, x.on(b.pe()), 4, 1 - b.pe());
        if (fixed)
          b.quiet();
        else
          b.fence();
        x.on(b.pe())[0] = 2;
      });
  return read(m, data, 0)[4] == 1;
}

// A value that was put is read back at once.
WRONG_PROGRAM(put_read_back_without_quiet, found, .kinds = races, .says = {"by put", "quiet()", "order_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 1);
  const auto back = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const sym<int> y = back.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.p(x, 7, 1 - b.pe());
        if (fixed) b.quiet();
        *y.on(b.pe()) = b.g(x, 1 - b.pe());
      });
  return read(m, back, 0)[0] == 7;
}

// Two puts to the same place: the last one need not be the later one.
WRONG_PROGRAM(second_put_to_the_same_place, found, .kinds = {defect::unordered_write},
              .says = {"by put", "fence()", "order_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.put(x, [](index_t) { return 1; }, 4, 1 - b.pe());
        if (fixed) b.fence();
        b.p(x + 2, 2, 1 - b.pe());
      });
  return read(m, data, 0) == std::vector<int>{1, 1, 2, 1};
}

// The new halo goes into one buffer, and the other one is read.
WRONG_PROGRAM(other_half_of_the_double_buffer, found, .kinds = races, .says = {"order_kernels.cpp:"}) {
  const auto halos = zeroed<int>(m, 2);
  const auto sums = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> halo = halos.data();
  const sym<int> y = sums.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t t = 1; t <= 4; ++t) {
          const int v = static_cast<int>(t);
          b.put_signal(halo + static_cast<index_t>(t % 2), &v, 1, s, t, 1 - b.pe());
          b.wait(s, t, 1 - b.pe());
          *y.on(b.pe()) += halo.on(b.pe())[(fixed ? t : t + 1) % 2];
        }
      });
  return read(m, sums, 0)[0] == 10;
}

// Two buffers, but the sender is told of steps that are only begun: it runs ahead by one too many.
WRONG_PROGRAM(credit_one_step_too_generous, found, .kinds = races, .says = {"order_kernels.cpp:", "a credit"}) {
  const auto buffers = zeroed<int>(m, 2);
  const auto sums = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 2);
  const sym<int> x = buffers.data();
  const sym<int> y = sums.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (std::uint64_t t = 1; t <= 5; ++t) {
          const auto slot = x + static_cast<index_t>(t % 2);
          const int v = static_cast<int>(t);
          if (b.pe() == 0) {
            const std::uint64_t ahead = fixed ? 2 : 3;
            if (t > ahead) b.wait(s + 1, t - ahead, 1);
            b.put_signal(slot, &v, 1, s, t, 1);
          } else {
            b.wait(s, t, 0);
            *y.on(1) += *slot.on(1);
            b.signal_set(s + 1, t, 0);
          }
        }
      });
  return read(m, sums, 1)[0] == 15;
}

// A queue: the counter says how many there are, and is raised before they are there.
WRONG_PROGRAM(queue_counted_by_an_atomic, found, .kinds = races, .says = {"by put", "order_kernels.cpp:"}, .pes = 3) {
  const auto items = zeroed<int>(m, 2);
  const auto counts = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 2);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> item = items.data();
  const sym<int> count = counts.data();
  const sym<signal> s = signals.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() > 0) {
          const int at = b.atomic_fetch_add(count, 1, 0);
          const int v = b.pe();
          if (fixed)
            b.put_signal(item + at, &v, 1, s + at, 1, 0);
          else
            b.p(item + at, v, 0);
          return;
        }
        while (b.atomic_fetch(count, 0) < 2) {
        }
        if (fixed) b.wait_all(s, 2, 1);
        *y.on(0) = item.on(0)[0] + item.on(0)[1];
      });
  return read(m, sums, 0)[0] == 3;
}

// A plain word as a flag, polled by gets.
WRONG_PROGRAM(flag_polled_by_gets, found, .kinds = races, .says = {"by put", "order_kernels.cpp:"}) {
  const auto flags = zeroed<int>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> flag = flags.data();
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) {
          if (fixed)
            b.signal_set(s, 1, 1);
          else
            b.p(flag, 1, 1);
        } else {
          if (fixed) b.wait(s, 1, 0);
          for (int tries = 0; !fixed && tries < 1000 && b.g(flag, 1) == 0; ++tries) {
          }
          *x.on(1) = 1;
        }
      });
  return read(m, data, 1)[0] == 1;
}

// Partial sums are put to PE 0, which meets its own blocks only.
WRONG_PROGRAM(gather_without_meeting_the_others, found, .kinds = races, .says = {"by put", "order_kernels.cpp:"},
              .pes = 3) {
  const auto parts = zeroed<int>(m, 3);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> x = parts.data();
  const sym<int> y = sums.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        b.p(x + b.pe(), b.pe() + 1, 0);
        if (fixed) {
          b.barrier_all();
        } else {
          b.quiet();
          b.sync_pe();
        }
        if (b.pe() == 0) *y.on(0) = x.on(0)[0] + x.on(0)[1] + x.on(0)[2];
      });
  return read(m, sums, 0)[0] == 6;
}

// A get fetches what its owner goes on changing.
WRONG_PROGRAM(get_beside_the_owners_stores, found, .kinds = races, .says = {"order_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 4);
  const auto got = zeroed<int>(m, 4);
  const sym<int> x = data.data();
  const sym<int> y = got.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        for (int step = 1; step <= 2; ++step) {
          b.for_each(4, [&](index_t i) { x.on(b.pe())[i] = step; });
          b.sync_all();
          b.get(y.on(b.pe()), x, 4, 1 - b.pe());
          if (fixed) b.sync_all();
        }
      });
  return read(m, got, 0) == std::vector<int>(4, 2);
}

}  // namespace
}  // namespace starling::test::order_kernels_tests
