// The choice of devices alone, with made-up times: by hand in small cases, and against the rule written out plainly.
#include "stf/submit/placement_policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/random.hpp"

namespace starling::test::placement_policy_tests {
namespace {

using stf::placed_input;
using stf::placement;
using stf::placement_policy;
using stf::placement_reason;

// A class that takes so long on each device, past its trials.
std::size_t known_class(placement_policy& p, const std::vector<double>& seconds) {
  const std::size_t c = p.new_class(1);
  for (int d = 0; d < p.devices(); ++d)
    for (std::uint64_t i = 0; i < placement_policy::tries; ++i) {
      (void)p.give(c, d, {}, 0);
      p.measured(c, d, seconds[static_cast<std::size_t>(d)]);
    }
  p.all_over();
  return c;
}

TEST_CASE("an unknown class is tried where its data is, then on the others") {
  placement_policy p(3);
  const std::size_t c = p.new_class(1);
  const std::vector<placed_input> on_one = {{0, {5, 0, 7}}};
  std::vector<int> devices;
  for (int i = 0; i < 6; ++i) {
    const placement chosen = p.choose(c, on_one, 0);
    CHECK(chosen.why == placement_reason::explores);
    devices.push_back(chosen.device);
  }
  CHECK(devices == std::vector<int>{1, 1, 0, 0, 2, 2});
  CHECK(p.choose(c, on_one, 0).why == placement_reason::ends_first);
}

TEST_CASE("without data, unknown classes go round, and equals to the lowest number") {
  placement_policy p(3);
  const std::size_t c = p.new_class(1);
  std::vector<int> devices;
  for (int i = 0; i < 9; ++i) devices.push_back(p.choose(c, {}, 0).device);
  CHECK(devices == std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2});
}

TEST_CASE("data is moved only when that pays") {
  placement_policy p(2);
  const std::size_t c = known_class(p, {1, 1});
  const std::vector<placed_input> on_one = {{0, {1.5, 0}}};
  CHECK(p.choose(c, on_one, 0).device == 1);  // ends at 1, not at 2.5
  CHECK(p.choose(c, on_one, 0).device == 1);  // 2
  CHECK(p.choose(c, on_one, 0).device == 0);  // 2.5 before 3
  CHECK(p.choose(c, on_one, 0).device == 1);
  p.all_over();
  CHECK(p.choose(c, on_one, 0).end == 1);
}

TEST_CASE("what has run is forgotten as time goes on") {
  placement_policy p(2);
  const std::size_t c = known_class(p, {1, 3});
  CHECK(p.choose(c, {}, 10).end == 11);
  CHECK(p.choose(c, {}, 10).device == 0);
  CHECK(p.choose(c, {}, 10).device == 0);  // both end at 13: no data moves, the lower number
  CHECK(p.choose(c, {}, 10).device == 1);
  CHECK(p.choose(c, {}, 20).end == 21);
}

TEST_CASE("first samples do not count once there are others, later ones weigh") {
  placement_policy p(1);
  const std::size_t c = p.new_class(4);
  CHECK(p.expected(c, 0) == 4);
  p.measured(c, 0, 1000);
  CHECK(p.expected(c, 0) == 1000);
  p.measured(c, 0, 2);
  CHECK(p.expected(c, 0) == 2);
  p.measured(c, 0, 4);
  CHECK(p.expected(c, 0) == 3);
  for (int i = 0; i < 100; ++i) p.measured(c, 0, 9);
  CHECK(p.expected(c, 0) == doctest::Approx(9));
  CHECK(p.usage(c, 0).samples == 103);
}

TEST_CASE("samples become rare") {
  placement_policy p(1);
  const std::size_t c = p.new_class(1);
  int wanted = 0;
  for (int i = 0; i < 320; ++i) {
    (void)p.choose(c, {}, 0);
    wanted += p.wants_sample(c, 0) ? 1 : 0;
  }
  CHECK(wanted == placement_policy::first_samples + 10);
}

// ---- against the rule written out ----

// When a task can start on a device: the best of all orders in which its data can be copied there.
double start_by_trial(const std::vector<placed_input>& inputs, std::size_t device, double available, double now) {
  std::vector<std::size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), 0);
  double best = std::numeric_limits<double>::max();
  do {
    double link = now;
    double there = std::max(now, available);
    for (const std::size_t i : order) {
      if (inputs[i].transfer[device] > 0) {
        link = std::max(link, inputs[i].ready) + inputs[i].transfer[device];
        there = std::max(there, link);
      }
      there = std::max(there, inputs[i].ready);
    }
    best = std::min(best, there);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST_CASE("the earliest end among all devices") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    random r(seed);
    INFO("seed " << seed);
    const int devices = 1 + static_cast<int>(r.below(4));
    placement_policy p(devices);
    std::vector<std::size_t> classes;
    std::vector<std::vector<double>> seconds;
    for (int c = 0; c < 3; ++c) {
      seconds.emplace_back();
      for (int d = 0; d < devices; ++d) seconds.back().push_back(1 + static_cast<double>(r.below(8)));
      classes.push_back(known_class(p, seconds.back()));
    }
    std::vector<double> available(static_cast<std::size_t>(devices), 0.0);
    double now = 0;
    for (int step = 0; step < 30; ++step) {
      now += static_cast<double>(r.below(3));
      const auto c = static_cast<std::size_t>(r.below(3));
      std::vector<placed_input> inputs(static_cast<std::size_t>(r.below(4)));
      for (placed_input& i : inputs) {
        i.ready = now + static_cast<double>(r.below(10)) - 3;
        for (int d = 0; d < devices; ++d) i.transfer.push_back(static_cast<double>(r.below(4)));
      }
      double best = std::numeric_limits<double>::max();
      std::vector<double> ends;
      for (std::size_t d = 0; d < static_cast<std::size_t>(devices); ++d) {
        ends.push_back(start_by_trial(inputs, d, available[d], now) + seconds[c][d]);
        best = std::min(best, ends.back());
      }
      const placement chosen = p.choose(classes[c], inputs, now);
      CHECK(chosen.why == placement_reason::ends_first);
      CHECK(chosen.end == best);
      REQUIRE(ends[static_cast<std::size_t>(chosen.device)] == best);
      // Among equals where least data has to be moved, then the first.
      const auto moved = [&](int d) {
        return std::accumulate(inputs.begin(), inputs.end(), 0.0, [&](double sum, const placed_input& i) {
          return sum + i.transfer[static_cast<std::size_t>(d)];
        });
      };
      for (int d = 0; d < devices; ++d)
        if (ends[static_cast<std::size_t>(d)] == best)
          CHECK(std::pair(moved(chosen.device), chosen.device) <= std::pair(moved(d), d));
      available[static_cast<std::size_t>(chosen.device)] = best;
    }
  }
}

TEST_CASE("the same calls give the same devices") {
  const auto run = [] {
    placement_policy p(4);
    random r(7);
    std::vector<std::size_t> classes = {p.new_class(2), p.new_class(1)};
    std::vector<int> devices;
    for (int i = 0; i < 200; ++i) {
      const std::size_t c = classes[static_cast<std::size_t>(r.below(2))];
      const std::vector<placed_input> inputs = {
          {static_cast<double>(r.below(9)), {static_cast<double>(r.below(9)), 0, 2, 1}}};
      const placement chosen = p.choose(c, inputs, i * 0.01);
      devices.push_back(chosen.device);
      if (p.wants_sample(c, chosen.device)) p.measured(c, chosen.device, 0.1 * static_cast<double>(1 + r.below(9)));
    }
    return devices;
  };
  CHECK(run() == run());
}

}  // namespace
}  // namespace starling::test::placement_policy_tests
