// Managed memory as a place: one instance that tasks on all devices, over several of them and on the host use, beside
// instances elsewhere.
#include <set>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::managed_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;

constexpr stf::backend_kind back_ends[] = {stf::backend_kind::stream, stf::backend_kind::graph,
                                           stf::backend_kind::automatic, stf::backend_kind::persistent};

void add(stream& s, slice<double> x, double b) {
  s.launch(2, STARLING_KERNEL(block & blk) { blk.for_each(blk.my_share(x.extent(0)), [&](index_t i) { x(i) += b; }); });
}

// b becomes a + 2 b - 3 i.
void mix_into(stream& s, slice<const double> a, slice<double> b) {
  s.launch(
      2, STARLING_KERNEL(block & blk) {
        blk.for_each(blk.my_share(b.extent(0)),
                     [&](index_t i) { b(i) = a(i) + 2 * b(i) - 3 * static_cast<double>(i); });
      });
}

TEST_CASE("one instance for all devices and the host") {
  const auto m = test_machine(3);
  if (!m) return;
  for (const auto backend : back_ends) {
    context ctx(*m, {.backend = backend});
    std::vector<double> x(1000, 1.0);
    auto d = ctx.logical_data(x);
    std::set<const void*> starts;
    for (int round = 0; round < 3; ++round) {
      for (int pe = 0; pe < 3; ++pe)
        ctx.task(exec_place::device(pe), d.rw(data_place::managed()))->*[&](stream& s, slice<double> v) {
          starts.insert(v.data_handle());
          add(s, v, 1);
        };
      ctx.host_launch(d.rw(data_place::managed()))->*[](slice<double> v) {
        for (index_t i = 0; i < v.extent(0); ++i) v(i) *= 2;
      };
    }
    ctx.finalize();
    double wanted = 1;
    for (int round = 0; round < 3; ++round) wanted = 2 * (wanted + 3);
    CHECK(x == std::vector<double>(1000, wanted));
    CHECK(starts.size() == 1);
    CHECK(ctx.statistics().copies == 2);  // there and back
    const auto& places = ctx.statistics().places;
    CHECK(places.back().pe == managed_place);
    CHECK(places.back().in_use == 0);
    CHECK(places.back().most_in_use >= 8000);
    for (int pe = 0; pe < 3; ++pe) CHECK(places[static_cast<std::size_t>(pe)].most_in_use == 0);
  }
}

TEST_CASE("loops, launches and reductions over it") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    for (const auto& where : {exec_place::device(1), exec_place::all_devices(), exec_place::host()}) {
      context ctx(*m, {.backend = backend});
      std::vector<double> x(999);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7);
      double sum = -1;
      auto d = ctx.logical_data(x);
      auto total = ctx.logical_data(scalar_view<double>(&sum));
      ctx.parallel_for(where, d.shape(), d.rw(data_place::managed()))->*STARLING_KERNEL(index_t i, slice<double> v) {
        v(i) += 2;
      };
      if (!where.is_host())
        ctx.launch(where, d.rw(data_place::managed()))->*STARLING_KERNEL(stf::default_hierarchy th, slice<double> v) {
          for (auto [i] : th.apply_partition(stf::shape(v))) v(i) += 1;
        };
      ctx.parallel_for(exec_place::all_devices(), d.shape(), d.read(data_place::managed()),
                       total.reduce(stf::reducer::sum()))
              ->*STARLING_KERNEL(index_t i, slice<const double> v, double& s) {
        s += v(i);
      };
      ctx.finalize();
      const double more = where.is_host() ? 2 : 3;
      double wanted = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] != static_cast<double>(i % 7) + more) FAIL_CHECK("element " << i << " is " << x[i]);
        wanted += x[i];
      }
      CHECK(sum == wanted);
    }
  }
}

