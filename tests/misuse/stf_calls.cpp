// Calls of a context at a time when they cannot be: after its end, within the body of a task, within a body of the
// host.
#include <atomic>
#include <string>
#include <thread>

#include "starling/stf/context.hpp"
#include "starling/stf/task_run.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_calls_tests {
namespace {

using stf::context;
using stf::slice;

// Of each kind of task; the data keeps its value.
TEST_CASE("priorities that there are not") {
  machine m = machine::host(1);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::persistent}) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(5, 1);
    auto d = ctx.logical_data(x);
    for (const int wrong : {-1, stf::highest_priority + 1}) {
      const auto refused = [&](const auto& submit) {
        check_parts(failure_of<range_error>(submit), {"with priority " + std::to_string(wrong), "from 0", "to 2"});
      };
      refused([&] { ctx.task(d.write()).set_symbol("mine").set_priority(wrong)->*nothing; });
      refused([&] { ctx.parallel_for(d.shape(), d.write()).set_priority(wrong)->*[](index_t, slice<int>) {}; });
      refused([&] { ctx.host_launch(d.write()).set_priority(wrong)->*[](slice<int>) {}; });
      refused([&] { ctx.task().add(d.write()).set_priority(wrong)->*[](stream&) {}; });
      refused([&] { ctx.repeat(2, [&] { ctx.task(d.write()).set_priority(wrong)->*nothing; }); });
    }
    auto t = ctx.task();
    t.begin();
    check_parts(failure_of<argument_error>([&] { t.set_priority(1); }), {"set_priority"});
    t.end();
    CHECK(ctx.wait(d)(4) == 1);
    ctx.finalize();
  }
  check_parts(failure_of<range_error>([&] { (void)m.new_stream(0, -1); }), {"priority = -1", "at least 0"});
}

TEST_CASE("things for each stream, at the wrong time or for the wrong stream") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(5, 1);
    int alive = 0;
    struct counted {
      explicit counted(int& n) : alive(n) { ++alive; }
      counted(const counted&) = delete;
      ~counted() { --alive; }
      int& alive;
    };
    const auto make = [&alive](stream&) { return counted(alive); };
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x);
    check_parts(failure_of<range_error>([&] { (void)ctx.per_stream(make, 3); }),
                {"per_stream", "priority 3", "0 to 2"});
    check_parts(failure_of<range_error>([&] { (void)ctx.per_stream(make, -1); }), {"priority -1"});
    const auto throws = [&alive](stream& s) -> counted {
      if (s.pe() == 1) throw 7;
      return counted(alive);
    };
    CHECK_THROWS_AS((void)ctx.per_stream(throws), int);
    CHECK(alive == 0);
    const auto things = ctx.per_stream(make);
    ctx.task(d.rw())->*[&](stream&, slice<int>) {
      check_parts(failure_of<argument_error>([&] { (void)ctx.per_stream(make); }), {"per_stream", "body of a task"});
    };
    (void)ctx.record([&] {
      check_parts(failure_of<argument_error>([&] { (void)ctx.per_stream(make); }), {"per_stream", "recorded"});
    });
    stream mine = m.new_stream(0);
    check_parts(failure_of<argument_error>([&] { (void)things.on(mine); }),
                {"per_stream has nothing", "body of a task"});
    ctx.task(d.rw()).set_priority(1)->*[&](stream& s, slice<int>) {
      check_parts(failure_of<argument_error>([&] { (void)things.on(s); }), {"higher priority"});
    };
    context other(m);
    other.task()->*
        [&](stream& s) { check_parts(failure_of<argument_error>([&] { (void)things.on(s); }), {"from this context"}); };
    CHECK(ctx.wait(d)(4) == 1);
    ctx.finalize();
    check_parts(failure_of<argument_error>([&] { (void)ctx.per_stream(make); }), {"per_stream", "finalized"});
  }
  stream s = m.new_stream(0);
  (void)m.record(s, [&] {
    stf::stream_ctx ctx(m, s);
    check_parts(failure_of<argument_error>([&] { (void)ctx.per_stream([](stream&) { return 1; }); }),
                {"per_stream", "being recorded"});
    ctx.finalize();
  });
}

