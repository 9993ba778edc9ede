// all_reduce: every block gets the same bits, those of sums over the blocks of each PE, grouped in one way and in
// order, and then over the PEs.
#include <algorithm>
#include <cstring>

#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::all_reduce_tests {
namespace {

struct two_doubles {
  double a, b;
};

struct add_two {
  STARLING_HD two_doubles operator()(const two_doubles& x, const two_doubles& y) const {
    return {x.a + y.a, x.b + y.b};
  }
};

// As large as all_reduce carries, combined by a function for which order matters: the fold remembers it.
struct folded {
  std::uint64_t hash;
  std::int64_t n[3];
};

struct fold {
  STARLING_HD folded operator()(const folded& x, const folded& y) const {
    return {mix(x.hash, y.hash), {x.n[0] + y.n[0], x.n[1] + 1, y.n[2]}};
  }
};

// The blocks of a PE: at most 32 rows of equally many, each row in order, then neighbours pair by pair until one is
// left.
template <class T, class Op>
T of_blocks(const T* inputs, int blocks, Op op) {
  const int row = (blocks + 31) / 32;
  std::vector<T> sums;
  for (int begin = 0; begin < blocks; begin += row) {
    sums.push_back(inputs[begin]);
    for (int i = begin + 1; i < std::min(begin + row, blocks); ++i) sums.back() = op(sums.back(), inputs[i]);
  }
  while (sums.size() > 1) {
    std::vector<T> pairs;
    for (std::size_t i = 0; i < sums.size(); i += 2)
      pairs.push_back(i + 1 < sums.size() ? op(sums[i], sums[i + 1]) : sums[i]);
    sums = pairs;
  }
  return sums[0];
}

// inputs[pe * blocks + block]
template <class T, class Op>
T oracle(const std::vector<T>& inputs, int pes, int blocks, Op op) {
  const auto of_pe = [&](int pe) { return of_blocks(inputs.data() + pe * blocks, blocks, op); };
  T sum = of_pe(0);
  for (int pe = 1; pe < pes; ++pe) sum = op(sum, of_pe(pe));
  return sum;
}

template <class T, class Op>
void run_reduce(machine& m, sym<T> in, sym<T> out, int blocks, Op op) {
  auto k = STARLING_KERNEL(block & b) {
    const T result = b.all_reduce(in.on(b.pe())[b.index()], op);
    // Not only thread 0: every thread must have the result.
    if (b.member() == b.members() - 1) out.on(b.pe())[b.index()] = result;
  };
  m.run(blocks, k, {.threads = 64});
}

template <class T, class Op>
void check_reduce(const std::vector<T>& inputs, int pes, int blocks, Op op) {
  CAPTURE(pes);
  CAPTURE(blocks);
  auto m = test_machine(pes);
  if (!m) return;
  auto in = poisoned<T>(*m, blocks);
  auto out = poisoned<T>(*m, blocks);
  for (int pe = 0; pe < pes; ++pe)
    write(*m, in, pe, std::vector<T>(inputs.begin() + pe * blocks, inputs.begin() + (pe + 1) * blocks));
  run_reduce<T>(*m, in.data(), out.data(), blocks, op);
  const T wanted = oracle(inputs, pes, blocks, op);
  for (int pe = 0; pe < pes; ++pe)
    for (const T& seen : read(*m, out, pe)) CHECK(std::memcmp(&seen, &wanted, sizeof(T)) == 0);
}

constexpr int shapes[][2] = {{1, 1}, {1, 5}, {2, 1}, {3, 4}, {4, 10}, {1, 33}, {1, 64}, {2, 61}, {1, 300}};

template <class T, class Op, class Make>
void check_shapes(const Make& make, Op op) {
  random r(20240602);
  INFO("seed ", r.seed);
  for (const auto& s : shapes) {
    if (s[1] > 64 && !on_gpus()) continue;  // a virtual device holds no more
    std::vector<T> inputs;
    for (int i = 0; i < s[0] * s[1]; ++i) inputs.push_back(make(r));
    check_reduce(inputs, s[0], s[1], op);
  }
}

TEST_CASE("all_reduce of integers of every width") {
  check_shapes<std::int8_t>([](random& r) { return static_cast<std::int8_t>(r.below(10)); }, maximum{});
  check_shapes<std::int32_t>([](random& r) { return static_cast<std::int32_t>(r.below(1000)); }, plus{});
  check_shapes<std::uint64_t>([](random& r) { return r.next(); }, plus{});
  check_shapes<std::int64_t>([](random& r) { return r.below(100000) - 50000; }, minimum{});
}

TEST_CASE("all_reduce of floats and doubles adds the blocks of each PE, then the PEs") {
  check_shapes<float>([](random& r) { return static_cast<float>(r.real()); }, plus{});
  check_shapes<double>([](random& r) { return r.real(); }, plus{});
}

TEST_CASE("all_reduce of two doubles at once") {
  check_shapes<two_doubles>([](random& r) { return two_doubles{r.real(), 1e6 * r.real()}; }, add_two{});
}

TEST_CASE("all_reduce of 32 bytes, with a function that tells the order") {
  check_shapes<folded>([](random& r) { return folded{r.next(), {r.below(9), 0, r.below(9)}}; }, fold{});
}

// Inputs like those above are such that another order mostly gives other bits, so that the tests above can fail.
TEST_CASE("the order of a sum shows in its bits") {
  random r(20240602);
  INFO("seed ", r.seed);
  int one_list_differs = 0;
  int backwards_differs = 0;
  for (int again = 0; again < 100; ++again) {
    std::vector<double> inputs;
    for (int i = 0; i < 40; ++i) inputs.push_back(r.real());
    const double sum = oracle(inputs, 4, 10, plus{});
    one_list_differs += oracle(inputs, 1, 40, plus{}) != sum;
    backwards_differs += oracle(std::vector<double>(inputs.rbegin(), inputs.rend()), 4, 10, plus{}) != sum;
  }
  CHECK(one_list_differs > 50);
  CHECK(backwards_differs > 50);
}

TEST_CASE("the order of the blocks and PEs does not change from round to round") {
  auto m = test_machine(3);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    const folded mine{mix(b.pe(), b.index()), {0, 0, 0}};
    const std::uint64_t first = b.all_reduce(mine, fold{}).hash;
    for (int round = 0; round < 200; ++round) good.add(b, b.all_reduce(mine, fold{}).hash == first);
  };
  m->run(3, k, {.threads = 32});
  CHECK(t.made() == 3u * 3 * 200 * (on_gpus() ? 32 : 1));
  CHECK(t.failed() == 0);
}

TEST_CASE("all_reduce over and over gives each round its own sum, and is a sync_pe") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr int rounds = 1500;
  constexpr int blocks = 2;
  auto slots = poisoned<int>(*m, blocks);
  const sym<int> x = slots.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    index_t wrong = 0;
    for (int round = 0; round < rounds; ++round) {
      if (b.member() == 0) x.on(b.pe())[b.index()] = round + b.pe();
      const std::int64_t sum = b.all_reduce(std::int64_t{round} * (b.pe() * blocks + b.index() + 1), plus{});
      wrong += sum != std::int64_t{round} * 21;
      wrong += x.on(b.pe())[1 - b.index()] != round + b.pe();
      wrong += b.all_reduce(round * (b.pe() + 1), maximum{}) != 3 * round;
    }
    good.add(b, rounds, wrong);
  };
  m->run(blocks, k, {.threads = 64});
  CHECK(t.made() == static_cast<std::uint64_t>(3 * blocks * rounds * (on_gpus() ? 64 : 1)));
  CHECK(t.failed() == 0);
}

}  // namespace
}  // namespace starling::test::all_reduce_tests
