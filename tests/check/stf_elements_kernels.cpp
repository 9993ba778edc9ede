// Elements of parallel_for are unordered with each other, whichever threads run them: also those that one thread runs
// one after another.
#include <atomic>

#include "starling/stf/context.hpp"
#include "support/checked.hpp"

namespace starling::test::stf_elements_kernels_tests {
namespace {

using namespace stf;

constexpr index_t n = 80;
constexpr int numbers_of_threads[] = {1, 2, 3, 5, 32};

machine with_threads(int threads) { return checked_machine(1, 8, 1, threads); }

// What is found in tasks over x, which holds 1, 2, 3 ..., with so many threads a block.
template <class F>
std::optional<check_error> found_in(int threads, const F& tasks) {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i + 1;
  return finding_of([&] {
    context ctx(with_threads(threads));
    tasks(ctx, ctx.logical_data(x).set_symbol("x"));
    ctx.finalize();
  });
}

template <class F>
void check_found(const F& tasks, std::initializer_list<std::string> parts) {
  for (const int threads : numbers_of_threads) {
    CAPTURE(threads);
    const auto e = found_in(threads, tasks);
    if (!e) continue;
    CHECK_MESSAGE(e->what_kind() == defect::loop_elements, e->what());
    check_parts(e->what(), parts);
    CHECK(e->blocks().size() == 1);
  }
}

// The values of x after tasks that are right.
template <class F>
std::vector<int> after(machine m, const F& tasks) {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i + 1;
  try {
    context ctx(m);
    tasks(ctx, ctx.logical_data(x));
    ctx.finalize();
  } catch (const check_error& e) {
    FAIL_CHECK(e.what());
  }
  CHECK(m.checked().accesses_seen);
  return x;
}

TEST_CASE("an element that reads what its neighbour writes") {
  const std::string line = "stf_elements_kernels.cpp:" + std::to_string(__LINE__ + 4);
  check_found(
      [](context& ctx, auto x) {
        ctx.parallel_for(box<1>({1, n}), x.rw()).set_symbol("shift")->*STARLING_KERNEL(index_t i, slice<int> v) {
          v(i) = v(i - 1);
        };
      },
      {"(task 'shift')", "of logical data 'x'", "writes them at tests/check/" + line,
       "reads them at tests/check/" + line, "element ", "make it two loops"});
  for (const int threads : numbers_of_threads) {
    const std::vector<int> x = after(with_threads(threads), [](context& ctx, auto v) {
      auto before = ctx.logical_data(shape_of<slice<int>>(n));
      ctx.parallel_for(v.shape(), v.read(), before.write())
              ->*STARLING_KERNEL(index_t i, slice<const int> from, slice<int> to) {
        to(i) = from(i);
      };
      ctx.parallel_for(box<1>({1, n}), before.read(), v.rw())
              ->*STARLING_KERNEL(index_t i, slice<const int> from, slice<int> to) {
        to(i) = from(i - 1);
      };
    });
    CHECK(x[0] == 1);
    for (std::size_t i = 1; i < x.size(); ++i) CHECK(x[i] == static_cast<int>(i));
  }
}

// With one of these numbers of threads each thread would read what it has written itself.
TEST_CASE("elements that one thread runs") {
  for (const index_t distance : {2, 3, 5, 32})
    check_found(
        [=](context& ctx, auto x) {
          ctx.parallel_for(box<1>({distance, n}), x.rw())->*STARLING_KERNEL(index_t i, slice<int> v) {
            v(i) = v(i - distance);
          };
        },
        {"writes them at", "reads them at"});
}

TEST_CASE("elements that write the same place") {
  check_found(
      [](context& ctx, auto x) {
        ctx.parallel_for(x.shape(), x.rw())->*STARLING_KERNEL(index_t i, slice<int> v) {
          v(i / 2) = static_cast<int>(i) + 100;
        };
      },
      {"first: element ", "then: element ", "let each write what no other touches"});
  check_found(
      [](context& ctx, auto x) {
        ctx.parallel_for(x.shape(), x.rw())->*STARLING_KERNEL(index_t, slice<int> v) { v(0) += 1; };
      },
      {"add up by a reduction or an atomic operation"});
}

TEST_CASE("coordinates of two dimensions") {
  check_found(
      [](context& ctx, auto x) {
        ctx.parallel_for(box<2>(2, n / 2), x.rw())->*STARLING_KERNEL(index_t i, index_t j, slice<int> v) {
          if (i == 0 && j == 3) v(0) = 7;
          if (i == 1 && j == 2) v(9) = v(0);
        };
      },
      {"element (0, 3) writes them", "element (1, 2) reads them"});
}

TEST_CASE("reductions, atomic operations, and a flag that several elements set") {
  for (const int threads : numbers_of_threads) {
    CAPTURE(threads);
    machine m = with_threads(threads);
    std::vector<int> sum{0};
    std::vector<int> flag{0};
    const std::vector<int> x = after(m, [&](context& ctx, auto v) {
      auto total = ctx.logical_data(scalar_view<int>(sum.data()));
      auto raised = ctx.logical_data(flag);
      ctx.parallel_for(v.shape(), v.read(), total.reduce(reducer::sum()), raised.rw())
              ->*STARLING_KERNEL(index_t i, slice<const int> from, int& add, slice<int> f) {
        add += from(i);
        if (from(i) % 8 == 0) f(0) = 1;
      };
      ctx.parallel_for(v.shape(), v.rw())->*STARLING_KERNEL(index_t, slice<int> to) {
        std::atomic_ref<int>(to(0)).fetch_add(1);
      };
    });
    CHECK(sum[0] == n * (n + 1) / 2);
    CHECK(flag[0] == 1);
    CHECK(x[0] == 1 + n);
    CHECK(m.checked().written_alike > 0);
  }
}

TEST_CASE("loops one after another are ordered") {
  for (const int threads : numbers_of_threads) {
    const std::vector<int> x = after(with_threads(threads), [](context& ctx, auto v) {
      for (const int side : {1, 0}) ctx.parallel_for(box(n / 2), v.rw())->*STARLING_KERNEL(index_t i, slice<int> to) {
          to(2 * i + side) += to(2 * i + 1 - side);
        };
    });
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == static_cast<int>(i % 2 == 1 ? 2 * i + 1 : 3 * i + 4));
  }
}

TEST_CASE("in a persistent loop") {
  for (const int threads : {1, 3}) {
    std::vector<int> x(n, 1);
    const auto run = [&](index_t from) {
      persistent_ctx ctx(with_threads(threads));
      auto a = ctx.logical_data(x);
      ctx.repeat(3, [&] {
        ctx.parallel_for(box(n / 2), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) = v(i + from); };
      });
      ctx.finalize();
    };
    const auto e = finding_of([&] { run(1); });
    REQUIRE(e);
    CHECK_MESSAGE(e->what_kind() == defect::loop_elements, e->what());
    run(n / 2);
  }
}

}  // namespace
}  // namespace starling::test::stf_elements_kernels_tests
