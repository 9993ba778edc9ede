// Parts of data, used as they cannot be.
#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_parts_tests {

// A partitioner of a user that gives elements to two owners, or to none that is there.
struct odd_partitioner {
  index_t shift = 0;
  stf::box<1> part(const stf::box<1>& s, index_t which, index_t) const {
    return stf::box<1>(index_range{which + shift, s.upper(0) + shift});
  }
};

namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

TEST_CASE("the whole while it is split, and parts afterwards") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(10, 3);
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x).set_symbol("x");
    auto parts = ctx.split(d, 3);
    const auto one = parts[1];
    const std::string say = "context::join";
    check_parts(failure_of<argument_error>([&] { ctx.task(d.read()).set_symbol("t")->*only_read; }),
                {"task 't'", "'x'", "split into parts", say});
    check_parts(failure_of<argument_error>([&] { ctx.task(d.write())->*nothing; }), {"'x'", "split", say});
    check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {"'x'", "split", say});
    check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(d.read()); }), {"'x'", "split", say});
    check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2); }), {"'x'", "split", say});
    check_parts(failure_of<argument_error>([&] { ctx.prefetch(d, data_place::device(0)); }), {"'x'", "split", say});
    ctx.task(one.rw())->*increase;
    {
      auto f = ctx.freeze(one.read());
      check_parts(failure_of<argument_error>([&] { ctx.join(parts); }), {"join", "'x[1]'", "frozen"});
      auto finer = ctx.split(parts[2], 2);
      check_parts(failure_of<argument_error>([&] { ctx.join(parts); }), {"join"});
      check_parts(failure_of<argument_error>([&] { ctx.finalize(); }), {"finalize", "'x[1]'", "frozen"});
    }
    ctx.join(parts);
    ctx.join(parts);
    check_parts(failure_of<argument_error>([&] { ctx.task(one.read()).set_symbol("late")->*only_read; }),
                {"task 'late'", "'x[1]'", "joined", "context::split again"});
    check_parts(failure_of<argument_error>([&] { (void)ctx.wait(parts[0]); }), {"'x[0]'", "joined"});
    ctx.task(d.rw())->*increase;
    ctx.finalize();
    CHECK(x == std::vector<int>{4, 4, 4, 4, 5, 5, 5, 4, 4, 4});
    check_usable(m);
  }
}

TEST_CASE("handles that outlive each other and the context") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(12, 3);
    std::optional<stf::split_data<slice<int>>> outer;
    std::optional<stf::split_data<slice<int>>> inner;
    {
      context ctx(m, {.backend = backend});
      {
        auto d = ctx.logical_data(x);
        outer.emplace(ctx.split(d, 2));
        inner.emplace(ctx.split((*outer)[1], 3));
      }
      ctx.task(exec_place::device(1), (*inner)[0].rw())->*increase;
      outer.reset();  // waits for the inner parts
      ctx.task(exec_place::device(1), (*inner)[2].rw())->*increase;
      // The body of a task is where the last handle of its part goes.
      ctx.task((*inner)[1].rw())->*[&](stream& s, slice<int> v) {
        inner.reset();
        increase(s, v);
      };
      ctx.finalize();
    }
    CHECK(x == std::vector<int>{3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4});
    {
      context ctx(m, {.backend = backend});
      auto d = ctx.logical_data(x);
      outer.emplace(ctx.split(d, 2));
      ctx.task((*outer)[0].rw())->*increase;
      ctx.finalize();  // puts the parts together
      CHECK(x[0] == 4);
    }
    outer.reset();
    check_usable(m);
  }
}

// It goes on the thread of a stream, for which the user waits meanwhile, or with a graph, in an epoch's end.
TEST_CASE("the last handle goes with bodies that run on the host") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    random r(std::random_device{}());
    INFO("STARLING_TEST_SEED=" << r.seed);
    const int value = static_cast<int>(r.below(1'000'000));
    std::vector<std::vector<int>> x(3, std::vector<int>(10, value));
    context ctx(m, {.backend = backend});
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    for (auto& v : x) {
      auto d = ctx.logical_data(v);
      {
        const auto parts = ctx.split(d, 2);
        ctx.host_launch(parts[1].rw())->*[parts, pause](slice<int> mine) {
          pause();
          mine(0) += static_cast<int>(parts.box(1).lower(0));
        };
        ctx.parallel_for(exec_place::host(), parts[0].shape(), parts[0].rw())
                ->*[parts, pause](index_t i, slice<int> mine) {
                      if (i == 0) pause();
                      mine(i) += static_cast<int>(parts.box(0).upper(0));
                    };
      }
      ctx.synchronize();
      // Graphs are kept.
      if (backend == stf::backend_kind::stream) ctx.task(d.rw())->*increase;
    }
    ctx.finalize();
    const int more = backend == stf::backend_kind::stream ? 1 : 0;
    for (const auto& v : x)
      for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == value + more + (i < 6 ? 5 : 0));
    check_usable(m);
  }
}

