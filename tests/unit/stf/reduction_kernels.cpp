// Reductions of parallel loops against sequential ones, in exact arithmetic, and bit for bit from run to run.
#include <bit>
#include <cmath>
#include <limits>

#include "starling/stf/detail/for_kernel.hpp"
#include "starling/stf/partition.hpp"
#include "starling/stf/slice.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::reduction_tests {
namespace {

using namespace stf;

constexpr int block_counts[] = {1, 2, 5, 33};

// The second step in the loop's own last block, or in a kernel of its own.
launch_plan plan_of(int blocks, bool finishes_itself) {
  return {.blocks = blocks, .threads = 96, .scratch_bytes = 0, .resident = false, .finishes_itself = finishes_itself};
}
// Virtual devices cannot do the first.
int ways() { return on_gpus() ? 2 : 1; }

// An accumulator with its memory.
template <class T, class Op>
class accumulated_value {
 public:
  accumulated_value(machine& m, const launch_plan& plan)
      : machine_(m),
        result_(poisoned<T>(m, 1)),
        partials_(zeroed<std::byte>(m, static_cast<index_t>(partial_bytes(plan)))) {}

  accumulator<T, Op> argument(bool keep = false) { return {result_.on(0), partials_.on(0), keep}; }
  T get() {
    T x;
    machine_.copy(&x, result_.on(0), sizeof x);
    return x;
  }
  void set(T x) { machine_.copy(result_.on(0), &x, sizeof x); }

