#include "processes/programs.hpp"

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/random.hpp"

namespace starling::test {

std::vector<double> ring_values(machine& m, int steps) {
  auto values = m.allocate<double>(2);
  auto inbox = m.allocate<double>(2);
  auto arrived = m.allocate<signal>(1);
  const sym<double> x = values.data();
  const sym<double> in = inbox.data();
  const sym<signal> here = arrived.data();
  auto k = STARLING_KERNEL(block & b) {
    const int next = (b.pe() + 1) % b.n_pes();
    const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
    double mine = 1.0 / (3 + b.pe());
    for (int s = 1; s <= steps; ++s) {
      const double sum = b.all_reduce(mine, plus{});
      b.put_signal(in + s % 2, &sum, 1, here, s, next);
      b.wait(here, s, before);
      mine = in.on(b.pe())[s % 2] / (b.pe() + 1.5) + mine / 7;
      if (b.member() == 0) x.on(b.pe())[0] = sum;
    }
    if (b.member() == 0) x.on(b.pe())[1] = mine;
  };
  m.run(1, k);
  std::vector<double> all(2 * static_cast<std::size_t>(m.size()));
  for (int pe = 0; pe < m.size(); ++pe)
    m.copy(&all[2 * static_cast<std::size_t>(pe)], values.on(pe), 2 * sizeof(double));
  return all;
}

std::string ring_bits(machine& m, int steps) {
  std::ostringstream text;
  for (const double v : ring_values(m, steps)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    text << std::hex << bits << " ";
  }
  return text.str();
}

void wait_in_ring(machine& m) {
  auto never = m.allocate<signal>(1);
  const sym<signal> s = never.data();
  auto k = STARLING_KERNEL(block & b) { b.wait(s, 1, (b.pe() + 1) % b.n_pes()); };
  m.run(1, k);
}

void wait_for_sleeper(machine& m, double seconds) {
  auto done = m.allocate<signal>(1);
  const sym<signal> s = done.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      b.wait(s, 1, 1);
      return;
    }
    if (b.pe() > 1) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    b.signal_set(s, 1, 0);
  };
  m.run(1, k);
}

void throw_on(machine& m, int pe) {
  auto never = m.allocate<signal>(1);
  const sym<signal> s = never.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == pe) throw std::runtime_error("the kernel has had enough");
    b.wait(s, 1, pe);
  };
  m.run(1, k);
}

void wait_for_data(machine& m) {
  auto words = m.allocate<std::uint64_t>(1);
  const auto own = m.local_pes();
  for (auto pe = own.begin; pe < own.end; ++pe) m.fill(words.on(static_cast<int>(pe)), 0, sizeof(std::uint64_t));
  const sym<std::uint64_t> w = words.data();
  auto k = STARLING_KERNEL(block & b) {
    const std::uint64_t value = 77;
    if (b.pe() == 0)
      for (int pe = 1; pe < b.n_pes(); ++pe) b.put(w, &value, 1, pe);
    else
      b.wait_until(w, compare::eq, 77, 0);
  };
  m.run(1, k);
}