TEST_CASE("parts that cannot be") {
  machine m = machine::host(2);
  std::vector<int> x(10, 3);
  context ctx(m);
  context other(m);
  auto d = ctx.logical_data(x).set_symbol("x");
  auto square = ctx.logical_data(stf::shape_of<slice<int, 2>>(4, 4)).set_symbol("square");
  auto theirs = other.logical_data(x).set_symbol("theirs");
  stf::logical_data<slice<int>> none;
  for (const int count : {0, -3}) {
    check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, count); }), {message(count, " parts")});
    check_parts(failure_of<argument_error>([&] { (void)ctx.split(square, {2, count}); }), {message(count, " parts")});
  }
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, index_t{1} << 40); }), {"1099511627776 parts"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2, stf::halo{-1}); }), {"-1 rows"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2, stf::halo{11, true}); }),
              {"periodic halo of 11 rows", "10"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2, stf::blocked{1}); }), {"dimension 1"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2, odd_partitioner()); }),
              {"parts 0 and 1", "elements in common"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 1, odd_partitioner{3}); }),
              {"part 0 goes from 3 to 13", "extent 10"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(theirs, 2); }), {"'theirs'", "another context"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(none, 1); }), {"none"});
  check_parts(failure_of<range_error>([&] { (void)ctx.split(d, 2, stf::blocked(), data_place::device(2)); }),
              {"device(2)"});
  auto f = ctx.freeze(d.read());
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2); }), {"'x'", "frozen"});
  stream s = m.new_stream(0);
  f.unfreeze(s);
  {
    auto parts = ctx.split(d, 20);  // half of them are empty
    check_parts(failure_of<range_error>([&] { (void)parts[20]; }), {"part 20 of 20"});
    check_parts(failure_of<range_error>([&] { (void)parts.box(-1); }), {"part -1 of 20"});
    check_parts(failure_of<argument_error>([&] { (void)parts.with_halo(0); }), {"without one", "halo"});
    check_parts(failure_of<argument_error>([&] { other.join(parts); }), {"another context"});
    for (int i = 0; i < 20; ++i) ctx.task(exec_place::device(i % 2), parts[i].rw())->*increase;
  }
  {
    auto wide = ctx.split(d, 2, stf::halo{1000});
    CHECK(wide.with_halo(0).shape.size() == 10);
    check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(wide.with_halo(0)); }), {"halo", "part alone"});
    check_parts(failure_of<argument_error>([&] {
                  ctx.task(exec_place::all_devices(), wide.with_halo(0))->*[](stf::task_run&, slice<const int>) {};
                }),
                {"'x[0]'", "halo", "one device"});
  }
  ctx.finalize();
  other.finalize();
  CHECK(x == std::vector<int>(10, 4));
  check_usable(m);
}

TEST_CASE("parts without a value, and parts whose task threw") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(10, 3);
    context ctx(m, {.backend = backend});
    auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(4)).set_symbol("fresh");
    auto d = ctx.logical_data(x).set_symbol("x");
    {
      auto parts = ctx.split(fresh, 2, stf::halo{1});
      check_parts(failure_of<argument_error>([&] { ctx.task(parts[0].read())->*only_read; }),
                  {"'fresh[0]'", "write()"});
      ctx.task(parts[0].write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 0, 8); };
      check_parts(failure_of<argument_error>([&] { ctx.task(parts.with_halo(0))->*only_read; }),
                  {"'fresh[1]'", "write()"});
      check_parts(failure_of<argument_error>([&] { ctx.join(parts); }), {"'fresh[1]' has no value", "write it first"});
    }
    check_parts(failure_of<argument_error>([&] { ctx.task(fresh.read())->*only_read; }), {"'fresh'", "write()"});
    {
      auto parts = ctx.split(d, 2, stf::halo{1});
      try {
        ctx.task(parts[1].rw()).set_symbol("bad")->*[](stream&, slice<int>) { throw std::runtime_error("no"); };
      } catch (const std::runtime_error&) {
      }
      check_parts(failure_of<stf::task_error>([&] { ctx.task(parts.with_halo(0))->*only_read; }), {"'x[1]'", "'bad'"});
      ctx.task(parts[0].rw())->*increase;
      ctx.join(parts);
    }
    check_parts(failure_of<stf::task_error>([&] { ctx.task(d.read())->*only_read; }), {"'x'", "'bad'"});
    check_parts(failure_of<stf::task_error>([&] { ctx.finalize(); }), {"'x'", "'bad'"});
    check_usable(m);
  }
}

