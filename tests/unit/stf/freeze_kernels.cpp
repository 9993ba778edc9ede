// Data that is frozen: used in streams of the user, with tasks before, meanwhile and after; and data that is fetched
// ahead.
#include <set>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::freeze_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

// y = a y + b
void apply(stream& s, slice<double> y, double a, double b) {
  s.launch(
      3, STARLING_KERNEL(block & blk) {
        blk.for_each(blk.my_share(y.extent(0)), [&](index_t i) { y(i) = a * y(i) + b; });
      });
}

void copy(stream& s, slice<const double> from, double* to) {
  s.copy(to, from.data_handle(), static_cast<std::size_t>(from.extent(0)) * sizeof(double));
}

TEST_CASE("frozen for reading") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph)
    for (const auto& place : {data_place::affine(), data_place::device(1), data_place::host()}) {
      std::vector<double> x(500, 1.0), seen(500, -1.0), other(500, -1.0);
      machine user = *m;
      stream s = user.new_stream(0);
      stream t = user.new_stream(1);
      context ctx(*m, {.backend = backend});
      auto d = ctx.logical_data(x);
      auto out = ctx.logical_data(other);
      ctx.task(d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 2, 3); };
      auto f = ctx.freeze(d.read(place));
      CHECK(f.shape().size() == 500);
      copy(s, f.get(s), seen.data());
      // Tasks read it meanwhile.
      ctx.task(exec_place::device(1), d.read(), out.rw())->*[](stream& w, slice<const double> v, slice<double> o) {
        w.copy(o.data_handle(), v.data_handle(), 500 * sizeof(double));
      };
      CHECK(f.get(t).data_handle() == f.get(s).data_handle());
      f.unfreeze(s);
      ctx.task(d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 10, 0); };
      ctx.finalize();
      s.synchronize();
      CHECK(seen == std::vector<double>(500, 5.0));
      CHECK(other == std::vector<double>(500, 5.0));
      CHECK(x == std::vector<double>(500, 50.0));
    }
}

TEST_CASE("frozen to be changed") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph)
    for (int pe = 0; pe < 2; ++pe) {
      std::vector<double> x(500, 1.0);
      machine user = *m;
      stream s = user.new_stream(pe);
      context ctx(*m, {.backend = backend});
      auto d = ctx.logical_data(x);
      for (int round = 0; round < 3; ++round) {
        ctx.task(exec_place::device(round % 2), d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 2, 1); };
        ctx.task(exec_place::device(1), d.read())->*[](stream&, slice<const double>) {};
        auto f = ctx.freeze(d.rw(data_place::device(pe)));
        apply(s, f.get(s), 3, 1);
        if (round == 1) apply(s, f.get(s), 1, 0);
        f.unfreeze(s);
      }
      ctx.finalize();
      double expected = 1;
      for (int round = 0; round < 3; ++round) expected = 3 * (2 * expected + 1) + 1;
      CHECK(x == std::vector<double>(500, expected));
    }
}

TEST_CASE("frozen to be written, without a value before") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    machine user = *m;
    stream s = user.new_stream(0);
    std::vector<double> x(64, -1.0);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(stf::shape_of<slice<double>>(64));
    auto out = ctx.logical_data(x);
    {
      auto f = ctx.freeze(d.write());
      const slice<double> v = f.get(s);
      s.fill(v.data_handle(), 0, 64 * sizeof(double));
      apply(s, v, 0, 7);
    }  // as unfreeze(s)
    ctx.task(d.read(), out.write())->*[](stream& w, slice<const double> v, slice<double> o) {
      w.copy(o.data_handle(), v.data_handle(), 64 * sizeof(double));
    };
    ctx.finalize();
    CHECK(x == std::vector<double>(64, 7.0));
  }
}