namespace {

// What the kernels have counted at each PE; everyone calls it.
std::string sum_of_wrong(machine& m, const symmetric_array<std::int64_t>& wrong, const char* what) {
  std::string text;
  for (int pe = 0; pe < m.size(); ++pe) {
    std::int64_t errors = 0;
    m.copy(&errors, wrong.on(pe), sizeof errors);
    if (errors != 0) text += message("PE ", pe, ": ", errors, " ", what, "; ");
  }
  m.meet();
  return text.empty() ? "all right" : text;
}

// What PE `pe` sends in a round: where it begins, how long it is, and byte i of it.
constexpr index_t longest = (index_t{4} << 20) + 100;
constexpr index_t odd_place(int pe, int round) {
  return static_cast<index_t>(mix(static_cast<std::uint64_t>(pe + 8 * round)) % 9);
}
constexpr index_t odd_length(int pe, int round) {
  constexpr index_t around[] = {16'383, 16'384, 16'385, 65'537, 300'001, (index_t{4} << 20) + 1};
  return around[mix(static_cast<std::uint64_t>(pe), static_cast<std::uint64_t>(round)) % 6];
}
constexpr unsigned char odd_byte(int pe, int round, index_t i) {
  return static_cast<unsigned char>(1 + (static_cast<index_t>(pe) * 7 + round * 3 + i * 31 + (i >> 8)) % 250);
}

}  // namespace

std::string large_calls(machine& m, int rounds) {
  auto sources = m.allocate<unsigned char>(longest);
  auto boxes = m.allocate<unsigned char>(longest);
  auto fetched = m.allocate<unsigned char>(longest);
  auto arrived = m.allocate<signal>(1);
  auto counter = m.allocate<std::int64_t>(1);
  auto wrong = m.allocate<std::int64_t>(1);
  for (auto pe = static_cast<int>(m.local_pes().begin); pe < m.local_pes().end; ++pe) {
    m.fill(boxes.on(pe), 0, static_cast<std::size_t>(longest));
    m.fill(arrived.on(pe), 0, 8);
    m.fill(counter.on(pe), 0, 8);
  }
  const sym<unsigned char> source = sources.data();
  const sym<unsigned char> box = boxes.data();
  const sym<unsigned char> got = fetched.data();
  const sym<signal> here = arrived.data();
  const sym<std::int64_t> count = counter.data();
  const sym<std::int64_t> bad = wrong.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int me = b.pe();
        const int next = (me + 1) % b.n_pes();
        const int before = (me + b.n_pes() - 1) % b.n_pes();
        constexpr index_t few = 9;
        unsigned char over[few];
        for (auto& v : over) v = 255;
        std::int64_t errors = 0;
        for (int round = 0; round < rounds; ++round) {
          const index_t n = odd_length(me, round);
          const index_t at = odd_place(me, round);
          const int how = round % 4;
          unsigned char* mine = source.on(me) + at;
          for (index_t i = 0; i < n; ++i) mine[i] = odd_byte(me, round, i);
          if (how == 0) {
            b.put_signal(box + at, mine, n, here, round + 1, next);
          } else {
            b.put_nbi(box + at, mine, n, next);
            if (how == 1) {
              b.fence();
              b.put(box + at + n / 2, over, few, next);
            }
            if (how == 2) {
              b.quiet();
              for (index_t i = 0; i < n; ++i) mine[i] = 0;
            }
            b.fence();
            if (how == 3)
              (void)b.atomic_fetch_add(count, 1, next);
            else
              b.signal_set(here, round + 1, next);
          }
          if (how == 3)
            b.wait_until(count, compare::eq, round / 4 + 1, before);
          else
            b.wait(here, round + 1, before);
          const index_t theirs = odd_length(before, round);
          const index_t place = odd_place(before, round);
          const auto expected = [&](index_t i, bool in_box) {
            const bool over_it = how == 1 && in_box && i >= theirs / 2 && i < theirs / 2 + few;
            return over_it ? 255 : how == 2 && !in_box ? 0 : odd_byte(before, round, i);
          };
          for (index_t i = 0; i < theirs; ++i) errors += box.on(me)[place + i] != expected(i, true) ? 1 : 0;
          b.get(got.on(me), source + place, theirs, before);
          for (index_t i = 0; i < theirs; ++i) errors += got.on(me)[i] != expected(i, false) ? 1 : 0;
          b.sync_all();
        }
        bad.on(me)[0] = errors;
      });
  return sum_of_wrong(m, wrong, "bytes");
}

void move_known(machine& m) {
  constexpr index_t most = 50'000;
  auto sources = m.allocate<unsigned char>(most);
  auto boxes = m.allocate<unsigned char>(most);
  auto arrived = m.allocate<signal>(1);
  auto counter = m.allocate<std::int64_t>(1);
  const sym<unsigned char> source = sources.data();
  const sym<unsigned char> box = boxes.data();
  const sym<signal> here = arrived.data();
  const sym<std::int64_t> count = counter.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const int me = b.pe();
        for (int pe = 0; pe < b.n_pes(); ++pe) {
          if (pe == me) continue;
          b.put_signal(box, source.on(me), known_put(me, pe), here, 1, pe, signal_op::add);
          b.get(box.on(me), source, known_get(me, pe), pe);
          (void)b.atomic_fetch_add(count, 1, pe);
        }
        b.put(box, source.on(me), 100, me);  // to itself
      });
}

void signal_and_throw(machine& m) {
  auto arrived = m.allocate<signal>(1);
  const sym<signal> s = arrived.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() > 0) return;
        b.signal_set(s, 1, 1);
        throw std::runtime_error("the kernel has had enough");
      });
}

std::string reused_sources(machine& m, int rounds) {
  constexpr index_t puts = 60;
  constexpr index_t longest_put = 9000;
  auto boxes = m.allocate<unsigned char>(puts * longest_put);
  auto wrong = m.allocate<std::int64_t>(1);
  const sym<unsigned char> box = boxes.data();
  const sym<std::int64_t> bad = wrong.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int next = (b.pe() + 1) % b.n_pes();
        const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
        std::vector<unsigned char> source(longest_put);
        std::int64_t errors = 0;
        for (int round = 0; round < rounds; ++round) {
          const auto length = [&](index_t i) {
            return 1 + static_cast<index_t>(mix(static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(i)) %
                                            longest_put);
          };
          for (index_t i = 0; i < puts; ++i) {
            for (index_t k = 0; k < length(i); ++k) source[k] = odd_byte(b.pe(), round, i + k);
            b.put(box + i * longest_put, source.data(), length(i), next);
            std::memset(source.data(), 255, source.size());
          }
          b.barrier_all();
          for (index_t i = 0; i < puts; ++i)
            for (index_t k = 0; k < length(i); ++k)
              errors += box.on(b.pe())[i * longest_put + k] != odd_byte(before, round, i + k) ? 1 : 0;
          b.sync_all();
        }
        bad.on(b.pe())[0] = errors;
      });
  return sum_of_wrong(m, wrong, "bytes");
}

