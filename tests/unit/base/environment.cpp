// The environment table: defaults, values, and sizes as text. What is refused is in misuse/environment.cpp.
#include "starling/base/environment.hpp"

#include <doctest/doctest.h>

#include "support/environment_guard.hpp"

namespace starling::test::environment_tests {
namespace {

// No variable of Starling is set while this lives.
struct clean_environment {
  environment_guard machine{"STARLING_MACHINE", nullptr};
  environment_guard devices{"STARLING_DEVICES", nullptr};
  environment_guard pes_per_gpu{"STARLING_PES_PER_GPU", nullptr};
  environment_guard sharing{"STARLING_GPU_SHARING", nullptr};
  environment_guard deadline{"STARLING_DEADLINE", nullptr};
  environment_guard meeting{"STARLING_MEETING_DEADLINE", nullptr};
  environment_guard host_memory{"STARLING_HOST_MEMORY", nullptr};
  environment_guard host_blocks{"STARLING_HOST_BLOCKS", nullptr};
  environment_guard hosts{"STARLING_HOSTS", nullptr};
  environment_guard card{"STARLING_CARD", nullptr};
  environment_guard transport{"STARLING_TRANSPORT", nullptr};
  environment_guard nvshmem{"STARLING_NVSHMEM_LIBRARY", nullptr};
  environment_guard distributed{"STARLING_DISTRIBUTED", nullptr};
  environment_guard trace{"STARLING_TRACE", nullptr};
  environment_guard trace_records{"STARLING_TRACE_RECORDS", nullptr};
};

void check_defaults(const environment& e) {
  CHECK(e.machine == "auto");
  CHECK(e.devices == 0);
  CHECK(e.pes_per_gpu == 1);
  CHECK(e.gpu_sharing == "auto");
  CHECK(e.deadline == 10.0);
  CHECK(e.host_memory == std::size_t{1} << 30);
  CHECK(e.host_blocks == 64);
  CHECK(e.hosts == 1);
  CHECK(e.transport == "auto");
  CHECK_FALSE(e.messages_alone());
  CHECK(e.nvshmem_library == "libnvshmem_host.so.3");
  CHECK(e.distributed == "auto");
  CHECK(e.card == "model");
  CHECK(e.trace.empty());
  CHECK(e.trace_records == 8192);
}

TEST_CASE("without variables every field has its default") {
  const clean_environment none;
  check_defaults(environment::read());
}

TEST_CASE("empty variables leave the defaults") {
  const clean_environment none;
  const environment_guard machine("STARLING_MACHINE", "");
  const environment_guard devices("STARLING_DEVICES", "");
  const environment_guard pes_per_gpu("STARLING_PES_PER_GPU", "");
  const environment_guard sharing("STARLING_GPU_SHARING", "");
  const environment_guard deadline("STARLING_DEADLINE", "");
  const environment_guard host_memory("STARLING_HOST_MEMORY", "");
  const environment_guard host_blocks("STARLING_HOST_BLOCKS", "");
  const environment_guard trace("STARLING_TRACE", "");
  const environment_guard trace_records("STARLING_TRACE_RECORDS", "");
  check_defaults(environment::read());
}

TEST_CASE("each variable is read into its field") {
  const clean_environment none;
  const environment_guard machine("STARLING_MACHINE", "cuda");
  const environment_guard devices("STARLING_DEVICES", "3");
  const environment_guard pes_per_gpu("STARLING_PES_PER_GPU", "4");
  const environment_guard sharing("STARLING_GPU_SHARING", "plain");
  const environment_guard deadline("STARLING_DEADLINE", "0.25");
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "30");
  const environment_guard host_memory("STARLING_HOST_MEMORY", "48M");
  const environment_guard host_blocks("STARLING_HOST_BLOCKS", "7");
  const environment_guard hosts("STARLING_HOSTS", "3");
  const environment_guard card("STARLING_CARD", "model");
  const environment_guard transport("STARLING_TRANSPORT", "mpi");
  const environment_guard nvshmem("STARLING_NVSHMEM_LIBRARY", "/some/lib.so");
  const environment_guard distributed("STARLING_DISTRIBUTED", "cuda");
  const environment_guard trace("STARLING_TRACE", "some/file");
  const environment_guard trace_records("STARLING_TRACE_RECORDS", "4000");
  const environment e = environment::read();
  CHECK(e.machine == "cuda");
  CHECK(e.devices == 3);
  CHECK(e.pes_per_gpu == 4);
  CHECK(e.gpu_sharing == "plain");
  CHECK(e.deadline == 0.25);
  CHECK(e.meeting_deadline == 30);
  CHECK(e.host_memory == std::size_t{48} << 20);
  CHECK(e.host_blocks == 7);
  CHECK(e.hosts == 3);
  CHECK(e.card == "model");
  CHECK(e.trace == "some/file");
  CHECK(e.transport == "mpi");
  CHECK(e.messages_alone());
  CHECK(e.nvshmem_library == "/some/lib.so");
  CHECK(e.distributed == "cuda");
  CHECK(e.trace_records == 4000);
}

TEST_CASE("describe has one line per variable, with the value in use") {
  const clean_environment none;
  environment e = environment::read();
  e.devices = 42;
  e.host_memory = std::size_t{3} << 20;
  const auto lines = describe(e);
  REQUIRE(lines.size() == 19);
  for (const environment_variable& v : lines) {
    CHECK(v.name.rfind("STARLING_", 0) == 0);
    CHECK_FALSE(v.meaning.empty());
    CHECK_FALSE(v.value.empty());
  }
  CHECK(lines[1].name == "STARLING_DEVICES");
  CHECK(lines[1].value == "42");
  CHECK(lines[9].name == "STARLING_HOST_MEMORY");
  CHECK(lines[9].value == "3 MiB");
}

TEST_CASE("bytes as text") {
  CHECK(parse_bytes("1", "x") == 1);
  CHECK(parse_bytes("4096", "x") == 4096);
  CHECK(parse_bytes("3k", "x") == 3072);
  CHECK(parse_bytes("512M", "x") == std::size_t{512} << 20);
  CHECK(parse_bytes("2G", "x") == std::size_t{2} << 30);
  CHECK(parse_bytes("1048576G", "x") == std::size_t{1} << 50);
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(std::size_t{1} << 20) == "1 MiB");
  CHECK(format_bytes(std::size_t{141} << 30) == "141 GiB");
  CHECK(format_bytes(std::size_t{5} << 50) == "5120 TiB");
}

}  // namespace
}  // namespace starling::test::environment_tests
