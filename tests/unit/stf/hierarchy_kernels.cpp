// Thread hierarchies: who the threads are, which part of a shape is whose, and that those which synchronise really wait
// for each other.
#include "starling/device/gpu_wait.hpp"
#include "support/random.hpp"
#include "support/stf/launching.hpp"
#include "support/stf/triangle.hpp"
#include "support/test_machine.hpp"

namespace starling::test::hierarchy_tests {
namespace {

using namespace stf;

// Every thread counts itself at its rank, and says where it is.
struct roll_call {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int> seen, slice<index_t, 2> places) const {
    gpu::device_atomic(seen(th.rank())).fetch_add(1, cuda::memory_order_relaxed);
    for (int l = 0; l < Th::depth(); ++l) places(th.rank(), l) = th.rank(l);
  }
};

template <class Spec>
void check_roll_call(machine& m, const Spec& spec, int places, index_t size) {
  CAPTURE(size);
  CAPTURE(places);
  constexpr int depth = Spec::depth;
  const index_t room = size + 100;
  auto seen = zeroed<int>(m, room);
  auto where = zeroed<index_t>(m, room * depth);
  launch_all(m, spec, places, body_of(spec, roll_call()), slice<int>(seen.on(0), room),
             of_place{[&](int place) { return slice<index_t, 2>(where.on(place), room, depth); }});
  std::vector<int> wanted(static_cast<std::size_t>(room), 0);
  for (index_t i = 0; i < size; ++i) wanted[static_cast<std::size_t>(i)] = 1;
  CHECK(read(m, seen, 0) == wanted);
  // Ranks count the innermost level fastest.
  std::vector<index_t> at(static_cast<std::size_t>(room * depth), 0);  // of the place that has the thread
  for (int place = 0; place < places; ++place) {
    const auto there = read(m, where, place);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] += there[i];
  }
  index_t wrong = 0;
  for (index_t i = 1; i < size; ++i) {
    int l = depth - 1;
    while (l >= 0 && at[static_cast<std::size_t>(i * depth + l)] == 0) --l;
    if (l < 0) {
      ++wrong;
      continue;
    }
    for (int k = 0; k <= l; ++k)
      wrong += at[static_cast<std::size_t>(i * depth + k)] !=
               at[static_cast<std::size_t>((i - 1) * depth + k)] + (k == l ? 1 : 0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("every thread of a hierarchy is there once") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_t n : {1, 7, 32, 100, 300, 1000, 3000}) check_roll_call(*m, par(n), 1, n);
  for (const index_t n : {1, 7, 32, 100}) check_roll_call(*m, con(n), 1, n);
  check_roll_call(*m, par<5>(), 1, 5);
  check_roll_call(*m, con<64>(hw_scope::thread), 1, 64);
  check_roll_call(*m, par(3, hw_scope::block), 1, 3);
  check_roll_call(*m, par(7, con<32>()), 1, 7 * 32);
  check_roll_call(*m, par(7, con(5)), 1, 35);
  check_roll_call(*m, par(200, par(3)), 1, 600);
  check_roll_call(*m, par(3, par(4, con<8>())), 1, 96);
  check_roll_call(*m, par(3, par(4, hw_scope::thread, con<8>())), 1, 96);
  check_roll_call(*m, par(2, con<3>(hw_scope::thread, con(32, par(2)))), 1, 384);
  check_roll_call(*m, con(2, con<32>()), 1, 64);
  check_roll_call(*m, par(3, con(4, par<32>())), 1, 384);
  check_roll_call(*m, par(hw_scope::device, par(40)), 1, 40);
  check_roll_call(*m, con(2, par(3, hw_scope::block, con(2, hw_scope::block, par(32)))), 1, 384);
}

TEST_CASE("the outermost level is spread over places") {
  auto m = test_machine(3);
  if (!m) return;
  for (const index_t n : {1, 2, 3, 40, 1000}) {
    check_roll_call(*m, par(n), 3, n);
    check_roll_call(*m, par(n, con<4>()), 3, 4 * n);
  }
  check_roll_call(*m, par(hw_scope::device, par(10, con<2>())), 3, 60);
  check_roll_call(*m, par(hw_scope::device, par(50)), 3, 150);
}

static_assert(decltype(par(con<96>()))::most_threads() == 96);
static_assert(decltype(par(con(96)))::most_threads() == 1024);
static_assert(decltype(par(con()))::most_threads() == 256);
static_assert(decltype(par(1000000))::most_threads() == 256);
static_assert(decltype(con(1000))::most_threads() == 1024);
static_assert(decltype(par(hw_scope::block, par<2>(hw_scope::block)))::most_threads() == 32);

TEST_CASE("automatic widths") {
  const auto size_of = [&](const auto& spec, int places) {
    using spec_t = std::remove_cvref_t<decltype(spec)>;
    const auto fit = [](int, std::size_t) { return 264; };
    index_t n = 1;
    const hierarchy_map map = map_hierarchy(spec, 0, places, true, fit);
    for (int l = 0; l < spec_t::depth; ++l) n *= map.width[l];
    CHECK(map.threads <= spec_t::most_threads());
    return n;
  };
  CHECK(size_of(par(), 1) == 264 * 256);
  CHECK(size_of(par(), 2) == 2 * 264 * 256);
  CHECK(size_of(con(), 1) == 264 * 256);
  CHECK(size_of(par(con<32>()), 2) == 2 * 264 * 32);
  CHECK(size_of(par(con()), 1) == 264 * 256);
  CHECK(size_of(con(par(10, con<32>())), 1) == 26 * 10 * 32);
  CHECK(size_of(par(con(con<128>())), 2) == 2 * 264 * 128);
  CHECK(size_of(par(hw_scope::device, con(con())), 2) == 2 * 264 * 256);
  CHECK(size_of(par(par(con<64>())), 2) == 2 * 264 * 64);
}

// Every coordinate once: a count in a slice, by the default partition and by given ones.
enum class dealing { by_default, cyclic_alone, one_each };
template <dealing How>
struct count_part {
  index_t rows, columns;
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int, 2> seen) const {
    const box<2> all(rows, columns);
    if constexpr (How == dealing::by_default) {
      for (auto [i, j] : th.apply_partition(all)) add(seen(i, j));
    } else if constexpr (How == dealing::cyclic_alone) {
      for (auto [i, j] : th.apply_partition(all, cyclic())) add(seen(i, j));
    } else if constexpr (Th::depth() == 2) {
      for (auto [i, j] : th.apply_partition(all, tiled<2>(), cyclic())) add(seen(i, j));
    } else {
      for (auto [i, j] : th.apply_partition(all, blocked{1})) add(seen(i, j));
    }
  }
  STARLING_HD static void add(int& x) { gpu::device_atomic(x).fetch_add(1, cuda::memory_order_relaxed); }
};

