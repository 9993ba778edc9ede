// Data that is frozen, in check mode: streams of the user and tasks are in order through get and unfreeze, and a stream
// that leaves one of them out is found.
#include "starling/stf/context.hpp"
#include "support/checked.hpp"
#include "support/stf/back_ends.hpp"

namespace starling::test::stf_freeze_kernels_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

constexpr index_t n = 20;

void add(stream& s, slice<int> x, int what) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(n), [&](index_t i) { x(i) += what; }); });
}

void copy_of(stream& s, slice<const int> x, int* to) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(n), [&](index_t i) { to[i] = x(i); }); });
}

TEST_CASE("tasks and a stream of the user in turns") {
  for (const auto backend : stream_and_graph)
    for (int pe = 0; pe < 2; ++pe) {
      machine m = checked_machine(2);
      stream s = m.new_stream(pe);
      auto seen = m.allocate<int>(n);
      std::vector<int> x(n, 1);
      try {
        context ctx(m, {.backend = backend});
        auto d = ctx.logical_data(x);
        for (int round = 0; round < 2; ++round) {
          ctx.task(exec_place::device(1), d.rw())->*[](stream& w, slice<int> v) { add(w, v, 1); };
          auto f = ctx.freeze(d.rw(data_place::device(pe)));
          add(s, f.get(s), 10);
          f.unfreeze(s);
        }
        auto f = ctx.freeze(d.read(data_place::device(pe)));
        copy_of(s, f.get(s), seen.on(pe));
        ctx.task(exec_place::device(1), d.read())->*[](stream&, slice<const int>) {};
        f.unfreeze(s);
        ctx.task(exec_place::device(pe), d.rw())->*[](stream& w, slice<int> v) { add(w, v, 100); };
        ctx.finalize();
        s.synchronize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(x == std::vector<int>(n, 123));
      CHECK(read(m, seen, pe) == std::vector<int>(n, 23));
      CHECK(m.checked().accesses_seen);
    }
}

// `waits`: the stream was made to wait for the value; `tells`: the tasks were told of the stream.
void use_frozen(const machine& on, stf::backend_kind backend, bool waits, bool tells) {
  machine m = on;
  stream shown = m.new_stream(0);
  stream used = m.new_stream(0);
  std::vector<int> x(n, 1);
  context ctx(m, {.backend = backend});
  auto d = ctx.logical_data(x);
  ctx.task(d.rw())->*[](stream& w, slice<int> v) { add(w, v, 1); };
  auto f = ctx.freeze(d.rw());
  const slice<int> v = f.get(waits ? used : shown);
  add(used, v, 10);
  f.unfreeze(tells ? used : shown);
  ctx.task(d.rw())->*[](stream& w, slice<int> y) { add(w, y, 1); };
  ctx.finalize();
  used.synchronize();
}

TEST_CASE("a stream that leaves out get or unfreeze is found") {
  for (const auto backend : stream_and_graph) {
    const machine m = checked_machine(1);
    use_frozen(m, backend, true, true);
    for (const bool waits : {true, false}) {
      const auto e = finding_of([&] { use_frozen(m, backend, waits, !waits); });
      REQUIRE(e);
      // Or a value that is not there yet.
      const bool found = e->what_kind() == defect::unordered_read || e->what_kind() == defect::unordered_write ||
                         e->what_kind() == defect::uninitialised;
      CHECK_MESSAGE(found, e->what());
    }
  }
}

}  // namespace
}  // namespace starling::test::stf_freeze_kernels_tests