TEST_CASE("after finalize") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(5, 1);
    auto d = ctx.logical_data(x);
    ctx.task(d.rw())->*nothing;
    ctx.finalize();
    const std::string again = "make a new context";
    check_parts(failure_of<argument_error>([&] { ctx.task(d.rw()).set_symbol("late")->*nothing; }),
                {"task 'late'", "finalized", again});
    check_parts(failure_of<argument_error>([&] { ctx.host_launch(d.read())->*[](slice<const int>) {}; }), {again});
    check_parts(failure_of<argument_error>([&] { ctx.parallel_for(d.shape(), d.rw())->*[](index_t, slice<int>) {}; }),
                {again});
    check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(x); }), {"finalized", again});
    check_parts(failure_of<argument_error>([&] { (void)ctx.token(); }), {again});
    check_parts(failure_of<argument_error>([&] { ctx.fence(); }), {"fence", again});
    check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {again});
    ctx.finalize();
    ctx.synchronize();
    CHECK(ctx.statistics().tasks == 1);
    CHECK(x == std::vector<int>(5, 1));
    check_usable(m);
  }
}

// Every call that waits, within a body with data and within one without.
TEST_CASE("waiting within the body of a task") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(5, 1);
    auto d = ctx.logical_data(x);
    auto e = ctx.logical_data(stf::shape_of<slice<int>>(3));
    const std::string say = "within the body of a task";
    const auto all = [&] {
      check_parts(failure_of<argument_error>([&] { ctx.fence(); }), {"fence", say});
      check_parts(failure_of<argument_error>([&] { ctx.synchronize(); }), {"synchronize", say});
      check_parts(failure_of<argument_error>([&] { ctx.finalize(); }), {"finalize", say});
      check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {"wait", say});
    };
    ctx.task()->*[&](stream&) { all(); };
    ctx.task(d.rw())->*[&](stream&, slice<int>) {
      all();
      // Other work may be submitted.
      ctx.task(e.write())->*[&](stream&, slice<int>) { all(); };
      all();
    };
    // Another thread waits for nothing in this one.
    std::thread([&] { ctx.fence(); }).join();
    ctx.finalize();
    check_usable(m);
  }
}

TEST_CASE("a task on data that the body around it holds") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(5, 1);
    auto d = ctx.logical_data(x).set_symbol("x");
    ctx.task(d.rw())->*[&](stream& s, slice<int> v) {
      check_parts(failure_of<argument_error>([&] { ctx.task(d.read())->*[](stream&, slice<const int>) {}; }),
                  {"'x'", "within the body", "afterwards"});
      s.fill(v.data_handle(), 0, 20);
    };
    ctx.finalize();
    CHECK(x == std::vector<int>(5, 0));
    check_usable(m);
  }
}

// These would wait for the stream that runs them; finalize meanwhile waits for them.
TEST_CASE("calls within bodies that run on the host") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(5, 1);
    auto d = ctx.logical_data(x);
    std::vector<std::string> said;
    const auto try_all = [&] {
      const auto attempt = [&](const auto& call) {
        try {
          call();
          said.emplace_back("no error");
        } catch (const argument_error& e) {
          said.emplace_back(e.what());
        }
      };
      attempt([&] { ctx.task(d.rw())->*nothing; });
      attempt([&] { (void)ctx.logical_data(x); });
      attempt([&] { ctx.fence(); });
      attempt([&] { ctx.synchronize(); });
      attempt([&] { ctx.finalize(); });
      attempt([&] { (void)ctx.wait(d); });
      attempt([&] { (void)ctx.statistics(); });
      attempt([&] { context(m).token(); });
    };
    ctx.host_launch(d.rw())->*[&](slice<int>) { try_all(); };
    ctx.parallel_for(stf::exec_place::host(), stf::box(1), d.rw())->*[&](index_t, slice<int>) { try_all(); };
    ctx.finalize();
    CHECK(said.size() == 16);
    for (const std::string& text : said) check_parts(text, {"runs on the host", "the thread that submits"});
    // Not any more on this thread.
    context(m).finalize();
    check_usable(m);
  }
}