template <dealing How, class Spec>
void check_partitioned(machine& m, const Spec& spec, int places) {
  for (const index_t rows : {0, 1, 13, 40})
    for (const index_t columns : {1, 9, 100}) {
      CAPTURE(rows);
      CAPTURE(columns);
      auto seen = zeroed<int>(m, rows * columns + 1);
      launch_all(m, spec, places, body_of(spec, count_part<How>{rows, columns}),
                 slice<int, 2>(seen.on(0), rows, columns));
      std::vector<int> wanted(static_cast<std::size_t>(rows * columns + 1), 1);
      wanted.back() = 0;
      CHECK(read(m, seen, 0) == wanted);
    }
}

template <class Spec>
void check_all_dealings(machine& m, const Spec& spec, int places) {
  check_partitioned<dealing::by_default>(m, spec, places);
  check_partitioned<dealing::cyclic_alone>(m, spec, places);
  check_partitioned<dealing::one_each>(m, spec, places);
}

TEST_CASE("apply_partition gives every coordinate to one thread") {
  auto m = test_machine(2);
  if (!m) return;
  for (const int places : {1, 2}) {
    check_all_dealings(*m, par(), places);
    check_all_dealings(*m, par(37), places);
    check_all_dealings(*m, par(5, con<8>()), places);
    check_partitioned<dealing::by_default>(*m, par(2, par(3, con<4>())), places);
  }
}

