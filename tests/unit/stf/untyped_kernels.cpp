// Untyped data: bytes that tasks see as such, or with a type that another handle to them has.
#include "starling/stf/untyped.hpp"

#include <cstring>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::untyped_tests {
namespace {

using stf::const_untyped;
using stf::context;
using stf::exec_place;
using stf::logical_data;
using stf::slice;
using stf::untyped;

// What a library does that knows numbers of bytes alone: each byte b at i becomes 3 b + i.
void change_bytes(context& ctx, const exec_place& where, const logical_data<untyped>& d) {
  ctx.parallel_for(where, stf::box(d.shape().size()), d.rw())->*STARLING_KERNEL(index_t i, untyped u) {
    const auto old = static_cast<unsigned>(u.data()[i]);
    u.data()[i] = static_cast<std::byte>(3 * old + static_cast<unsigned>(i));
  };
}
void change_numbers(context& ctx, const exec_place& where, const logical_data<slice<std::uint32_t, 2>>& d) {
  ctx.parallel_for(where, d.shape(), d.rw())->*STARLING_KERNEL(index_t i, index_t j, slice<std::uint32_t, 2> x) {
    x(i, j) = 5 * x(i, j) + static_cast<std::uint32_t>(10 * i + j);
  };
}

TEST_CASE("tasks on the bytes and on numbers are one sequence") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 3);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const index_t rows = 1 + r.below(9);
      const index_t columns = 1 + r.below(9);
      std::vector<std::uint32_t> x(static_cast<std::size_t>(rows * columns));
      for (auto& v : x) v = static_cast<std::uint32_t>(r.next());
      std::vector<std::uint32_t> expected = x;
      const std::size_t bytes = x.size() * sizeof(std::uint32_t);
      context ctx(*m, {.backend = backend});
      auto u = ctx.logical_data(untyped(x.data(), bytes, alignof(std::uint32_t)));
      const stf::shape_of<slice<std::uint32_t, 2>> shape(rows, columns);
      auto numbers = stf::typed<slice<std::uint32_t, 2>>(u, shape);
      for (int step = 0; step < 10; ++step) {
        const exec_place places[] = {exec_place::all_devices(), exec_place::device(n_pes - 1), exec_place::host()};
        const exec_place& where = places[r.below(3)];
        if (r.below(2) == 0) {
          change_bytes(ctx, where, r.below(2) == 0 ? u : stf::untyped_of(numbers));
          std::vector<unsigned char> all(bytes);
          std::memcpy(all.data(), expected.data(), bytes);
          for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<unsigned char>(3u * all[i] + i);
          std::memcpy(expected.data(), all.data(), bytes);
        } else {
          change_numbers(ctx, where, numbers);
          for (index_t i = 0; i < rows; ++i)
            for (index_t j = 0; j < columns; ++j) {
              auto& v = expected[static_cast<std::size_t>(i * columns + j)];
              v = 5 * v + static_cast<std::uint32_t>(10 * i + j);
            }
        }
        if (r.below(4) == 0) ctx.fence();
      }
      ctx.finalize();
      CHECK(x == expected);
    }
}

TEST_CASE("without a value, counted at run time, and as elements within a task") {
  const auto m = test_machine(2);
  if (!m) return;
  context ctx(*m);
  const std::vector<std::size_t> sizes{8, 24, 0, 80};
  std::vector<logical_data<untyped>> all;
  for (const std::size_t n : sizes) all.push_back(ctx.logical_data_of<untyped>({n, alignof(double)}));
  for (const auto& d : all)
    ctx.parallel_for(exec_place::device(1), stf::box(1), d.write())->*STARLING_KERNEL(index_t, untyped u) {
      const slice<double> x = u.as<double>();
      for (index_t i = 0; i < x.extent(0); ++i) x(i) = 1.5 + static_cast<double>(i);
    };
  double sum = 0;
  std::size_t elements = 0;
  auto t = ctx.task(exec_place::host());
  for (const auto& d : all) t.add(d.read());
  t->*[&](stream& s, const stf::dynamic_task& task) {
    for (std::size_t i = 0; i < task.size(); ++i) {
      const auto x = task.get<const_untyped>(i).as<double>();
      elements += static_cast<std::size_t>(x.extent(0));
      s.call([x, &sum] {
        for (index_t k = 0; k < x.extent(0); ++k) sum += x(k);
      });
    }
  };
  const const_untyped seen = ctx.wait(all[1]);
  CHECK(seen.size() == 24);
  CHECK(seen.as<double>()(2) == 3.5);
  ctx.finalize();
  CHECK(elements == 14);
  CHECK(sum == 1.5 + (1.5 + 2.5 + 3.5) + (15 + 45));
}

TEST_CASE("bytes that can only be read") {
  const auto m = test_machine(1);
  if (!m) return;
  const std::vector<int> x{1, 2, 3};
  int sum = 0;
  context ctx(*m);
  auto u = ctx.logical_data(const_untyped(x.data(), 12, alignof(int)));
  auto numbers = stf::typed<slice<const int>>(u, stf::shape_of<slice<const int>>(3));
  auto total = ctx.logical_data(stf::scalar_view<int>(&sum));
  ctx.parallel_for(exec_place::device(0), numbers.shape(), numbers.read(), u.read(), total.reduce(stf::reducer::sum()))
          ->*STARLING_KERNEL(index_t i, slice<const int> v, const_untyped bytes, int& s) {
    s += v(i) + bytes.as<int>()(i);
  };
  ctx.finalize();
  CHECK(sum == 12);
}

}  // namespace
}  // namespace starling::test::untyped_tests
