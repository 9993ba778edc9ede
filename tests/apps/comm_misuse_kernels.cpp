// Options of the communication benchmark that make no sense.
#include "comm/measure.hpp"

#include <limits>

#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test {
namespace {

TEST_CASE("options that make no sense name the value and what it may be") {
  auto m = test_machine(1);
  if (!m) return;
  const auto refused = [&](const comm::bench_options& o, std::initializer_list<std::string> parts) {
    check_parts(failure_of<argument_error>([&] { (void)comm::measure_all(*m, o); }), parts);
  };
  comm::bench_options o;
  for (const index_t bytes : {index_t{0}, index_t{-8}, index_t{12}, index_t{1} << 40}) {
    o.bytes = {8, bytes};
    refused(o, {message("messages of ", bytes), "multiple of 8"});
  }
  o = {};
  o.repetitions = 0;
  refused(o, {"0 repetitions", "from 1 to"});
  o = {};
  for (const double seconds : {0.0, -1.0, 61.0, std::numeric_limits<double>::quiet_NaN()}) {
    o.seconds = seconds;
    refused(o, {"seconds a repetition", "at most 60"});
  }
  o = {};
  o.blocks = -1;
  refused(o, {"-1 blocks"});
  check_usable(*m);
}

TEST_CASE("pairs of PEs that are not there") {
  auto m = test_machine(1);
  if (!m) return;
  comm::bench_options o;
  o.pairs = {{0, 1}};
  check_parts(failure_of<range_error>([&] { (void)comm::measure_all(*m, o); }),
              {"PE 1 of a machine with 1", "numbered from 0"});
}

}  // namespace
}  // namespace starling::test
