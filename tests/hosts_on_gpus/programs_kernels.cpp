#include "programs.hpp"

#include <algorithm>

namespace starling::test {
namespace {

constexpr std::uint64_t factor = 6'364'136'223'846'793'005ULL;

STARLING_HD constexpr std::uint64_t first_word(int pe) { return factor * static_cast<std::uint64_t>(pe + 3); }
STARLING_HD constexpr std::uint64_t next_word(std::uint64_t own, std::uint64_t sum, std::uint64_t came) {
  return own * factor + (sum ^ came >> 7) + came;
}

template <class T>
symmetric_array<T> zeros(machine& m, index_t n) {
  symmetric_array<T> a = m.allocate<T>(n);
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe)
    m.fill(a.on(static_cast<int>(pe)), 0, static_cast<std::size_t>(n) * sizeof(T));
  m.meet();
  return a;
}

template <class T>
std::vector<T> values(machine& m, const symmetric_array<T>& a, int pe) {
  std::vector<T> all(static_cast<std::size_t>(a.size()));
  m.copy(all.data(), a.on(pe), all.size() * sizeof(T));
  return all;
}

}  // namespace

std::vector<std::uint64_t> ring_words(machine& m, int steps, int words) {
  auto inboxes = zeros<std::uint64_t>(m, 2 * words);
  auto outboxes = zeros<std::uint64_t>(m, words);
  auto arrivals = zeros<signal>(m, 1);
  auto results = zeros<std::uint64_t>(m, 1);
  const sym<std::uint64_t> in = inboxes.data();
  const sym<std::uint64_t> out = outboxes.data();
  const sym<signal> came = arrivals.data();
  const sym<std::uint64_t> result = results.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int me = b.pe();
        const int next = (me + 1) % b.n_pes();
        const int before = (me + b.n_pes() - 1) % b.n_pes();
        std::uint64_t own = first_word(me);
        for (int s = 1; s <= steps; ++s) {
          const std::uint64_t sum = b.all_reduce(own, plus{});
          b.for_each(words, [&](index_t i) { out.on(me)[i] = own + static_cast<std::uint64_t>(i); });
          b.sync();
          b.put_signal(in + s % 2 * words, out.on(me), words, came, static_cast<std::uint64_t>(s), next);
          b.wait(came, static_cast<std::uint64_t>(s), before);
          const std::uint64_t* box = in.on(me) + s % 2 * words;
          std::uint64_t odd = 0;  // a word that is not what its sender has begun with
          for (index_t i = 0; i < words; ++i) odd |= box[i] - box[0] - static_cast<std::uint64_t>(i);
          own = next_word(own, sum, box[0] + odd);
          b.sync();
        }
        if (b.member() == 0) result.on(me)[0] = own;
      });
  std::vector<std::uint64_t> all;
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe)
    all.push_back(values(m, results, static_cast<int>(pe))[0]);
  return all;
}

std::vector<std::uint64_t> expected_ring(int pes, int steps) {
  std::vector<std::uint64_t> all;
  for (int pe = 0; pe < pes; ++pe) all.push_back(first_word(pe));
  for (int s = 0; s < steps; ++s) {
    std::uint64_t sum = 0;
    for (const std::uint64_t v : all) sum += v;
    const std::vector<std::uint64_t> old = all;
    for (std::size_t pe = 0; pe < all.size(); ++pe)
      all[pe] = next_word(old[pe], sum, old[(pe + all.size() - 1) % all.size()]);
  }
  return all;
}

