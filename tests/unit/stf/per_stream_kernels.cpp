// Things of the user that live as long as a stream of tasks: made once each, before tasks are recorded, and gone after
// their work.
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "starling/stf/context.hpp"
#include "starling/stf/task_run.hpp"
#include "support/test_machine.hpp"

namespace starling::test::per_stream_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::slice;

struct tally {
  std::atomic<int> made{0};
  std::atomic<int> gone{0};
  std::atomic<int> alive_in_work{0};
};

// A workspace of a library, which can be neither copied nor moved, and is poisoned when it goes.
class workspace {
 public:
  workspace(tally& t, int pe) : tally_(t), pe_(pe) { ++tally_.made; }
  ~workspace() {
    good_ = false;
    ++tally_.gone;
  }
  workspace(const workspace&) = delete;

  int pe() const { return pe_; }
  void add_one(stream& s, slice<int> x) {
    ++calls;
    s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += 1; }); });
    s.call([this] { tally_.alive_in_work += good_ ? 1 : 0; });
  }
  std::atomic<int> calls{0};

 private:
  tally& tally_;
  int pe_;
  bool good_ = true;
};

TEST_CASE("each stream of tasks has one, in all kinds of contexts") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend :
       {backend_kind::stream, backend_kind::graph, backend_kind::automatic, backend_kind::persistent}) {
    tally t;
    std::vector<int> x(50, 0), y(50, 0);
    std::set<workspace*> seen;
    int calls = 0;
    {
      context ctx(*m, {.backend = backend});
      auto a = ctx.logical_data(x);
      auto b = ctx.logical_data(y);
      ctx.task(a.rw())->*[](stream&, slice<int>) {};
      const auto things = ctx.per_stream([&t](stream& s) { return workspace(t, s.pe()); }, 1);
      const int made = t.made;
      CHECK(made >= 2);
      const auto use = [&](int pe, int priority, const stf::logical_data<slice<int>>& d) {
        ctx.task(exec_place::device(pe), d.rw()).set_priority(priority)->*[&](stream& s, slice<int> v) {
          workspace& mine = things.on(s);
          CHECK(mine.pe() == pe);
          seen.insert(&mine);
          mine.add_one(s, v);
          ++calls;
        };
      };
      for (int i = 0; i < 10; ++i) use(i % 2, 0, i % 3 == 0 ? a : b);
      use(0, 1, a);
      if (backend == backend_kind::persistent) {
        const auto recorded = ctx.record([&] { use(1, 0, a); });
        recorded.launch(3);
      } else {
        ctx.repeat(3, [&] { use(1, 0, a); });
      }
      ctx.task(exec_place::all_devices(), a.rw())->*[&](stf::task_run& run, slice<int>) {
        for (int i = 0; i < run.places(); ++i) CHECK(things.on(run.stream(i)).pe() == run.pe(i));
      };
      ctx.finalize();
      CHECK(t.made == made);
      CHECK(t.gone == 0);
    }
    CHECK(t.gone == t.made);
    CHECK(t.alive_in_work == calls + 2);
    CHECK(x == std::vector<int>(50, 4 + 1 + 3));
    CHECK(y == std::vector<int>(50, 6));
  }
}

// Launches go into any stream, and use what belongs to those that the tasks had when they were recorded.
TEST_CASE("no two pieces of work use one at a time, recorded or not") {
  const auto m = test_machine(1);
  if (!m) return;
  struct user {
    std::atomic<int> now{0};
  };
  for (const auto backend : {backend_kind::stream, backend_kind::graph, backend_kind::automatic}) {
    std::atomic<int> overlaps{0};
    std::atomic<int> calls{0};
    context ctx(*m, {.backend = backend});
    std::vector<std::vector<int>> x(6, std::vector<int>(4, 0));
    std::vector<stf::logical_data<slice<int>>> d;
    for (auto& v : x) d.push_back(ctx.logical_data(v));
    const auto things = ctx.per_stream([](stream&) { return user(); });
    const auto use = [&](std::size_t which) {
      ctx.task(d[which].rw())->*[&](stream& s, slice<int>) {
        s.call([&overlaps, &calls, &mine = things.on(s)] {
          if (++mine.now != 1) ++overlaps;
          for (int i = 0; i < 20; ++i) std::this_thread::yield();
          --mine.now;
          ++calls;
        });
      };
    };
    const stf::recorded_tasks one = ctx.record([&] { use(0); });
    const stf::recorded_tasks two = ctx.record([&] {
      use(1);
      use(2);
    });
    for (int i = 0; i < 30; ++i) {
      one.launch();
      use(3 + static_cast<std::size_t>(i) % 3);
      two.launch();
      use(3 + static_cast<std::size_t>(i + 1) % 3);
    }
    ctx.finalize();
    CHECK(calls == 150);
    CHECK(overlaps == 0);
  }
}

TEST_CASE("recordings keep them, and handles that outlive the context have none") {
  const auto m = test_machine(1);
  if (!m) return;
  tally t;
  std::vector<int> x(10, 0);
  std::unique_ptr<stf::per_stream<workspace>> things;
  std::unique_ptr<stream> last;
  {
    stf::recorded_tasks kept;
    {
      context ctx(*m);
      auto a = ctx.logical_data(x);
      things = std::make_unique<stf::per_stream<workspace>>(
          ctx.per_stream([&t](stream& s) { return workspace(t, s.pe()); }));
      kept = ctx.record([&] {
        ctx.task(a.rw())->*[&](stream& s, slice<int> v) {
          last = std::make_unique<stream>(s);
          things->on(s).add_one(s, v);
        };
      });
      kept.launch(4);
    }
    CHECK(t.gone == 0);
  }
  CHECK(t.gone == t.made);
  CHECK(t.alive_in_work == 4);
  CHECK(x == std::vector<int>(10, 4));
  CHECK_THROWS_AS((void)things->on(*last), argument_error);
}

}  // namespace
}  // namespace starling::test::per_stream_tests