TEST_CASE("a task that is over") {
  machine m = machine::host(2);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x);
  stf::task_run run(ctx.state(), {stf::exec_place::device(1), {d.rw().access}, "t"});
  check_parts(failure_of<range_error>([&] { (void)run.memory(1); }), {"dependency 1", "with 1"});
  check_parts(failure_of<range_error>([&] { (void)run.stream(1); }), {"place 1", "on 1"});
  run.finish();
  for (int i = 0; i < 2; ++i) {
    check_parts(failure_of<argument_error>([&] { run.finish(); }), {"finished"});
    check_parts(failure_of<argument_error>([&] { run.fail(); }), {"finished"});
    check_parts(failure_of<argument_error>([&] { (void)run.stream(); }), {"finished"});
    check_parts(failure_of<argument_error>([&] { (void)run.memory(0); }), {"finished"});
    check_parts(failure_of<argument_error>([&] { (void)run.scratch(0, 8); }), {"finished"});
  }
  // A task that another one is moved over has failed.
  run = stf::task_run(ctx.state(), {{}, {d.rw().access}, "second"});
  run = stf::task_run(ctx.state(), {{}, {}, "third"});
  run.finish();
  check_parts(failure_of<stf::task_error>([&] { ctx.task(d.rw())->*nothing; }), {"'second'"});
  ctx.task(d.write())->*nothing;
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("a body that keeps its data for longer than the deadline") {
  const environment_guard short_wait("STARLING_DEADLINE", "0.2");
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto lX = ctx.logical_data(x);
  std::atomic<bool> inside{false};
  std::atomic<bool> refused{false};
  std::thread keeper([&] {
    ctx.task(lX.rw())->*[&](stream&, slice<int>) {
      inside = true;
      while (!refused) std::this_thread::yield();
    };
  });
  while (!inside) std::this_thread::yield();
  const auto text = failure_of<stf::task_error>([&] { ctx.task(lX.rw())->*nothing; });
  refused = true;
  keeper.join();
  check_parts(text, {"held by another thread for 0.2 s", "STARLING_DEADLINE"});
  ctx.task(lX.rw())->*nothing;
  ctx.finalize();
  check_usable(m);
}

// Submitters end with an error once the context has ended; nothing hangs, and what was submitted is done.
TEST_CASE("fence and finalize while other threads submit") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend, .device_memory = 2048});
    std::vector<std::vector<int>> values(3, std::vector<int>(20, 0));
    std::vector<std::thread> threads;
    std::atomic<int> submitted[3] = {};
    std::atomic<int> refused{0};
    for (std::size_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        try {
          auto d = ctx.logical_data(values[t]);
          while (true) {
            ctx.parallel_for(stf::exec_place::device(submitted[t] % 2), d.shape(), d.rw())
                    ->*[](index_t i, slice<int> x) { x(i) += 1; };
            ++submitted[t];
          }
        } catch (const argument_error& e) {
          if (std::string(e.what()).find("finalized") != std::string::npos) ++refused;
        }
      });
    while (submitted[0] < 30 || submitted[1] < 30 || submitted[2] < 30) {
      ctx.fence();
      std::this_thread::yield();
    }
    ctx.synchronize();
    ctx.finalize();
    for (auto& t : threads) t.join();
    CHECK(refused == 3);
    for (std::size_t t = 0; t < 3; ++t) CHECK(values[t] == std::vector<int>(20, submitted[t]));
    check_usable(m);
  }
}

TEST_CASE("fence_event where it cannot be") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x);
  ctx.task(d.rw())->*[&](stream&, slice<int>) {
    check_parts(failure_of<argument_error>([&] { (void)ctx.fence_event(); }), {"fence_event", "body of a task"});
  };
  check_parts(failure_of<argument_error>([&] { ctx.record([&] { (void)ctx.fence_event(); }); }),
              {"fence_event", "recorded"});
  stream s = m.new_stream(0);
  stf::stream_ctx within(m, s);
  check_parts(failure_of<argument_error>([&] { (void)within.fence_event(); }), {"user's stream", "finalize"});
  within.finalize();
  ctx.finalize();
  check_parts(failure_of<argument_error>([&] { (void)ctx.fence_event(); }), {"fence_event", "finalized"});
  CHECK(x == std::vector<int>(5, 1));
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_calls_tests
