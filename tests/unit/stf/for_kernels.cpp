// Parallel loops: every coordinate of every kind of shape once, whatever the plan, on one place and on several.
#include "starling/stf/detail/for_kernel.hpp"

#include <algorithm>

#include "starling/stf/partition.hpp"
#include "starling/stf/slice.hpp"
#include "support/random.hpp"
#include "support/stf/triangle.hpp"
#include "support/usable.hpp"

namespace starling::test::for_tests {
namespace {

using namespace stf;

constexpr launch_plan plans[] = {{1, 32}, {1, 256}, {3, 64}, {7, 256}, {40, 128}};

// How often the body was called for each coordinate, counted in a slice that is larger than the shape on all sides.
class visits {
 public:
  visits(machine& m, int rank) : machine_(m), rank_(rank), words_(zeroed<int>(m, power(side, rank))) {}

  static constexpr index_t side = 24;
  static constexpr index_t shift = 6;

  int* on(int pe) { return words_.on(pe); }
  std::vector<int> seen(int pe) { return read(machine_, words_, pe); }

  template <class Shape>
  void check(int pe, const Shape& s) {
    const auto seen_now = seen(pe);
    std::vector<int> wanted(seen_now.size(), 0);
    for (index_t i = 0; i < static_cast<index_t>(s.size()); ++i) {
      const auto c = s.index_to_coords(i);
      index_t at = 0;
      for (int d = 0; d < rank_; ++d) at = at * side + c[d] + shift;
      ++wanted[static_cast<std::size_t>(at)];
    }
    CHECK(seen_now == wanted);
    CHECK(*std::max_element(wanted.begin(), wanted.end()) <= 1);
  }

  static index_t power(index_t x, int n) { return n == 0 ? 1 : x * power(x, n - 1); }

 private:
  machine& machine_;
  int rank_;
  symmetric_array<int> words_;
};

constexpr index_t side = visits::side;
constexpr index_t shift = visits::shift;

struct count_1 {
  STARLING_HD void operator()(index_t i, slice<int> v) const { v(i + shift) += 1; }
};
struct count_2 {
  STARLING_HD void operator()(index_t i, index_t j, slice<int, 2> v) const { v(i + shift, j + shift) += 1; }
};
struct count_3 {
  STARLING_HD void operator()(index_t i, index_t j, index_t k, slice<int, 3> v) const {
    v(i + shift, j + shift, k + shift) += 1;
  }
};
struct count_4 {
  STARLING_HD void operator()(index_t i, index_t j, index_t k, index_t l, slice<int, 4> v) const {
    v(i + shift, j + shift, k + shift, l + shift) += 1;
  }
};

template <class Shape>
void loop(machine& m, const launch_plan& plan, const Shape& s, int* memory) {
  stream on = m.new_stream(0);
  constexpr int rank = Shape::rank();
  if constexpr (rank == 1)
    enqueue_for(on, plan, s, count_1(), slice<int>(memory, side));
  else if constexpr (rank == 2)
    enqueue_for(on, plan, s, count_2(), slice<int, 2>(memory, side, side));
  else if constexpr (rank == 3)
    enqueue_for(on, plan, s, count_3(), slice<int, 3>(memory, side, side, side));
  else
    enqueue_for(on, plan, s, count_4(), slice<int, 4>(memory, side, side, side, side));
  on.synchronize();
}

template <class Shape>
void check_loop(machine& m, const Shape& s) {
  for (const launch_plan& plan : plans) {
    CAPTURE(plan.blocks);
    CAPTURE(plan.threads);
    visits v(m, Shape::rank());
    loop(m, plan, s, v.on(0));
    v.check(0, s);
  }
}

// The parts of a partition together visit what the whole does.
template <class Shape, class Partitioner>
void check_parts_of(machine& m, const Shape& s, const Partitioner& p) {
  for (const index_t count : {1, 2, 5}) {
    visits v(m, Shape::rank());
    for (index_t which = 0; which < count; ++which) loop(m, plans[3], p.part(s, which, count), v.on(0));
    v.check(0, s);
  }
}

TEST_CASE("loops over boxes of rank 1 to 4 visit every coordinate once") {
  auto m = test_machine(1);
  if (!m) return;
  random r(5);
  INFO("STARLING_TEST_SEED=", r.seed);
  for (const index_t n : {0, 1, 5, 17}) {
    check_loop(*m, box(n));
    check_loop(*m, box(n, 3));
    check_loop(*m, box(2, n, 7));
    check_loop(*m, box(n, 1, 5, 3));
  }
  for (int k = 0; k < 4; ++k) {
    index_range e[4];
    for (index_range& x : e) {
      x.begin = r.below(2 * shift) - shift;
      x.end = x.begin + r.below(side - 2 * shift);
    }
    check_loop(*m, box(e[0]));
    check_loop(*m, box(e[0], e[1]));
    check_loop(*m, box(e[0], e[1], e[2]));
    check_loop(*m, box(e));
  }
}

TEST_CASE("loops over parts of partitions visit every coordinate once") {
  auto m = test_machine(1);
  if (!m) return;
  check_parts_of(*m, box(17), cyclic());
  check_parts_of(*m, box(17), tiled<3>());
  check_parts_of(*m, box({{-3, 14}, {2, 13}}), blocked{1});
  check_parts_of(*m, box({{-3, 14}, {2, 13}}), cyclic());
  check_parts_of(*m, box({{-3, 14}, {2, 13}}), tiled<4>());
  check_parts_of(*m, box(13, 7, 5), tiled<2>());
  check_parts_of(*m, box(6, 5, 3, 4), cyclic());
}

TEST_CASE("loops over a user's shape") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_t n : {0, 1, 9, 17}) check_loop(*m, triangle{n});
  check_parts_of(*m, triangle{11}, blocked());
  check_loop(*m, column_box<2>(box(9, 17)));
  check_loop(*m, column_box<3>(box(index_range{1, 6}, index_range{0, 7}, index_range{2, 9})));
  check_parts_of(*m, column_box<3>(box(5, 7, 9)), blocked());
  check_parts_of(*m, column_box<2>(box(9, 17)), cyclic());
  check_parts_of(*m, column_box<2>(box(9, 17)), tiled<3>());
  check_parts_of(*m, triangle{11}, cyclic());
}