TEST_CASE("tasks that reduce into it") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    context ctx(*m, {.backend = backend});
    std::vector<double> x(100, 1.0);
    auto d = ctx.logical_data(x);
    for (int i = 0; i < 6; ++i)
      ctx.task(exec_place::device(i % 2), d.reduce(stf::reducer::sum()))->*[](stream& s, slice<double> v) {
        add(s, v, 2);
      };
    ctx.task(exec_place::device(1), d.rw(data_place::managed()))->*[](stream& s, slice<double> v) { add(s, v, 1); };
    ctx.task(d.reduce(stf::reducer::sum()))->*[](stream& s, slice<double> v) { add(s, v, 3); };
    ctx.host_launch(d.rw())->*[](slice<double> v) { v(0) += 10; };
    ctx.finalize();
    CHECK(x[0] == 27);
    CHECK(x[99] == 17);
  }
}

// Data that tasks use in turn at random places, against the sequence of them.
TEST_CASE("beside instances at other places") {
  random any(61);
  INFO(any.seed);
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : back_ends) {
      context ctx(*m, {.backend = backend, .device_memory = std::size_t{12} << 10});
      std::vector<std::vector<double>> x(4, std::vector<double>(512, 0.0)), wanted = x;
      std::vector<stf::logical_data<slice<double>>> d;
      for (auto& v : x) d.push_back(ctx.logical_data(v));
      const auto anywhere = [&] {
        switch (any.below(5)) {
          case 0:
            return data_place::affine();
          case 1:
            return data_place::host();
          case 2:
            return data_place::device(static_cast<int>(any.below(n_pes)));
          default:
            return data_place::managed();
        }
      };
      for (int step = 0; step < 80; ++step) {
        const auto from = static_cast<std::size_t>(any.below(4));
        const auto to = (from + 1 + static_cast<std::size_t>(any.below(3))) % 4;
        const auto where = exec_place::device(static_cast<int>(any.below(n_pes)));
        ctx.task(where, d[from].read(anywhere()), d[to].rw(anywhere()))
                ->*[](stream& s, slice<const double> a, slice<double> b) { mix_into(s, a, b); };
        for (std::size_t i = 0; i < 512; ++i)
          wanted[to][i] = wanted[from][i] + 2 * wanted[to][i] - 3 * static_cast<double>(i);
        if (any.below(12) == 0) ctx.prefetch(d[from], data_place::managed());
        if (any.below(12) == 0) ctx.fence();
      }
      ctx.finalize();
      CHECK(x == wanted);
    }
  }
}

TEST_CASE("parts, recordings and conditions in it") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    context ctx(*m, {.backend = backend});
    std::vector<double> x(64, 1.0);
    auto d = ctx.logical_data(x);
    {
      auto parts = ctx.split(d, 4, stf::blocked(), data_place::managed());
      for (int i = 0; i < 4; ++i)
        ctx.task(exec_place::device(i % 2), parts[i].rw(data_place::managed()))->*[i](stream& s, slice<double> v) {
          add(s, v, i);
        };
    }
    auto rounds = ctx.logical_data(stf::shape_of<scalar_view<int>>());
    auto again = ctx.logical_data(stf::shape_of<scalar_view<int>>());
    ctx.parallel_for(stf::box(1), rounds.write(data_place::managed()))->*STARLING_KERNEL(index_t, scalar_view<int> r) {
      *r = 0;
    };
    const auto body = [&] {
      ctx.parallel_for(exec_place::device(1), d.shape(), d.rw(data_place::managed()))
              ->*STARLING_KERNEL(index_t i, slice<double> v) {
        v(i) += 1;
      };
      ctx.parallel_for(stf::box(1), rounds.rw(data_place::managed()), again.write(data_place::managed()))
              ->*STARLING_KERNEL(index_t, scalar_view<int> r, scalar_view<int> a) {
        *r += 1;
        *a = *r < 5;
      };
    };
    ctx.repeat_while(again, body, 100);
    ctx.repeat(3, body);
    CHECK(ctx.wait(rounds) == 8);
    const auto recorded = ctx.record(body);
    recorded.launch(2);
    auto f = ctx.freeze(d.read(data_place::managed()));
    machine on = *m;
    stream s = on.new_stream(1);
    (void)f.get(s);
    f.unfreeze(s);
    ctx.finalize();
    for (std::size_t i = 0; i < 64; ++i) CHECK(x[i] == 1 + static_cast<double>(i / 16) + 10);
  }
}

}  // namespace
}  // namespace starling::test::managed_tests
