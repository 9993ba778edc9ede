// Messages of seeded sizes around a ring of PEs, each checked where it arrives: the program of the channel tests.
#pragma once

#include <algorithm>
#include <vector>

#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test {

// How a program breaks the contract, for controls.
enum class channel_mistake : int { none, no_credit_awaited, credit_before_reading };

template <class T>
struct channel_traffic {
  channel<T> c;
  sym<T> source;  // [capacity + 1]
  index_t n;      // longest message
  std::uint64_t first;
  int messages;
  std::uint64_t seed;
  bool computed;  // send from a function, not from memory
  bool each;      // receive element by element
  channel_mistake mistake;
  counter good;

  STARLING_HD static T made(int from, std::uint64_t number, index_t i) {
    return element<T>::of(mix(static_cast<std::uint64_t>(from), number, static_cast<std::uint64_t>(i)));
  }
  // Every length from 0 to n may come; the longest and the shortest often.
  STARLING_HD index_t length(std::uint64_t number) const {
    const std::uint64_t x = mix(seed, number);
    return x % 4 == 0
               ? n - static_cast<index_t>(x / 4 % 2 < static_cast<std::uint64_t>(n)) * static_cast<index_t>(x / 4 % 2)
           : x % 4 == 1 ? static_cast<index_t>(x / 4 % 2) * (n > 0)
                        : static_cast<index_t>(x / 4 % static_cast<std::uint64_t>(n + 1));
  }

  template <class Group>
  STARLING_HD void operator()(const Group& b) const {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (int m = 0; m < messages; ++m) {
      const std::uint64_t number = first + static_cast<std::uint64_t>(m);
      const index_t size = length(number);
      if (mistake != channel_mistake::no_credit_awaited) b.await_credit(c, number, right);
      if (computed) {
        b.send(c, [=, pe = b.pe()](index_t i) { return made(pe, number, i); }, size, number, right);
      } else {
        T* mine = source.on(b.pe()) + number % 2;  // the source need not be aligned
        b.for_each(size, [&](index_t i) { mine[i] = made(b.pe(), number, i); });
        b.sync();
        b.send(c, mine, size, number, right);
      }
      if (mistake == channel_mistake::credit_before_reading) b.give_credit(c, number, left);
      index_t wrong = 0;
      index_t seen = 0;
      const auto look = [&](index_t i, const T& value) {
        ++seen;
        wrong += !(value == made(left, number, i));
      };
      if (each) {
        b.receive_each(c, size, number, left, look);
      } else {
        const auto all = b.receive(c, size, number, left);
        b.for_each(all.extent(0), [&](index_t i) { look(i, all(i)); });
      }
      good.add(b, seen, wrong);
      if (mistake != channel_mistake::credit_before_reading) b.give_credit(c, number, left);
    }
  }

  // What all PEs look at together.
  std::uint64_t elements(int n_pes) const {
    std::uint64_t all = 0;
    for (int m = 0; m < messages; ++m) all += static_cast<std::uint64_t>(length(first + static_cast<std::uint64_t>(m)));
    return all * static_cast<std::uint64_t>(n_pes);
  }
};

struct channel_run {
  index_t n = 1;
  channel_options options = {};
  std::uint64_t first = 1;
  int messages = 40;
  std::uint64_t seed = 1;
  bool computed = false;
  bool each = false;
  channel_mistake mistake = channel_mistake::none;
};

template <class T>
void run_channel(machine& m, const channel_run& r, int threads = 64) {
  auto c = m.allocate_channel<T>(r.n, r.options);
  if (r.first != 1) c.restart(m, r.first - 1);
  const auto source = poisoned<T>(m, r.n + 1);
  const tally t(m);
  const channel_traffic<T> traffic{c.handle(), source.data(), r.n,    r.first,   r.messages,
                                   r.seed,     r.computed,    r.each, r.mistake, t.counter()};
  m.run(1, STARLING_KERNEL(block & b) { traffic(b); }, {.threads = threads});
  CHECK(t.made() == traffic.elements(m.size()));
  CHECK(t.failed() == 0);
}

}  // namespace starling::test