 private:
  machine& machine_;
  symmetric_array<T> result_;
  symmetric_array<std::byte> partials_;
};

// Values that are exact in whatever order: products of 1, 2 and 3 would overflow, so wrap around in unsigned.
struct values {
  std::uint64_t seed;
  STARLING_HD std::int64_t at(index_t i) const {
    return static_cast<std::int64_t>(mix(seed, static_cast<std::uint64_t>(i)) % 2001) - 1000;
  }
};

struct into_six {
  values x;
  STARLING_HD void operator()(index_t i, index_t j, std::int64_t& sum, std::int64_t& largest, std::int64_t& smallest,
                              std::uint64_t& product, bool& all, int& any) const {
    const std::int64_t v = x.at(7 * i + j);
    sum += v;
    largest = v > largest ? v : largest;
    smallest = v < smallest ? v : smallest;
    product *= static_cast<std::uint64_t>(2 * v + 1);
    all = all && v > -1000;
    any = any || v == 1000;
  }
};

TEST_CASE("every operator, several accumulators at a time") {
  auto m = test_machine(1);
  if (!m) return;
  random r(31);
  INFO("STARLING_TEST_SEED=", r.seed);
  for (const int blocks : block_counts)
    for (int way = 0; way < ways(); ++way)
      for (const index_t n : {0, 1, 5, 37, 300}) {
        const launch_plan plan = plan_of(blocks, way == 1);
        CAPTURE(blocks);
        CAPTURE(n);
        accumulated_value<std::int64_t, reducer::sum> sum(*m, plan);
        accumulated_value<std::int64_t, reducer::maxval> largest(*m, plan);
        accumulated_value<std::int64_t, reducer::minval> smallest(*m, plan);
        accumulated_value<std::uint64_t, reducer::product> product(*m, plan);
        accumulated_value<bool, reducer::logical_and> all(*m, plan);
        accumulated_value<int, reducer::logical_or> any(*m, plan);
        stream s = m->new_stream(0);
        for (int again = 0; again < 2; ++again) {  // the memory of partials stays fit for use
          const into_six body{{r.next()}};
          std::int64_t want_sum = 0;
          std::int64_t want_largest = std::numeric_limits<std::int64_t>::lowest();
          std::int64_t want_smallest = std::numeric_limits<std::int64_t>::max();
          std::uint64_t want_product = 1;
          bool want_all = true;
          int want_any = 0;
          for (auto [i, j] : box(n, 7))
            body(i, j, want_sum, want_largest, want_smallest, want_product, want_all, want_any);
          enqueue_for(s, plan, box(n, 7), body, sum.argument(), largest.argument(), smallest.argument(),
                      product.argument(), all.argument(), any.argument());
          s.synchronize();
          CHECK(sum.get() == want_sum);
          CHECK(largest.get() == want_largest);
          CHECK(smallest.get() == want_smallest);
          CHECK(product.get() == want_product);
          CHECK(all.get() == want_all);
          CHECK(any.get() == want_any);
        }
      }
}

TEST_CASE("sums of doubles have the same bits from run to run, and are near the exact sum") {
  auto m = test_machine(1);
  if (!m) return;
  random r(77);
  INFO("STARLING_TEST_SEED=", r.seed);
  const index_t n = 10007;
  auto x = m->allocate<double>(n);
  std::vector<double> xs;
  long double exact = 0;
  for (index_t i = 0; i < n; ++i) exact += xs.emplace_back(r.real());
  write(*m, x, 0, xs);
  auto body = STARLING_KERNEL(index_t i, slice<const double> v, double& sum) { sum += v(i); };
  for (const int blocks : block_counts)
    for (int way = 0; way < ways(); ++way) {
      const launch_plan plan = plan_of(blocks, way == 1);
      accumulated_value<double, reducer::sum> sum(*m, plan);
      stream s = m->new_stream(0);
      std::uint64_t first = 0;
      for (int again = 0; again < 5; ++again) {
        enqueue_for(s, plan, box(n), body, slice<const double>(x.on(0), n), sum.argument());
        s.synchronize();
        const auto bits = std::bit_cast<std::uint64_t>(sum.get());
        if (again == 0) first = bits;
        CHECK(bits == first);
      }
      CHECK(sum.get() == doctest::Approx(static_cast<double>(exact)).epsilon(1e-12));
    }
}

TEST_CASE("keep combines with what is there") {
  auto m = test_machine(1);
  if (!m) return;
  auto body = STARLING_KERNEL(index_t i, std::int64_t& sum) { sum += i; };
  for (const int blocks : block_counts)
    for (int way = 0; way < ways(); ++way) {
      const launch_plan plan = plan_of(blocks, way == 1);
      accumulated_value<std::int64_t, reducer::sum> sum(*m, plan);
      sum.set(1000000);
      stream s = m->new_stream(0);
      enqueue_for(s, plan, box(100), body, sum.argument(true));
      enqueue_for(s, plan, box(0), body, sum.argument(true));
      enqueue_for(s, plan, box(10), body, sum.argument(true));
      s.synchronize();
      CHECK(sum.get() == 1000000 + 4950 + 45);
    }
}

// The largest value and where it is: a type and an operator of a user.
struct place {
  double value;
  std::int64_t index;
};
struct larger {
  STARLING_HD place identity() const { return {-1e300, -1}; }
  STARLING_HD place operator()(const place& a, const place& b) const {
    if (a.value != b.value) return a.value > b.value ? a : b;
    return a.index > b.index ? a : b;
  }
};

TEST_CASE("a user's operator") {
  auto m = test_machine(1);
  if (!m) return;
  auto body = STARLING_KERNEL(index_t i, place & best) {
    best = larger()(best, place{static_cast<double>(mix(static_cast<std::uint64_t>(i)) % 5000), i});
  };
  place want = larger().identity();
  for (index_t i = 0; i < 3000; ++i) body(i, want);
  for (const int blocks : block_counts)
    for (int way = 0; way < ways(); ++way) {
      const launch_plan plan = plan_of(blocks, way == 1);
      accumulated_value<place, larger> best(*m, plan);
      stream s = m->new_stream(0);
      enqueue_for(s, plan, box(3000), body, best.argument());
      s.synchronize();
      CHECK(best.get().value == want.value);
      CHECK(best.get().index == want.index);
    }
}

TEST_CASE("NaN is handed on by maxval and minval") {
  auto m = test_machine(1);
  if (!m) return;
  const launch_plan plan = plan_of(5, false);
  accumulated_value<double, reducer::maxval> largest(*m, plan);
  accumulated_value<double, reducer::minval> smallest(*m, plan);
  auto body = STARLING_KERNEL(index_t i, double& a, double& b) {
    const double x = i == 123 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i);
    a = reducer::maxval()(a, x);
    b = reducer::minval()(b, x);
  };
  stream s = m->new_stream(0);
  enqueue_for(s, plan, box(500), body, largest.argument(), smallest.argument());
  s.synchronize();
  CHECK(std::isnan(largest.get()));
  CHECK(std::isnan(smallest.get()));
}

TEST_CASE("a loop on several places: partitions, a result each, then one") {
  auto m = test_machine(3);
  if (!m) return;
  const index_t n = 1000;
  const launch_plan plan = plan_of(4, false);
  auto results = poisoned<std::int64_t>(*m, 3);
  auto partials = zeroed<std::byte>(*m, static_cast<index_t>(partial_bytes(plan)));
  auto total = poisoned<std::int64_t>(*m, 1);
  auto body = STARLING_KERNEL(index_t i, index_t j, std::int64_t& sum) { sum += i * j; };
  for (int pe = 0; pe < 3; ++pe) {
    stream s = m->new_stream(pe);
    const accumulator<std::int64_t> a{results.on(pe) + pe, partials.on(pe)};
    enqueue_for(s, plan, blocked().part(box(n, 7), pe, 3), body, a);
    s.copy(results.on(0) + pe, results.on(pe) + pe, sizeof(std::int64_t));
    s.synchronize();
  }
  stream s = m->new_stream(0);
  enqueue_combine(s, accumulator<std::int64_t>{total.on(0)}, results.on(0), 3);
  s.synchronize();
  CHECK(read(*m, total, 0)[0] == n * (n - 1) / 2 * 21);
}

}  // namespace
}  // namespace starling::test::reduction_tests
