// Resources that are not for this context.
#include "starling/stf/resources.hpp"

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_resources_tests {
namespace {

using stf::context;
using stf::resources;

TEST_CASE("resources of another machine") {
  machine m = machine::host(2);
  const resources others(machine::host(3));
  check_parts(failure_of<argument_error>([&] { context ctx(m, {.resources = others}); }),
              {"2 virtual devices", "3 virtual devices", "another machine", "same machine"});
  stream s = m.new_stream(0);
  check_parts(failure_of<argument_error>([&] { stf::stream_ctx ctx(m, s, {.resources = others}); }),
              {"another machine"});
  CHECK(others.idle().contexts == 0);
  // A copy is the same machine.
  const machine copy = m;
  context ctx(copy, {.resources = resources(m)});
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("a number of graphs that cannot be") {
  check_parts(failure_of<argument_error>([] { resources(machine::host(1), -1); }), {"graphs_kept = -1", "at least 0"});
  const machine m = machine::host(1);
  const resources none(m, 0);
  for (int i = 0; i < 2; ++i) {
    context ctx(m, {.backend = stf::backend_kind::graph, .resources = none});
    auto d = ctx.logical_data(stf::shape_of<stf::slice<char>>(8));
    ctx.task(d.write())->*[](stream& s, stf::slice<char> v) { s.fill(v.data_handle(), 1, 8); };
    CHECK(ctx.wait(d)(7) == 1);
    CHECK(ctx.statistics().graphs_reused == 0);
  }
  CHECK(none.idle().graphs == 0);
}

}  // namespace
}  // namespace starling::test::stf_resources_tests