std::string random_puts(machine& m, int rounds) {
  auto sources = zeros<unsigned char>(m, longest_put);
  auto boxes = zeros<unsigned char>(m, longest_put);
  auto fetched = zeros<unsigned char>(m, longest_put);
  auto arrivals = zeros<signal>(m, 1);
  auto wrong = zeros<std::int64_t>(m, 2);  // 1 + the first byte, of a put, of a get
  const sym<unsigned char> source = sources.data();
  const sym<unsigned char> box = boxes.data();
  const sym<unsigned char> got = fetched.data();
  const sym<signal> came = arrivals.data();
  const sym<std::int64_t> bad = wrong.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int me = b.pe();
        for (int round = 0; round < rounds; ++round) {
          const int to = target_of_put(me, round, b.n_pes());
          int from = 0;
          while (target_of_put(from, round, b.n_pes()) != me) ++from;
          const index_t n = length_of_put(me, round);
          const index_t at = place_of_put(me, round);
          unsigned char* mine = source.on(me) + at;
          b.for_each(n, [&](index_t i) { mine[i] = byte_of_put(me, round, i); });
          b.sync();
          if (round % 2 == 0) {
            b.put_signal(box + at, mine, n, came, static_cast<std::uint64_t>(round) + 1, to);
          } else {
            b.put_nbi(box + at, mine, n, to);
            b.fence();
            b.signal_set(came, static_cast<std::uint64_t>(round) + 1, to);
          }
          b.wait(came, static_cast<std::uint64_t>(round) + 1, from);
          const index_t theirs = length_of_put(from, round);
          const index_t place = place_of_put(from, round);
          b.for_each(theirs, [&](index_t i) {
            if (box.on(me)[place + i] != byte_of_put(from, round, i)) bad.on(me)[0] = 1 + i;
          });
          b.get(got.on(me), source + place, theirs, from);
          b.for_each(theirs, [&](index_t i) {
            if (got.on(me)[i] != byte_of_put(from, round, i)) bad.on(me)[1] = 1 + i;
          });
          b.quiet();
          b.sync_all();
        }
      });
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe) {
    const std::vector<std::int64_t> first = values(m, wrong, static_cast<int>(pe));
    if (first[0] + first[1] > 0) return message("PE ", pe, ": byte ", first[0], " of a put, ", first[1], " of a get");
  }
  return "all right";
}

std::string counted_numbers(machine& m, int rounds) {
  const index_t all = index_t{rounds} * m.size();
  auto counters = zeros<std::int64_t>(m, 1);
  auto sums = zeros<std::uint64_t>(m, 1);
  auto takings = zeros<std::int64_t>(m, all);
  const sym<std::int64_t> counter = counters.data();
  const sym<std::uint64_t> sum = sums.data();
  const sym<std::int64_t> taken = takings.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int me = b.pe();
        for (int i = 0; i < rounds * b.n_pes(); ++i) {
          const std::int64_t number = b.atomic_fetch_add(counter, 1, (me + i) % b.n_pes());
          if (b.member() == 0) taken.on(me)[i] = number;
          if (i % b.n_pes() != 0) continue;
          // 3 x + 1, by comparing and swapping: lost or double ones would show.
          std::uint64_t seen = b.atomic_fetch(sum, 0);
          for (bool done = false; !done;) {
            const std::uint64_t before = b.atomic_compare_swap(sum, seen, 3 * seen + 1, 0);
            done = before == seen;
            seen = before;
          }
        }
        b.sync_all();
      });
  m.meet();
  // Numbers of each counter: every one was taken once.
  for (int at = 0; at < m.size(); ++at) {
    std::vector<std::int64_t> numbers;
    for (int pe = 0; pe < m.size(); ++pe) {
      const std::vector<std::int64_t> theirs = values(m, takings, pe);
      for (index_t i = 0; i < all; ++i)
        if ((pe + i) % m.size() == at) numbers.push_back(theirs[static_cast<std::size_t>(i)]);
    }
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != static_cast<std::int64_t>(i)) return message("number ", i, " of PE ", at, " is ", numbers[i]);
  }
  std::uint64_t expected = 0;
  for (int i = 0; i < rounds * m.size(); ++i) expected = 3 * expected + 1;
  const std::uint64_t swapped = values(m, sums, 0)[0];
  m.meet();
  return swapped == expected ? "all right" : message("swapped up to ", swapped, " instead of ", expected);
}

void wait_for_nobody(machine& m) {
  auto never = zeros<signal>(m, 1);
  const sym<signal> s = never.data();
  const auto k = STARLING_KERNEL(block & b) { b.wait(s, 1, (b.pe() + 1) % b.n_pes()); };
  m.run(1, k, {.deadline = 3});
}

}  // namespace starling::test
