// Priorities of tasks change no value, whatever the back end and the kind of task.
#include <cstdint>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"

namespace starling::test::priority_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::slice;

using number = std::uint32_t;
using numbers = std::vector<number>;

struct add_to {
  STARLING_HD void operator()(index_t i, slice<const number> x, slice<number> y) const { y(i) = 3 * y(i) + x(i); }
};

void submit(context& ctx, random& r, int pes, const stf::logical_data<slice<number>>& from,
            const stf::logical_data<slice<number>>& to) {
  const auto priority = static_cast<int>(r.below(stf::highest_priority + 1));
  const exec_place where = exec_place::device(static_cast<int>(r.below(pes)));
  const auto body = [](stream& s, slice<const number> x, slice<number> y) {
    s.launch(
        2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(y.extent(0)), [&](index_t i) { add_to()(i, x, y); }); });
  };
  switch (r.below(5)) {
    case 0:
      ctx.task(where, from.read(), to.rw()).set_priority(priority)->*body;
      break;
    case 1:
      ctx.parallel_for(where, to.shape(), from.read(), to.rw()).set_priority(priority)->*add_to();
      break;
    case 2:
      ctx.parallel_for(exec_place::all_devices(), to.shape(), from.read(), to.rw()).set_priority(priority)->*add_to();
      break;
    case 3:
      ctx.host_launch(from.read(), to.rw()).set_priority(priority)->*[](slice<const number> x, slice<number> y) {
        for (index_t i = 0; i < y.extent(0); ++i) add_to()(i, x, y);
      };
      break;
    default: {
      auto t = ctx.task(where);
      t.add(from.read()).add(to.rw()).set_priority(priority);
      t->*[&body](stream& s, const stf::dynamic_task& given) {
        body(s, given.get<slice<const number>>(0), given.get<slice<number>>(1));
      };
    }
  }
}

TEST_CASE("random tasks of random priorities") {
  random r(5);
  for (const auto backend : {backend_kind::stream, backend_kind::graph, backend_kind::automatic})
    for (int i = 0; i < repetitions(10); ++i) {
      const int pes = 1 + static_cast<int>(r.below(3));
      const auto m = test_machine(pes);
      if (!m) continue;
      INFO("seed " << r.seed << ", back end " << static_cast<int>(backend) << ", program " << i);
      constexpr std::size_t data = 4;
      std::vector<numbers> values(data, numbers(50));
      for (auto& v : values)
        for (auto& x : v) x = static_cast<number>(r.below(1000));
      std::vector<numbers> expected = values;
      context ctx(*m, {.backend = backend});
      std::vector<stf::logical_data<slice<number>>> v;
      for (auto& one : values) v.push_back(ctx.logical_data(one));
      const auto some = [&](bool recorded) {
        const std::uint64_t times = recorded ? 3 : 1;
        std::vector<std::pair<std::size_t, std::size_t>> done;
        const auto body = [&] {
          for (int k = 0; k < 12; ++k) {
            const auto to = static_cast<std::size_t>(r.below(data));
            const auto from = (to + 1 + static_cast<std::size_t>(r.below(data - 1))) % data;
            done.emplace_back(to, from);
            submit(ctx, r, pes, v[from], v[to]);
          }
        };
        recorded ? ctx.repeat(times, body) : body();
        for (std::uint64_t t = 0; t < times; ++t)
          for (const auto& [to, from] : done)
            for (std::size_t k = 0; k < expected[to].size(); ++k)
              expected[to][k] = 3 * expected[to][k] + expected[from][k];
      };
      for (int epoch = 0; epoch < 4; ++epoch) {
        some(false);
        ctx.fence();
        some(true);
      }
      v.clear();
      ctx.finalize();
      CHECK(values == expected);
    }
}

TEST_CASE("priorities within a persistent program") {
  const auto m = test_machine(2);
  if (!m) return;
  numbers x(40, 1), y(40, 2);
  stf::persistent_ctx ctx(*m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  ctx.repeat(3, [&] {
    ctx.parallel_for(exec_place::device(1), a.shape(), b.read(), a.rw()).set_priority(2)->*add_to();
    ctx.parallel_for(exec_place::device(0), b.shape(), a.read(), b.rw())->*add_to();
  });
  ctx.finalize();
  number ea = 1, eb = 2;
  for (int i = 0; i < 3; ++i) {
    ea = 3 * ea + eb;
    eb = 3 * eb + ea;
  }
  CHECK(x == numbers(40, ea));
  CHECK(y == numbers(40, eb));
}

}  // namespace
}  // namespace starling::test::priority_tests