struct deal_triangle {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int> seen) const {
    const triangle all{12};
    for (auto [i, j] : th.apply_partition(all)) gpu::device_atomic(seen(i * (i + 1) / 2 + j)).fetch_add(1);
    // The part that is this thread's within its group.
    for (auto [i, j] : th.inner().apply_partition(all)) gpu::device_atomic(seen(78 + i * (i + 1) / 2 + j)).fetch_add(1);
  }
};

TEST_CASE("a user's shape, partitioned among a hierarchy and the groups within") {
  auto m = test_machine(1);
  if (!m) return;
  const auto spec = par(3, con<4>());
  auto seen = zeroed<int>(*m, 2 * 78);
  launch_all(*m, spec, 1, body_of(spec, deal_triangle()), slice<int>(seen.on(0), 2 * 78));
  const auto got = read(*m, seen, 0);
  for (std::size_t i = 0; i < 78; ++i) {
    CHECK(got[i] == 1);
    CHECK(got[78 + i] == 3);
  }
}

// Figure 6 of the paper: a tree in each block, one atomic addition of each.
template <class Th>
STARLING_HD void reduce_as_in_figure_6(const Th& th, slice<const double> x, slice<double> sum) {
  double local_sum = 0.0;
  for (auto [i] : th.apply_partition(shape(x))) local_sum += x(i);
  const auto ti = th.inner();
  const slice<double> block_sum = ti.template storage<double>(0);
  block_sum(ti.rank()) = local_sum;
  ti.sync();
  for (index_t s = ti.size() / 2; s > 0; s /= 2) {
    if (ti.rank() < s) block_sum(ti.rank()) += block_sum(ti.rank() + s);
    ti.sync();
  }
  if (ti.rank() == 0) gpu::device_atomic(sum(0)).fetch_add(block_sum(0));
}

TEST_CASE("the reduction of figure 6") {
  auto m = test_machine(2);
  if (!m) return;
  for (const index_t n : {0, 1, 31, 1000, 12345}) {
    CAPTURE(n);
    auto x = m->allocate<double>(n + 1);
    std::vector<double> xs;
    for (index_t i = 0; i <= n; ++i) xs.push_back(static_cast<double>(mix(static_cast<std::uint64_t>(i)) % 1000));
    double wanted = 0;
    for (index_t i = 0; i < n; ++i) wanted += xs[static_cast<std::size_t>(i)];
    for (int place = 0; place < 2; ++place) write(*m, x, place, xs);
    const auto dx = of_place{[&](int place) { return slice<const double>(x.on(place), n); }};
    {
      const auto spec = par(con<32>(hw_scope::thread, mem(32 * sizeof(double))));
      static_assert(decltype(spec)::static_width<1> == 32);
      for (const int places : {1, 2}) {
        auto sum = zeroed<double>(*m, 1);
        auto body = STARLING_KERNEL(thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<const double> v,
                                    slice<double> s) {
          static_assert(decltype(th)::static_width<1> == 32);
          reduce_as_in_figure_6(th, v, s);
        };
        launch_all(*m, spec, places, body, dx, slice<double>(sum.on(0), 1));
        CHECK(read(*m, sum, 0)[0] == wanted);
      }
    }
    {
      const auto spec = par(6, con(128, mem(128 * sizeof(double))));
      auto sum = zeroed<double>(*m, 1);
      auto body = STARLING_KERNEL(thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<const double> v,
                                  slice<double> s) {
        reduce_as_in_figure_6(th, v, s);
      };
      launch_all(*m, spec, 1, body, dx, slice<double>(sum.on(0), 1));
      CHECK(read(*m, sum, 0)[0] == wanted);
    }
  }
}

}  // namespace
}  // namespace starling::test::hierarchy_tests
