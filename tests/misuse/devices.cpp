// Machines that cannot be made: an error that names the argument, the value, and what is allowed.
#include <limits>

#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::devices_tests {
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

TEST_CASE("PEs per GPU that make no sense, with GPUs or without") {
  for (const int n : {0, -1, -1000}) {
    CAPTURE(n);
    check_parts(failure_of<argument_error>([&] { (void)machine::cuda({}, {.pes_per_gpu = n}); }),
                {message("pes_per_gpu = ", n), "at least 1"});
  }
  CHECK_THROWS_AS(machine::cuda({0, 0}, {.pes_per_gpu = 2}), argument_error);
  CHECK_THROWS_AS(machine::cuda({-1}), argument_error);
  for (const char* value : {"0", "-4", "four", "2.5"}) {
    const environment_guard each("STARLING_PES_PER_GPU", value);
    check_parts(failure_of<argument_error>([] { (void)machine::cuda(); }), {"STARLING_PES_PER_GPU", value});
  }
  const environment_guard how("STARLING_GPU_SHARING", "halves");
  check_parts(failure_of<argument_error>([] { (void)machine::cuda(); }), {"STARLING_GPU_SHARING", "halves", "plain"});
}

TEST_CASE("more PEs on a GPU than a block gathers values of") {
  if (!on_gpus()) return;
  check_parts(failure_of<argument_error>([] { (void)machine::cuda({0}, {.pes_per_gpu = 100000}); }),
              {"100000 PEs", "at most 32", "fewer"});
}

TEST_CASE("a share of a GPU's memory ends, and the error names who has the rest") {
  if (!on_gpus()) return;
  machine m = machine::cuda({0, 0});
  const std::size_t share = m.device(1).memory_bytes;
  check_parts(failure_of<memory_error>([&] { (void)m.allocate_on(1, share + (std::size_t{64} << 20)); }),
              {"PE 1", "share", "PEs 0 and 1"});
  check_parts(failure_of<memory_error>([&] { (void)m.allocate<char>(static_cast<index_t>(2 * share)); }),
              {"PEs 0 and 1 share"});
  CHECK(m.free_bytes(1) <= share);
  CHECK(m.allocate<int>(10).on(1) != nullptr);
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
}  // namespace starling::test::devices_tests
