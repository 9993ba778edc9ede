// Recorded tasks that read parts with rows of their neighbours: each launch brings these rows anew, whatever has
// changed them.
#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/stf/line_stencil.hpp"
#include "support/test_machine.hpp"

namespace starling::test::recorded_halos_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

using values = std::vector<std::int64_t>;

values random_values(random& r, index_t n) {
  values v(static_cast<std::size_t>(n));
  for (auto& x : v) x = r.below(1000);
  return v;
}

line_stencil random_stencil(random& r) {
  line_stencil s;
  s.n = 1 + r.below(60);
  s.periodic = r.below(2) == 0;
  s.width = 1 + r.below(s.periodic && s.n < 6 ? s.n : 6);
  return s;
}

// Adds to one part outside of the recording.
void change_part(context& ctx, const exec_place& where, const line_stencil::parts& u, int i, values& expected) {
  ctx.parallel_for(where, u[i].shape(), u[i].rw())->*STARLING_KERNEL(index_t k, slice<std::int64_t> x) { x(k) += 7; };
  for (index_t k = u.box(i).lower(0); k < u.box(i).upper(0); ++k) expected[static_cast<std::size_t>(k)] += 7;
}

TEST_CASE("random stencils, recorded and launched among other tasks") {
  for (std::uint64_t seed = 1; seed <= repetitions(std::uint64_t{24}); ++seed)
    for (const auto backend : {backend_kind::stream, backend_kind::graph, backend_kind::persistent}) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 4);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const line_stencil s = random_stencil(r);
      values a = random_values(r, s.n);
      values expected = a;
      const auto count = 1 + r.below(8);
      context ctx(*m, {.backend = backend});
      auto d = ctx.logical_data(a);
      auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(s.n));
      {
        const auto u = ctx.split(d, count, s.around());
        const auto v = ctx.split(e, count, s.around());
        const auto place_of = [&](int i) { return exec_place::device(i % n_pes); };
        // A persistent program copies between devices alone.
        if (backend == backend_kind::persistent || r.below(2) == 0)
          for (int i = 0; i < u.size(); ++i) ctx.prefetch(u[i], data_place::device(i % n_pes));
        const auto two_steps = [&] {
          for (int i = 0; i < u.size(); ++i) s.step(ctx, place_of(i), u, v, i);
          for (int i = 0; i < u.size(); ++i) s.step(ctx, place_of(i), v, u, i);
        };
        const auto expect_rounds = [&](std::uint64_t n) {
          for (std::uint64_t k = 0; k < 2 * n; ++k) expected = s.step(expected);
        };
        if (r.below(2) == 0) {
          two_steps();
          expect_rounds(1);
        }
        const stf::recorded_tasks step = ctx.record(two_steps);
        for (int k = 0; k < 6; ++k) {
          const auto rounds = static_cast<std::uint64_t>(1 + r.below(3));
          const index_t what = r.below(4);
          if (what == 0) {
            two_steps();
            expect_rounds(1);
          } else if (what == 1) {
            const auto i = static_cast<int>(r.below(u.size()));
            change_part(ctx, r.below(2) == 0 ? exec_place::host() : place_of(i + 1), u, i, expected);
            if (backend == backend_kind::persistent) ctx.prefetch(u[i], data_place::device(i % n_pes));
          } else if (what == 2) {
            ctx.repeat(rounds, two_steps);
            expect_rounds(rounds);
          }
          step.launch(rounds);
          expect_rounds(rounds);
        }
      }
      ctx.finalize();
      CHECK(a == expected);
    }
}

// The rows are around the parts already when the step is recorded, and what is recorded is not done.
TEST_CASE("rows that were there before the recording, and after it") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : {backend_kind::stream, backend_kind::graph}) {
    random r(5);
    line_stencil s;
    s.n = 12;
    values a = random_values(r, s.n);
    values expected = a;
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(a);
    auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(s.n));
    {
      const auto u = ctx.split(d, 3, s.around());
      const auto v = ctx.split(e, 3, s.around());
      const auto step = [&] {
        for (int i = 0; i < 3; ++i) s.step(ctx, exec_place::device(i % 2), u, v, i);
      };
      const auto check = [&] {
        const values next = s.step(expected);
        for (int i = 0; i < 3; ++i) {
          const slice<const std::int64_t> now = ctx.wait(v[i]);
          for (index_t k = 0; k < 4; ++k) CHECK(now(k) == next[static_cast<std::size_t>(4 * i + k)]);
        }
      };
      step();
      const stf::recorded_tasks recorded = ctx.record(step);
      change_part(ctx, exec_place::device(0), u, 1, expected);
      recorded.launch();
      check();
      change_part(ctx, exec_place::device(1), u, 0, expected);
      step();
      check();
      change_part(ctx, exec_place::device(0), u, 2, expected);
      (void)ctx.record(step);
      step();
      check();
    }
    ctx.finalize();
    CHECK(a == expected);
  }
}

TEST_CASE("rows that are recorded come from where their part is") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : {backend_kind::stream, backend_kind::graph}) {
    line_stencil s;
    s.n = 400;
    values a(400, 1);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(a);
    auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(s.n));
    const auto u = ctx.split(d, 2, s.around());
    const auto v = ctx.split(e, 2, s.around());
    for (int i = 0; i < 2; ++i) ctx.prefetch(u[i], data_place::device(i));
    const auto before = ctx.statistics().copied_bytes;
    const stf::recorded_tasks step = ctx.record([&] {
      for (int i = 0; i < 2; ++i) s.step(ctx, exec_place::device(i), u, v, i);
      for (int i = 0; i < 2; ++i) s.step(ctx, exec_place::device(i), v, u, i);
    });
    // Four rows of 8 bytes, two loops on each device, and nothing more.
    CHECK(ctx.statistics().copied_bytes == before + 4 * 8);
    CHECK(step.operations() == 8);
    ctx.finalize();
  }
}

TEST_CASE("a value that the recorded tasks find only on the host") {
  const auto m = test_machine(1);
  if (!m) return;
  line_stencil s;
  s.n = 10;
  values a(10, 1);
  values expected = a;
  context ctx(*m);
  auto d = ctx.logical_data(a);
  auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(s.n));
  {
    const auto u = ctx.split(d, 5, s.around());
    const auto v = ctx.split(e, 5, s.around());
    const stf::recorded_tasks step = ctx.record([&] { s.step(ctx, exec_place::device(0), u, v, 2); });
    for (int k = 0; k < 3; ++k) {
      for (const int i : {1, 3})
        ctx.parallel_for(exec_place::host(), u[i].shape(), u[i].rw())
                ->*STARLING_KERNEL(index_t j, slice<std::int64_t> x) {
          x(j) += 10 * j;
        };
      step.launch();
      for (const std::size_t i : {3u, 7u}) expected[i] += 10;
      const values next = s.step(expected);
      const slice<const std::int64_t> now = ctx.wait(v[2]);
      CHECK(now(0) == next[4]);
      CHECK(now(1) == next[5]);
    }
    for (int i = 0; i < 5; ++i)
      if (i != 2) ctx.parallel_for(v[i].shape(), v[i].write())->*STARLING_KERNEL(index_t j, slice<std::int64_t> x) {
          x(j) = 0;
        };
  }
  ctx.finalize();
  CHECK(a == expected);
}

}  // namespace
}  // namespace starling::test::recorded_halos_tests
