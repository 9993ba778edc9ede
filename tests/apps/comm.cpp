// The measurements of communication: every way gives as many times as repetitions, all of them positive.
#include "comm/measure.hpp"

#include <set>

#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

void check_times(const comm::measurement& r, int repetitions) {
  CAPTURE(r.what);
  CAPTURE(r.bytes);
  CHECK(r.us.size() == static_cast<std::size_t>(repetitions));
  for (const double us : r.us) CHECK(us > 0);
  CHECK(r.iterations > 0);
}

TEST_CASE("every way, size and pair is measured, and every meeting") {
  for (const int pes : {1, 2}) {
    auto m = test_machine(pes);
    if (!m) return;
    comm::bench_options o;
    o.bytes = {8, 136, packets_up_to_other_pe + 8};
    o.repetitions = 2;
    o.seconds = 1e-4;
    o.blocks = 2;
    std::size_t told = 0;
    const auto results = comm::measure_all(*m, o, [&](const comm::measurement&) { ++told; });
    CHECK(told == results.size());
    std::set<std::string> names;
    for (const comm::measurement& r : results) {
      check_times(r, o.repetitions);
      names.insert(r.what);
    }
    for (const comm::way w : comm::all_ways) CHECK(names.count(comm::name(w)) == 1);
    for (const char* call : {"sync_pe", "sync_all", "all_reduce", "empty program"}) CHECK(names.count(call) == 1);
    CHECK(results.size() == static_cast<std::size_t>(pes * pes) * 8 * 3 * 2 + 7);
  }
}

TEST_CASE("what is not asked for is not measured") {
  auto m = test_machine(2);
  if (!m) return;
  comm::bench_options o;
  o.bytes = {64};
  o.ways = {comm::way::stores};
  o.pairs = {{1, 0}};
  o.repetitions = 1;
  o.seconds = 1e-4;
  o.meetings = false;
  const auto results = comm::measure_all(*m, o);
  REQUIRE(results.size() == 2);
  for (const comm::measurement& r : results) {
    CHECK(r.what == "stores");
    CHECK(r.from == 1);
    CHECK(r.to == 0);
    CHECK(r.bytes == 64);
  }
}

TEST_CASE("names of ways, there and back") {
  for (const comm::way w : comm::all_ways) CHECK(comm::way_named(comm::name(w)) == w);
  check_parts(failure_of<argument_error>([] { (void)comm::way_named("pigeon"); }), {"\"pigeon\"", "packets", "staged"});
}

}  // namespace
}  // namespace starling::test