TEST_CASE("loops over parts that cannot be") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(10, 3), y(10, 4), z(3, 5);
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x).set_symbol("x");
    auto whole = ctx.logical_data(y).set_symbol("y");
    auto several = ctx.logical_data(z).set_symbol("z");
    {
      const auto parts = ctx.split(d, 3);
      const auto other = ctx.split(ctx.logical_data(stf::shape_of<slice<int>>(10)), 4);
      const auto everywhere = exec_place::all_devices();
      const auto two = STARLING_KERNEL(stf::part<1>, index_t i, slice<int> a, slice<int> b) { a(i) = b(i) = 100; };
      check_parts(
          failure_of<argument_error>([&] { ctx.parallel_for(everywhere, parts, parts.rw(), other.write())->*two; }),
          {"3 parts", "has 4", "split both"});
      check_parts(
          failure_of<argument_error>([&] { ctx.parallel_for(everywhere, parts, parts.rw(), whole.rw())->*two; }),
          {"'y'", "for rw", "each part", "reduce"});
      check_parts(failure_of<argument_error>([&] {
                    ctx.parallel_for(everywhere, parts, parts.rw(), stf::logical_data<slice<int>>().write())->*two;
                  }),
                  {"that is none", "for write"});
      const auto sums = STARLING_KERNEL(stf::part<1>, index_t i, slice<int> a, int& s) { s += a(i) = 100; };
      check_parts(failure_of<argument_error>([&] {
                    ctx.parallel_for(everywhere, parts, parts.rw(), several.reduce(stf::reducer::sum()))->*sums;
                  }),
                  {"3 elements"});
      const auto one = STARLING_KERNEL(stf::part<1>, index_t i, slice<int> a) { a(i) = 100; };
      check_parts(failure_of<range_error>([&] { ctx.parallel_for(exec_place::device(2), parts, parts.rw())->*one; }),
                  {"device 2", "a machine with 2"});
      check_parts(
          failure_of<range_error>([&] { ctx.parallel_for(everywhere, parts, parts.rw()).set_priority(3)->*one; }),
          {"3"});
      check_parts(failure_of<argument_error>([&] {
                    ctx.parallel_for(everywhere, parts, parts.with_halo())
                            ->*STARLING_KERNEL(stf::part<1>, index_t, slice<const int>){};
                  }),
                  {"halo"});
      // Nothing was submitted so far.
      ctx.parallel_for(everywhere, parts, parts.rw())->*STARLING_KERNEL(stf::part<1>, index_t i, slice<int> a) {
        a(i) += 1;
      };
      ctx.join(parts);
      check_parts(failure_of<argument_error>([&] { ctx.parallel_for(everywhere, parts, parts.rw())->*one; }),
                  {"'x[0]'", "joined"});
    }
    ctx.finalize();
    CHECK(x == std::vector<int>(10, 4));
    CHECK(y == std::vector<int>(10, 4));
    CHECK(z == std::vector<int>(3, 5));
    check_usable(m);
  }
}

TEST_CASE("little memory") {
  machine m = machine::host(1);
  std::vector<int> x(1000, 3);
  context ctx(m, {.device_memory = 1024});
  auto d = ctx.logical_data(x).set_symbol("x");
  check_parts(failure_of<memory_error>([&] { (void)ctx.split(d, 4, stf::blocked(), data_place::device(0)); }),
              {"'x'", "the cap"});
  auto parts = ctx.split(d, 4);
  check_parts(failure_of<memory_error>(
                  [&] { ctx.task(parts[0].rw(), parts[1].rw())->*[](stream&, slice<int>, slice<int>) {}; }),
              {"'x[", "the cap"});
  for (int i = 0; i < 4; ++i) ctx.task(parts[i].rw())->*increase;
  ctx.finalize();
  CHECK(x == std::vector<int>(1000, 4));
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_parts_tests