std::string many_packets(machine& m, int rounds) {
  constexpr index_t most = 1000;
  auto boxes = m.allocate<packet>(2 * most);
  auto wrong = m.allocate<std::int64_t>(1);
  for (auto pe = static_cast<int>(m.local_pes().begin); pe < m.local_pes().end; ++pe)
    m.fill(boxes.on(pe), 0, static_cast<std::size_t>(2 * most) * sizeof(packet));
  const sym<packet> box = boxes.data();
  const sym<std::int64_t> bad = wrong.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int next = (b.pe() + 1) % b.n_pes();
        const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
        std::int64_t errors = 0;
        for (int round = 1; round <= rounds; ++round) {
          const auto r = static_cast<std::uint64_t>(round);
          const auto value = [&](int pe, index_t k) {
            return mix(static_cast<std::uint64_t>(pe), r, static_cast<std::uint64_t>(k));
          };
          const index_t n = 1 + static_cast<index_t>(mix(r) % most);
          const sym<packet> to = box + round % 2 * most;
          b.put_packets<std::uint64_t>(
              to, [&](index_t k) { return packet_content<std::uint64_t>{{value(b.pe(), k)}}; }, n, r, next);
          for (index_t i = 0; i < n; ++i) {
            const index_t k = round % 3 == 0 ? i : n - 1 - i;
            errors += b.take_packet<std::uint64_t>(to + k, r, before).element[0] != value(before, k) ? 1 : 0;
          }
          b.sync_all();
        }
        bad.on(b.pe())[0] = errors;
      });
  return sum_of_wrong(m, wrong, "packets");
}

void put_without_end(machine& m) {
  auto sources = m.allocate<unsigned char>(longest);
  auto boxes = m.allocate<unsigned char>(longest);
  auto never = m.allocate<signal>(1);
  const sym<unsigned char> source = sources.data();
  const sym<unsigned char> box = boxes.data();
  const sym<signal> s = never.data();
  auto k = STARLING_KERNEL(block & b) {
    while (b.pe() == 0) b.put(box, source.on(0), longest, 1);
    b.wait(s, 1, 0);
  };
  m.run(1, k);
}

std::string mixed_calls(machine& m, int rounds) {
  constexpr index_t most = 40'000;
  const int pes = m.size();
  auto boxes = m.allocate<std::uint64_t>(pes * most);
  auto seen = m.allocate<std::uint64_t>(most);
  auto counter = m.allocate<std::int64_t>(3);  // additions, a real one, the lowest PE that swapped
  auto wrong = m.allocate<std::int64_t>(1);
  const sym<std::uint64_t> box = boxes.data();
  const sym<std::uint64_t> mine = seen.data();
  const sym<std::int64_t> count = counter.data();
  const sym<std::int64_t> bad = wrong.data();
  for (auto pe = static_cast<int>(m.local_pes().begin); pe < m.local_pes().end; ++pe) {
    m.fill(boxes.on(pe), 0xee, static_cast<std::size_t>(pes * most) * 8);
    m.fill(counter.on(pe), 0, 24);
    m.fill(wrong.on(pe), 0, 8);
  }
  m.run(
      1, STARLING_KERNEL(block & b) {
        const auto me = static_cast<std::uint64_t>(b.pe());
        std::int64_t errors = 0;
        for (int round = 0; round < rounds; ++round) {
          const auto r = static_cast<std::uint64_t>(round);
          const auto length = [&](std::uint64_t from) { return 1 + static_cast<index_t>(mix(from, r) % most); };
          std::uint64_t* own = mine.on(b.pe());
          for (index_t i = 0; i < length(me); ++i) own[i] = mix(me, r, static_cast<std::uint64_t>(i));
          for (int pe = 0; pe < b.n_pes(); ++pe) {
            if (round % 2 == 0)
              b.put(box + b.pe() * most, own, length(me), pe);
            else
              b.put_nbi(box + b.pe() * most, own, length(me), pe);
          }
          b.quiet();
          b.sync_all();
          for (int from = 0; from < b.n_pes(); ++from) {
            const auto f = static_cast<std::uint64_t>(from);
            const int where = (from + round) % b.n_pes();
            const index_t n = length(f);
            b.get(own, box + from * most, n, where);
            for (index_t i = 0; i < n; ++i) errors += own[i] != mix(f, r, static_cast<std::uint64_t>(i)) ? 1 : 0;
          }
          (void)b.atomic_fetch_add(count, 1, 0);
          const std::int64_t before = b.atomic_compare_swap(count + 1, round, round + 1, 0);
          errors += before != round && before != round + 1 ? 1 : 0;
          b.sync_all();
        }
        bad.on(b.pe())[0] = errors;
      });
  std::int64_t sums[2] = {};
  m.copy(sums, counter.on(0), sizeof sums);
  std::string text;
  if (sums[0] != std::int64_t{rounds} * pes || sums[1] != rounds)
    text += message("counts ", sums[0], " ", sums[1], "; ");
  for (int pe = 0; pe < pes; ++pe) {
    std::int64_t errors = 0;
    m.copy(&errors, wrong.on(pe), sizeof errors);
    if (errors != 0) text += message("PE ", pe, ": ", errors, " words; ");
  }
  m.meet();
  return text.empty() ? "all right" : text;
}

}  // namespace starling::test