TEST_CASE("the end of a handle is the end of the frozen state") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    machine user = *m;
    stream s = user.new_stream(0);
    stream t = user.new_stream(1);
    std::vector<double> x(100, 1.0), y(100, 1.0);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(x);
    auto e = ctx.logical_data(y);
    std::vector<double> none(10);
    auto z = ctx.logical_data(none);
    {
      auto never_used = ctx.freeze(d.write());
      auto f = ctx.freeze(e.rw(data_place::device(1)));
      apply(s, f.get(s), 2, 0);
      // The user puts its streams in order.
      event first = user.new_event(0);
      s.record(first);
      t.wait(first);
      apply(t, f.get(t), 1, 5);
      f = ctx.freeze(z.rw());  // e is frozen no more
      ctx.task(e.rw())->*[](stream& w, slice<double> b) { apply(w, b, 1, 1); };
    }
    ctx.task(d.rw(), e.rw())->*[](stream& w, slice<double> a, slice<double> b) {
      apply(w, a, 2, 0);
      apply(w, b, 10, 0);
    };
    ctx.finalize();
    CHECK(x == std::vector<double>(100, 2.0));
    CHECK(y == std::vector<double>(100, 80.0));
  }
}

// The body of a reading task is where the last handle goes.
TEST_CASE("a handle that ends while a body holds the data") {
  const auto m = test_machine(1);
  if (!m) return;
  machine user = *m;
  stream s = user.new_stream(0);
  std::vector<double> x(100, 1.0);
  context ctx(*m);
  auto d = ctx.logical_data(x);
  {
    auto f = std::make_unique<stf::frozen_logical_data<slice<double>, slice<const double>>>(ctx.freeze(d.read()));
    (void)f->get(s);
    ctx.task(d.read())->*[&](stream&, slice<const double>) { f.reset(); };
  }
  ctx.task(d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 2, 0); };
  ctx.finalize();
  CHECK(x == std::vector<double>(100, 2.0));
}

TEST_CASE("frozen on all devices by one handle") {
  const auto m = test_machine(3);
  if (!m) return;
  machine user = *m;
  for (const auto backend : stream_and_graph) {
    std::vector<double> x(500, 1.0);
    std::vector<std::vector<double>> seen(3, std::vector<double>(500, -1.0));
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(x);
    ctx.task(exec_place::device(1), d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 2, 3); };
    auto f = ctx.freeze(d.read(data_place::replicated()));
    std::vector<stream> streams;
    std::set<const double*> copies;
    for (int pe = 0; pe < 3; ++pe) {
      stream& s = streams.emplace_back(user.new_stream(pe));
      copies.insert(f.get(s).data_handle());
      copy(s, f.get(s), seen[static_cast<std::size_t>(pe)].data());
      event read = user.new_event(pe);
      s.record(read);
      streams[0].wait(read);
    }
    CHECK(copies.size() == 3);
    f.unfreeze(streams[0]);
    ctx.task(exec_place::device(2), d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 10, 0); };
    ctx.finalize();
    for (stream& s : streams) s.synchronize();
    for (const auto& each : seen) CHECK(each == std::vector<double>(500, 5.0));
    CHECK(x == std::vector<double>(500, 50.0));
  }
}

TEST_CASE("frozen instances stay when memory is short") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    constexpr index_t n = 96;  // 768 bytes each
    machine user = *m;
    stream s = user.new_stream(0);
    std::vector<std::vector<double>> values(6, std::vector<double>(n, 1.0));
    context ctx(*m, {.backend = backend, .device_memory = 3 * 768});
    std::vector<stf::logical_data<slice<double>>> all;
    for (auto& v : values) all.push_back(ctx.logical_data(v));
    ctx.task(all[0].rw())->*[](stream& w, slice<double> v) { apply(w, v, 1, 41); };
    auto f = ctx.freeze(all[0].read(data_place::device(0)));
    const double* start = f.get(s).data_handle();
    for (int round = 0; round < 3; ++round)
      for (std::size_t i = 1; i < 6; ++i) ctx.task(all[i].rw())->*[](stream& w, slice<double> v) { apply(w, v, 2, 0); };
    CHECK(f.get(s).data_handle() == start);
    std::vector<double> seen(n, -1.0);
    s.copy(seen.data(), start, n * sizeof(double));
    f.unfreeze(s);
    s.synchronize();
    CHECK(seen == std::vector<double>(n, 42.0));
    ctx.finalize();
    CHECK(ctx.statistics().evictions > 0);
    for (std::size_t i = 1; i < 6; ++i) CHECK(values[i] == std::vector<double>(n, 8.0));
    CHECK(values[0] == std::vector<double>(n, 42.0));
  }
}

