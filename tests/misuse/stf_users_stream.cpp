// Contexts within a stream of the user, used as they cannot be.
#include <optional>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_users_stream_tests {
namespace {

using stf::slice;
using stf::stream_ctx;

TEST_CASE("a stream of another machine") {
  machine m = machine::host(1);
  stream far = machine::host(3).new_stream(2);
  check_parts(failure_of<range_error>([&] { const stream_ctx ctx(m, far); }), {"device 2", "this machine"});
  check_usable(m);
}

TEST_CASE("waiting while the stream is recorded") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  std::vector<int> x(5, 1);
  graph g = m.record(s, [&] {
    stream_ctx ctx(m, s);
    auto d = ctx.logical_data(x);
    ctx.task(d.rw())->*[](stream& w, slice<int> v) { w.fill(v.data_handle(), 0, 20); };
    check_parts(failure_of<argument_error>([&] { ctx.synchronize(); }), {"synchronize", "being recorded", "launch"});
    check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {"wait", "being recorded", "launch"});
  });  // the end of the context finalizes it
  CHECK(x == std::vector<int>(5, 1));
  g.launch(s);
  s.synchronize();
  CHECK(x == std::vector<int>(5, 0));
  check_usable(m);
}

TEST_CASE("a context of graphs in a stream that is recorded, and contexts that choose") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  std::vector<int> x(5, 1);
  stf::graph_ctx before(m, s);
  auto d = before.logical_data(x);
  (void)m.record(s, [&] {
    check_parts(failure_of<argument_error>([&] { const stf::graph_ctx ctx(m, s); }), {"being recorded", "stream_ctx"});
    check_parts(failure_of<argument_error>([&] { before.task(d.rw())->*nothing; }), {"being recorded", "stream_ctx"});
  });
  before.task(d.rw())->*[](stream& w, slice<int> v) { w.fill(v.data_handle(), 0, 20); };
  check_parts(failure_of<argument_error>([&] { (void)before.fence_event(); }), {"fence_event", "user's stream"});
  check_parts(failure_of<argument_error>([&] { (void)before.record([] {}); }), {"record", "user's stream"});
  before.finalize();
  s.synchronize();
  CHECK(x == std::vector<int>(5, 0));
  check_usable(m);
}

TEST_CASE("a context that was made before the recording") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  std::vector<int> x(5, 1);
  stream_ctx ctx(m, s);
  auto d = ctx.logical_data(x);
  (void)m.record(s, [&] {
    check_parts(failure_of<argument_error>([&] { ctx.task(d.rw())->*nothing; }),
                {"being recorded", "within the recording"});
  });
  ctx.task(d.rw())->*[](stream& w, slice<int> v) { w.fill(v.data_handle(), 0, 20); };
  ctx.finalize();
  s.synchronize();
  CHECK(x == std::vector<int>(5, 0));
  check_usable(m);
}

TEST_CASE("a context that is finalized after the recording") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  std::vector<int> x(5, 1);
  std::optional<stream_ctx> ctx;
  check_parts(failure_of<argument_error>([&] {
                (void)m.record(s, [&] {
                  ctx.emplace(m, s);
                  auto d = ctx->logical_data(x);
                  ctx->task(d.rw())->*nothing;
                });
              }),
              {"not joined back"});
  check_parts(failure_of<argument_error>([&] { (void)ctx->logical_data(x); }), {"recording", "is over"});
  check_parts(failure_of<argument_error>([&] { ctx->finalize(); }),
              {"recording", "is over", "finalize the context before"});
  ctx.reset();
  CHECK(x == std::vector<int>(5, 1));
  s.synchronize();
  check_usable(m);
}

TEST_CASE("what bodies throw") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  std::vector<int> x(5, 1), y(5, 1);
  {
    stream_ctx ctx(m, s);
    auto d = ctx.logical_data(x).set_symbol("x");
    auto e = ctx.logical_data(y).set_symbol("y");
    try {
      ctx.task(d.rw()).set_symbol("bad")->*[](stream&, slice<int>) { throw std::runtime_error("no"); };
    } catch (const std::runtime_error&) {
    }
    ctx.task(e.rw())->*[](stream& w, slice<int> v) { w.fill(v.data_handle(), 0, 20); };
    check_parts(failure_of<stf::task_error>([&] { ctx.finalize(); }), {"'x'", "'bad'"});
    ctx.finalize();
  }
  s.synchronize();
  CHECK(y == std::vector<int>(5, 0));
  {
    stream_ctx ctx(m, s);
    auto d = ctx.logical_data(x);
    ctx.host_launch(d.rw())->*[](slice<int>) { throw range_error("later"); };
    ctx.finalize();
    check_parts(failure_of<range_error>([&] { ctx.synchronize(); }), {"later"});
  }
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_users_stream_tests
