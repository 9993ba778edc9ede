// Machines that cannot be made: an error that names the argument, the value, and what is allowed.
#include <limits>

#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

TEST_CASE("zero virtual devices") {
  check_parts(failure_of<argument_error>([] { machine::host(0); }), {"machine::host", "devices = 0", "from 1 to"});
}

TEST_CASE("a negative number of virtual devices") {
  check_parts(failure_of<argument_error>([] { machine::host(-3); }), {"devices = -3", "from 1 to"});
}

TEST_CASE("far too many virtual devices") {
  check_parts(failure_of<argument_error>([] { machine::host(100000); }), {"devices = 100000", "from 1 to"});
}

TEST_CASE("a negative number of blocks on a virtual device") {
  check_parts(failure_of<argument_error>([] { machine::host(2, {.max_blocks = -1}); }),
              {"max_blocks = -1", "at least 1", "STARLING_HOST_BLOCKS"});
}

TEST_CASE("more memory of virtual devices than there are addresses") {
  check_parts(failure_of<memory_error>([] { machine::host(4, {.memory_bytes = std::size_t{1} << 50}); }),
              {"4096 TiB", "fewer devices or less memory", "STARLING_HOST_MEMORY"});
}

TEST_CASE("sizes of memory that overflow") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {most, most / 4 + 4097, most / 2 + 8192}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(machine::host(4, {.memory_bytes = bytes}), error);
  }
}

TEST_CASE("best with a negative number of devices") {
  check_parts(failure_of<argument_error>([] { machine::best(-1); }), {"machine::best", "devices = -1", "at least 1"});
}

TEST_CASE("a GPU that does not exist") {
  if (!machine::probe_cuda().problem.empty()) {
    CHECK_THROWS_AS(machine::cuda({0}), unsupported_error);
    return;
  }
  check_parts(failure_of<argument_error>([] { machine::cuda({4321}); }), {"4321"});
}

TEST_CASE("devices, links and streams of PEs that do not exist") {
  auto m = test_machine(2);
  if (!m) return;
  for (const int pe : {-1, 2, 1000}) {
    CAPTURE(pe);
    const std::initializer_list<std::string> parts = {message("PE ", pe, " of 2"), "from 0 to 1"};
    check_parts(failure_of<range_error>([&] { (void)m->device(pe); }), parts);
    check_parts(failure_of<range_error>([&] { (void)m->link(0, pe); }), parts);
    check_parts(failure_of<range_error>([&] { (void)m->link(pe, 0); }), parts);
    check_parts(failure_of<range_error>([&] { (void)m->new_stream(pe); }), parts);
    check_parts(failure_of<range_error>([&] { (void)m->new_event(pe); }), parts);
  }
}

}  // namespace
}  // namespace starling::test
