// Environment variables that cannot be read: an error that quotes the value and says what it must be.
#include "starling/base/environment.hpp"

#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::environment_tests {
namespace {

void check_refused(const char* name, std::initializer_list<const char*> values, const char* must_be) {
  for (const char* value : values) {
    CAPTURE(value);
    const environment_guard guard(name, value);
    check_parts(failure_of<argument_error>([] { environment::read(); }), {name, message("=\"", value, "\""), must_be});
    CHECK_THROWS_AS(machine::host(1), argument_error);
  }
}

TEST_CASE("STARLING_MACHINE that names no machine") {
  check_refused("STARLING_MACHINE", {"gpu", "CUDA", "host ", "0"}, "host, cuda, distributed or auto");
}

TEST_CASE("STARLING_DEVICES that is no number of devices") {
  check_refused("STARLING_DEVICES", {"-1", "two", "2.5", "3x", " 3", "99999999999"}, "whole number of at least 0");
}

TEST_CASE("STARLING_PES_PER_GPU that is no number of PEs") {
  check_refused("STARLING_PES_PER_GPU", {"0", "-1", "two", "2.5", "4x"}, "whole number of at least 1");
}

TEST_CASE("STARLING_GPU_SHARING that is no way to share") {
  check_refused("STARLING_GPU_SHARING", {"halves", "PLAIN", "0"}, "auto, partitions or plain");
}

TEST_CASE("STARLING_DEADLINE that is no time") {
  check_refused("STARLING_DEADLINE", {"0", "-2", "soon", "1s", "nan", "inf", "1e7", " "}, "number of seconds");
}

TEST_CASE("STARLING_HOST_MEMORY that is no size") {
  check_refused("STARLING_HOST_MEMORY", {"0", "-1G", "1T", "12MB", "M", "2000000G", "99999999999999999999", "1.5G"},
                "number of bytes");
}

TEST_CASE("STARLING_HOST_BLOCKS that is no number of blocks") {
  check_refused("STARLING_HOST_BLOCKS", {"0", "-4", "many", "1e3"}, "whole number of at least 1");
}

TEST_CASE("sizes that parse_bytes refuses") {
  for (const char* text : {"", "0", "K", "10KB", "-5", "+5", "0x10", "1125899906842625"}) {
    CAPTURE(text);
    check_parts(failure_of<argument_error>([&] { parse_bytes(text, "--memory"); }),
                {message("--memory=\"", text, "\""), "K, M or G"});
  }
}

}  // namespace
}  // namespace starling::test::environment_tests