// A shape whose coordinates are one value.
struct squares {
  index_t n;
  using coords_t = index_t;
  STARLING_HD static constexpr int rank() { return 1; }
  STARLING_HD constexpr index_t size() const { return n; }
  STARLING_HD constexpr index_t index_to_coords(index_t i) const { return i * i; }
};

TEST_CASE("coordinates that are one value") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = zeroed<int>(*m, 100);
  stream s = m->new_stream(0);
  auto body = STARLING_KERNEL(index_t x, slice<int> v) { v(x) += 1; };
  enqueue_for(s, {3, 32}, squares{9}, body, slice<int>(a.on(0), 100));
  s.synchronize();
  const auto seen = read(*m, a, 0);
  for (std::size_t i = 0; i < 100; ++i)
    CHECK(seen[i] == (i == 0 || i == 1 || i == 4 || i == 9 || i == 16 || i == 25 || i == 36 || i == 49 || i == 64));
}

TEST_CASE("the plan that the machine proposes") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_t n : {index_t{0}, index_t{1}, index_t{1000}, index_t{1} << 20, index_t{1} << 50}) {
    const launch_plan p = for_plan(*m, 0, n);
    CHECK(p.blocks >= 1);
    CHECK(p.threads % 32 == 0);
    CHECK((n > 256 || p.blocks == 1));
  }
  // The paper's figure 4: y += x, then z(i, j) = x(i) * y(j).
  const index_t n = 1000;
  auto x = m->allocate<double>(n);
  auto y = m->allocate<double>(n);
  auto z = poisoned<double>(*m, 100 * n);
  std::vector<double> xs, ys;
  for (index_t i = 0; i < n; ++i) {
    xs.push_back(static_cast<double>(i));
    ys.push_back(1.0 / static_cast<double>(i + 1));
  }
  write(*m, x, 0, xs);
  write(*m, y, 0, ys);
  const slice<const double> dx(x.on(0), n);
  const slice<double> dy(y.on(0), n);
  const slice<double, 2> dz(z.on(0), 100, n);
  stream s = m->new_stream(0);
  auto add = STARLING_KERNEL(index_t i, slice<const double> a, slice<double> b) { b(i) += a(i); };
  auto outer = STARLING_KERNEL(index_t i, index_t j, slice<const double> a, slice<const double> b, slice<double, 2> c) {
    c(i, j) = a(i) * b(j);
  };
  enqueue_for(s, plan_for(*m, 0, box(n), add, dx, dy), box(n), add, dx, dy);
  enqueue_for(s, plan_for(*m, 0, stf::shape(dz), outer, dx, dy, dz), stf::shape(dz), outer, dx, dy, dz);
  s.synchronize();
  const auto got = read(*m, z, 0);
  index_t wrong = 0;
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
      wrong += got[i * static_cast<std::size_t>(n) + j] != xs[i] * (ys[j] + xs[j]);
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace starling::test::for_tests
