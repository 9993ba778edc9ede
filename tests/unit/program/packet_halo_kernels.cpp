// Boxes that generated programs send as packets.
#include "starling/program/packet_halo.hpp"

#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::packet_halo_tests {
namespace {

using generated::box;
using generated::packet_place;

constexpr int rank = 3;
constexpr std::uint64_t messages = 5;

struct problem {
  index_t extents[rank];
  box<rank> x;
  packet_place place;

  index_t size() const { return extents[0] * extents[1] * extents[2]; }
  // Whether element i of the array is in the box.
  bool has(index_t i) const {
    const index_t at[rank] = {i / (extents[1] * extents[2]), i / extents[2] % extents[1], i % extents[2]};
    bool in = true;
    for (int k = 0; k < rank; ++k) in = in && at[k] >= x.from[k] && at[k] < x.from[k] + x.count[k];
    return in;
  }
};

// Of a box that is all of the array behind axis `last`.
template <class T>
problem some_problem(random& r, int last) {
  problem p{{1 + r.below(4), 1 + r.below(5), 1 + r.below(30)}, {}, {}};
  for (int k = 0; k < rank; ++k) {
    p.x.count[k] = k > last ? p.extents[k] : 1 + r.below(p.extents[k]);
    p.x.from[k] = r.below(p.extents[k] - p.x.count[k] + 1);
  }
  p.place = {r.below(3), packets_for<T>(p.x.count[0] * p.x.count[1] * p.x.count[2])};
  return p;
}

template <int Last, class T>
void send(machine& m, const problem& p, sym<T> data, sym<packet> slots, sym<signal> taken) {
  auto k = STARLING_KERNEL(block & b) {
    const generated::array<T, rank> a(data, b.pe(), {0, 0, 0}, {p.extents[0], p.extents[1], p.extents[2]});
    for (std::uint64_t number = 0; number <= messages; ++number) {
      const sym<packet> at = slots + p.place.of(number);
      if (b.pe() == 1) {
        generated::take_packets<Last>(b, a, p.x, at, number, 0);
        b.signal_set(taken, number, 0);
      } else if (number > 0) {
        b.wait(taken, number > 2 ? number - 2 : 0, 1);  // the message before the last is behind
        generated::put_packets<Last>(b, a, p.x, at, number, 1);
      }
    }
  };
  m.run(1, k, {.threads = 64});
}

template <int Last, class T>
void exchange(machine& m, random& r) {
  const problem p = some_problem<T>(r, Last);
  const index_t slots = p.place.first + 2 * p.place.room;
  const auto data = m.allocate<T>(p.size());
  const auto boxes = zeroed<packet>(m, slots);
  const auto taken = m.allocate<signal>(1);
  std::vector<T> sent;
  for (index_t i = 0; i < p.size(); ++i) sent.push_back(static_cast<T>(r.below(1000)));
  write(m, data, 0, sent);
  write(m, data, 1, std::vector<T>(sent.size(), static_cast<T>(-1)));
  send<Last, T>(m, p, data.data(), boxes.data(), taken.data());
  const std::vector<T> came = read(m, data, 1);
  for (index_t i = 0; i < p.size(); ++i) {
    CAPTURE(i);
    CHECK(came[static_cast<std::size_t>(i)] == (p.has(i) ? sent[static_cast<std::size_t>(i)] : static_cast<T>(-1)));
  }
}

TEST_CASE_TEMPLATE("a box arrives, and nothing beside it", T, std::int32_t, std::int64_t, float, double) {
  auto m = test_machine(2);
  if (!m) return;
  random r(92);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int times = 0; times < 20; ++times) {
    exchange<0, T>(*m, r);
    exchange<1, T>(*m, r);
    exchange<2, T>(*m, r);
  }
}

}  // namespace
}  // namespace starling::test::packet_halo_tests