TEST_CASE("data that is fetched ahead") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<double> x(100, 3.0);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(x);
    CHECK(ctx.statistics().copies == 0);
    ctx.prefetch(d, data_place::device(1));
    CHECK(ctx.statistics().copies == 1);
    ctx.prefetch(d, data_place::device(1));
    ctx.prefetch(d, data_place::host());
    ctx.task(exec_place::device(1), d.rw())->*[](stream& w, slice<double> v) { apply(w, v, 2, 1); };
    // In check mode the host has a copy of its own.
    const std::uint64_t copies = m->checking() ? 2 : 1;
    CHECK(ctx.statistics().copies == copies);
    CHECK(ctx.statistics().copied_bytes == 800 * copies);
    ctx.finalize();
    CHECK(x == std::vector<double>(100, 7.0));
    CHECK(ctx.statistics().tasks == 1);
  }
}

// Against a loop of the host: tasks and users' streams in random turns.
TEST_CASE("random turns of tasks and of the user") {
  const auto m = test_machine(3);
  if (!m) return;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      constexpr index_t n = 40;
      machine user = *m;
      std::vector<stream> streams;
      for (int pe = 0; pe < 3; ++pe) streams.push_back(user.new_stream(pe));
      std::vector<std::vector<double>> values(4, std::vector<double>(n, 1.0));
      std::vector<std::vector<double>> expected = values;
      context ctx(*m, {.backend = backend, .device_memory = 4 * 512});
      std::vector<stf::logical_data<slice<double>>> all;
      for (auto& v : values) all.push_back(ctx.logical_data(v));
      for (int step = 0; step < 60; ++step) {
        const auto which = static_cast<std::size_t>(r.below(4));
        const int pe = static_cast<int>(r.below(3));
        const auto b = static_cast<double>(r.below(10));
        for (double& v : expected[which]) v = -v + b;
        if (r.below(2) == 0) {
          ctx.task(exec_place::device(pe), all[which].rw())->*[b](stream& w, slice<double> v) { apply(w, v, -1, b); };
        } else {
          stream& s = streams[static_cast<std::size_t>(r.below(3))];
          auto f = ctx.freeze(all[which].rw(data_place::device(pe)));
          apply(s, f.get(s), -1, b);
          if (r.below(2) == 0) f.unfreeze(s);
        }
        if (r.below(7) == 0) ctx.fence();
      }
      ctx.finalize();
      CHECK(values == expected);
    }
}

TEST_CASE("a stream of the user waits for all tasks so far") {
  for (int n_pes = 1; n_pes <= 4; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    machine on = *m;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::automatic,
                               stf::backend_kind::persistent}) {
      stf::context ctx(*m, {.backend = backend});
      stream mine = on.new_stream(n_pes - 1);
      std::vector<long> X(20, 1), seen(40);
      const auto shown = on.pin(seen.data(), 40 * sizeof(long));
      // In one place, so that the address stays.
      auto x = ctx.logical_data(X);
      const long* start = nullptr;
      for (int round = 0; round < 3; ++round) {
        for (int pe = 0; pe < n_pes; ++pe)
          ctx.task(stf::exec_place::device(pe), x.rw())->*[](stream& s, stf::slice<long> v) {
            s.launch(1, STARLING_KERNEL(block & b) { b.for_each(20, [&](index_t i) { v(i) *= 2; }); });
          };
        ctx.task(stf::exec_place::device(0), x.rw())->*[&](stream& s, stf::slice<long> v) {
          start = v.data_handle();
          s.launch(1, STARLING_KERNEL(block & b) { b.for_each(20, [&](index_t i) { v(i) += 1; }); });
        };
        const event all = ctx.fence_event();
        mine.wait(all);
        mine.copy(seen.data(), start, 20 * sizeof(long));
        mine.synchronize();
        CHECK(all.done());
        CHECK(seen[19] == (1L << ((round + 1) * n_pes)) + [&] {
          long more = 0;
          for (int r = 0; r <= round; ++r) more += 1L << (r * n_pes);
          return more;
        }());
      }
      ctx.fence_event().synchronize();
      ctx.finalize();
    }
  }
}

}  // namespace
}  // namespace starling::test::freeze_tests
