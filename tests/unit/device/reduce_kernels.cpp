// reduce over the threads of a block and of a warp, against sequential oracles.
#include "starling/device/reduce.hpp"

#include <cmath>
#include <cstring>

#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::reduce_tests {
namespace {

constexpr int thread_counts[] = {32, 96, 256, 1024};

// As large as a reduction carries.
struct summary {
  double sum;
  double least;
  double most;
  std::int64_t count;
};

struct merge {
  STARLING_HD summary operator()(const summary& a, const summary& b) const {
    return {a.sum + b.sum, a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most, a.count + b.count};
  }
};

TEST_CASE("a block sums integers, and every thread gets the sum") {
  auto m = test_machine(1);
  if (!m) return;
  for (const int threads : thread_counts)
    for (const index_t n : {0, 1, 31, 257, 5000}) {
      CAPTURE(threads);
      CAPTURE(n);
      const tally t(*m);
      const counter good = t.counter();
      auto k = STARLING_KERNEL(block & b) {
        std::int64_t sum = 0;
        b.for_each(n, [&](index_t i) { sum += i * i; });
        good.add(b, b.reduce(sum, plus{}) == (n - 1) * n * (2 * n - 1) / 6);
      };
      m->run(1, k, {.threads = threads});
      CHECK(t.made() == static_cast<std::uint64_t>(on_gpus() ? threads : 1));
      CHECK(t.failed() == 0);
    }
}

TEST_CASE("each warp sums for itself") {
  auto m = test_machine(1);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    const warp w = b.warp();
    int sum = 0;
    w.for_each(100, [&](index_t i) { sum += static_cast<int>(i) + w.rank(); });
    good.add(b, w.reduce(sum, plus{}) == 4950 + 100 * w.rank());
  };
  m->run(1, k, {.threads = 96});
  CHECK(t.made() == (on_gpus() ? 96u : 1u));
  CHECK(t.failed() == 0);
}

TEST_CASE("a block reduces 32 bytes at a time with the caller's function") {
  auto m = test_machine(1);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    summary mine{0, 1e30, -1e30, 0};
    b.for_each(1000, [&](index_t i) {
      const double x = static_cast<double>((i * 37) % 1000) - 250;
      mine = merge{}(mine, {x, x, x, 1});
    });
    const summary all = b.reduce(mine, merge{});
    good.add(b, all.sum == 499500 - 250000 && all.least == -250 && all.most == 749 && all.count == 1000);
  };
  for (const int threads : thread_counts) m->run(1, k, {.threads = threads});
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

TEST_CASE("maximum and minimum, which hand a NaN on wherever it is") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_t bad : {-1, 0, 5, 63, 299}) {
    CAPTURE(bad);
    auto out = poisoned<float>(*m, 4);
    const sym<float> result = out.data();
    auto k = STARLING_KERNEL(block & b) {
      float most = -1e30f;
      float least = 1e30f;
      b.for_each(300, [&](index_t i) {
        const float x = i == bad ? NAN : static_cast<float>((i * 7) % 300);
        most = maximum{}(most, x);
        least = minimum{}(least, x);
      });
      const float block_most = b.reduce(most, maximum{});
      const float block_least = b.reduce(least, minimum{});
      if (b.member() == 0) {
        result.on(b.pe())[0] = block_most;
        result.on(b.pe())[1] = block_least;
        result.on(b.pe())[2] = maximum{}(2.0f, static_cast<float>(NAN));
        result.on(b.pe())[3] = minimum{}(static_cast<float>(NAN), 2.0f);
      }
    };
    m->run(1, k, {.threads = 64});
    const std::vector<float> seen = read(*m, out, 0);
    if (bad < 0) {
      CHECK(seen[0] == 299.0f);
      CHECK(seen[1] == 0.0f);
    } else {
      CHECK(std::isnan(seen[0]));
      CHECK(std::isnan(seen[1]));
    }
    CHECK(std::isnan(seen[2]));
    CHECK(std::isnan(seen[3]));
  }
}

TEST_CASE("reductions directly after one another do not disturb each other") {
  auto m = test_machine(1);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    index_t wrong = 0;
    for (int round = 0; round < 1000; ++round) {
      const int sum = b.reduce(round + b.member(), plus{});
      wrong += sum != b.members() * round + b.members() * (b.members() - 1) / 2;
      wrong += b.first(sum + round + b.member()) != sum + round;
    }
    good.add(b, 2000, wrong);
  };
  m->run(1, k, {.threads = 128});
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

TEST_CASE("the same values give the same bits") {
  auto m = test_machine(1);
  if (!m) return;
  random r(20240601);
  INFO("seed ", r.seed);
  const index_t n = 3001;
  std::vector<double> values;
  for (index_t i = 0; i < n; ++i) values.push_back(r.real());
  auto data = poisoned<double>(*m, n);
  write(*m, data, 0, values);
  auto out = poisoned<double>(*m, 1);
  const sym<double> x = data.data();
  const sym<double> result = out.data();
  auto k = STARLING_KERNEL(block & b) {
    double sum = 0;
    b.for_each(n, [&](index_t i) { sum += x.on(b.pe())[i]; });
    sum = b.reduce(sum, plus{});
    if (b.member() == 0) *result.on(b.pe()) = sum;
  };
  m->run(1, k);
  const double once = read(*m, out, 0)[0];
  double oracle = 0;
  for (const double v : values) oracle += v;
  CHECK(once == doctest::Approx(oracle).epsilon(1e-12));
  for (int again = 0; again < 5; ++again) {
    m->fill(out.on(0), poison, sizeof(double));
    m->run(1, k);
    const double twice = read(*m, out, 0)[0];
    CHECK(std::memcmp(&once, &twice, sizeof once) == 0);
  }
}

}  // namespace
}  // namespace starling::test::reduce_tests
