// Sequences of tasks that are one task of another context.
#include <atomic>
#include <thread>
#include <vector>

#include "starling/stf/algorithm.hpp"
#include "support/test_machine.hpp"

namespace starling::test::algorithm_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;
using numbers = stf::logical_data<slice<double>>;
using const_numbers = stf::logical_data<slice<const double>>;

// y = 3 x + y, by way of data of its own.
struct add_three_times {
  int* calls;

  void operator()(context& inner, const exec_place& here, const_numbers x, numbers y) const {
    ++*calls;
    auto t = inner.logical_data(stf::shape_of<slice<double>>(x.shape().extent(0)));
    inner.parallel_for(here, t.shape(), x.read(), t.write())
            ->*STARLING_KERNEL(index_t i, slice<const double> from, slice<double> to) {
      to(i) = 3 * from(i);
    };
    inner.parallel_for(here, t.shape(), t.read(), y.rw())
            ->*STARLING_KERNEL(index_t i, slice<const double> from, slice<double> to) {
      to(i) += from(i);
    };
  }
};

TEST_CASE("the body is called once for the memory that a task has") {
  for (int n_pes = 1; n_pes <= 4; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    context ctx(*m);
    std::vector<double> X(100, 1.0), Y(100, 0.0), Z(100, 5.0);
    auto x = ctx.logical_data(X);
    auto y = ctx.logical_data(Y);
    auto z = ctx.logical_data(Z);
    int calls = 0;
    stf::algorithm alg(ctx, "add");
    for (int round = 0; round < 10; ++round) {
      for (int pe = 0; pe < n_pes; ++pe) alg.run(exec_place::device(pe), add_three_times{&calls}, x.read(), y.rw());
      ctx.parallel_for(x.shape(), x.rw())->*STARLING_KERNEL(index_t i, slice<double> v) { v(i) += 1; };
    }
    CHECK(calls == n_pes);
    alg.run(exec_place::device(0), add_three_times{&calls}, x.read(), z.rw());
    CHECK(calls == n_pes + 1);
    CHECK(alg.graphs() == static_cast<std::size_t>(n_pes) + 1);
    ctx.finalize();
    CHECK(Y == std::vector<double>(100, n_pes * 3 * 55.0));
    CHECK(Z == std::vector<double>(100, 5 + 3 * 11.0));
  }
}

// There its tasks are part of what is recorded.
TEST_CASE("in a graph context, in repeat, and in other contexts") {
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::automatic}) {
      context ctx(*m, {.backend = backend});
      std::vector<double> X(20, 1.0), Y(20, 0.0);
      auto x = ctx.logical_data(X);
      auto y = ctx.logical_data(Y);
      int calls = 0;
      stf::algorithm alg(ctx);
      for (int epoch = 0; epoch < 3; ++epoch) {
        for (int i = 0; i < 2; ++i) alg.run(exec_place::device(n_pes - 1), add_three_times{&calls}, x.read(), y.rw());
        ctx.fence();
      }
      ctx.repeat(5, [&] { alg.run(exec_place::device(0), add_three_times{&calls}, x.read(), y.rw()); });
      ctx.finalize();
      CHECK(Y == std::vector<double>(20, 33.0));
    }
  }
}

// Memory may come back for data of another shape.
TEST_CASE("other shapes, and more graphs than are kept") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  int calls = 0;
  stf::algorithm alg(ctx);
  const auto body = [&](context& inner, const exec_place& here, stf::logical_data<slice<int, 2>> d) {
    ++calls;
    inner.parallel_for(here, d.shape(), d.write())->*STARLING_KERNEL(index_t i, index_t j, slice<int, 2> v) {
      v(i, j) = static_cast<int>(10 * i + j);
    };
  };
  for (const auto& [rows, columns] : {std::pair{2, 6}, std::pair{3, 4}, std::pair{2, 6}, std::pair{4, 3}}) {
    auto d = ctx.logical_data(stf::shape_of<slice<int, 2>>(rows, columns));
    alg.run(exec_place::device(0), body, d.write());
    CHECK(ctx.wait(d)(rows - 1, columns - 1) == 10 * (rows - 1) + columns - 1);
  }
  CHECK(calls <= 4);
  CHECK(calls >= 3);
  std::vector<stf::logical_data<slice<int, 2>>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(ctx.logical_data(stf::shape_of<slice<int, 2>>(5, 5)));
    alg.run(exec_place::automatic(), body, many.back().write());
  }
  for (auto& d : many) CHECK(ctx.wait(d)(4, 4) == 44);
  CHECK(alg.graphs() == 16);
  ctx.finalize();
}

TEST_CASE("algorithms within the body of another, and of several threads") {
  const auto m = test_machine(2);
  if (!m) return;
  context ctx(*m);
  stf::algorithm outer(ctx, "outer");
  std::atomic<int> calls{0};
  const auto body = [&](context& inner, const exec_place& here, numbers d) {
    ++calls;
    stf::algorithm twice(inner);
    const auto add = [](context& within, const exec_place& where, numbers x) {
      within.parallel_for(where, x.shape(), x.rw())->*STARLING_KERNEL(index_t i, slice<double> v) { v(i) += 1; };
    };
    for (int k = 0; k < 2; ++k) twice.run(here, add, d.rw());
  };
  std::vector<std::vector<double>> X(4, std::vector<double>(30, 0.0));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto x = ctx.logical_data(X[static_cast<std::size_t>(t)]);
      for (int round = 0; round < 5; ++round) outer.run(exec_place::device(t % 2), body, x.rw());
    });
  for (auto& t : threads) t.join();
  ctx.finalize();
  for (const auto& x : X) CHECK(x == std::vector<double>(30, 10.0));
  CHECK(calls <= 4);
}

}  // namespace
}  // namespace starling::test::algorithm_tests
