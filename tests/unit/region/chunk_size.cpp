// How large chunks are where nobody says.
#include <doctest/doctest.h>

#include "starling/machine/machine.hpp"
#include "starling/region/region.hpp"

namespace starling::test::chunk_size_tests {
namespace {

TEST_CASE("parts have about 64 chunks, of 64 KB to 1 MB") {
  machine m = machine::host(2);
  const auto chunk = [&](index_t n, region_agent agent) {
    return region<float>(m, n, {.agent = agent}).report().chunk_bytes;
  };
  CHECK(chunk(1000, region_agent::polling) == 64 * 1024);
  CHECK(chunk(index_t{1} << 21, region_agent::inline_stores) == 64 * 1024);  // 4 MB are a part
  CHECK(chunk(3 * (index_t{1} << 20), region_agent::polling) == 64 * 1024);  // 6 MB
  CHECK(chunk(index_t{1} << 22, region_agent::polling) == 128 * 1024);       // 8 MB
  CHECK(chunk(1000, region_agent::copy_engine) == 1024 * 1024);
}

}  // namespace
}  // namespace starling::test::chunk_size_tests
