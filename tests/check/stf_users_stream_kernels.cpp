// A context within a stream of the user, in check mode: what the stream has before and gets after it is in order with
// the tasks, also when all of it is recorded; what another stream does is not.
#include "starling/stf/context.hpp"
#include "support/checked.hpp"

namespace starling::test::stf_users_stream_kernels_tests {
namespace {

using stf::data_place;
using stf::exec_place;
using stf::slice;

constexpr index_t n = 20;

void add(stream& s, slice<int> x, int what) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(n), [&](index_t i) { x(i) += what; }); });
}

// On memory of device 0, which the user's stream fills before and changes after.
template <class Context>
Context tasks_between(machine& m, stream& s, slice<int> x) {
  add(s, x, 1);
  Context ctx(m, s);
  auto d = ctx.logical_data(x, data_place::device(0));
  ctx.task(exec_place::device(1), d.rw())->*[](stream& w, slice<int> v) { add(w, v, 10); };
  ctx.task(exec_place::device(0), d.rw())->*[](stream& w, slice<int> v) { add(w, v, 100); };
  ctx.finalize();
  add(s, x, 1000);
  return ctx;
}

TEST_CASE("before, between and after") {
  machine m = checked_machine(2);
  stream s = m.new_stream(0);
  auto x = m.allocate<int>(n);
  const slice<int> v(x.on(0), n);
  try {
    s.fill(x.on(0), 0, n * sizeof(int));
    (void)tasks_between<stf::stream_ctx>(m, s, v);
    s.synchronize();
    graph g = m.record(s, [&] { (void)tasks_between<stf::stream_ctx>(m, s, v); });
    g.launch(s);
    g.launch(s);
    (void)tasks_between<stf::graph_ctx>(m, s, v);
    s.synchronize();
  } catch (const check_error& e) {
    FAIL_CHECK(e.what());
  }
  CHECK(read(m, x, 0) == std::vector<int>(n, 4444));
  CHECK(m.checked().accesses_seen);
}

template <class Context>
void check_beside() {
  machine m = checked_machine(2);
  stream s = m.new_stream(0);
  stream beside = m.new_stream(0);
  auto x = m.allocate<int>(n);
  const slice<int> v(x.on(0), n);
  s.fill(x.on(0), 0, n * sizeof(int));
  s.synchronize();
  const auto e = finding_of([&] {
    add(beside, v, 1);
    // Its end would wait, and has nobody to tell.
    const Context kept = tasks_between<Context>(m, s, v);
    s.synchronize();
    beside.synchronize();
  });
  REQUIRE(e);
}

TEST_CASE("a stream beside it is found") {
  check_beside<stf::stream_ctx>();
  check_beside<stf::graph_ctx>();
}

}  // namespace
}  // namespace starling::test::stf_users_stream_kernels_tests
