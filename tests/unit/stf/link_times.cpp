// How long copies are expected to take: by what is usual, then by what was measured.
#include "stf/order/link_times.hpp"

#include <doctest/doctest.h>

namespace starling::test::link_times_tests {
namespace {

using stf::link_times;

TEST_CASE("expected times of copies") {
  link_times links(machine::host(3));
  constexpr std::size_t mib = std::size_t{1} << 20;
  CHECK(links.seconds(1, 1, mib) == 0);
  CHECK(links.seconds(0, 1, 0) == 0);
  CHECK(links.seconds(0, 1, mib) > 0);
  CHECK(links.seconds(0, 1, 10 * mib) > links.seconds(0, 1, mib));
  const double usual = links.bandwidth(0, 1);
  links.measured(0, 1, mib, 1e-3);
  CHECK(links.bandwidth(0, 1) == doctest::Approx(static_cast<double>(mib) * 1e3));
  CHECK(links.bandwidth(1, 0) == usual);
  CHECK(links.bandwidth(host_place, 1) == usual);
  // Later ones weigh, but one alone does not turn it over.
  links.measured(0, 1, mib, 1e-4);
  CHECK(links.bandwidth(0, 1) > static_cast<double>(mib) * 1e3);
  CHECK(links.bandwidth(0, 1) < static_cast<double>(mib) * 1e4);
  for (int i = 0; i < 100; ++i) links.measured(0, 1, mib, 1e-4);
  CHECK(links.bandwidth(0, 1) == doctest::Approx(static_cast<double>(mib) * 1e4));
  // A clock that saw no time pass.
  links.measured(2, 1, mib, 0);
  CHECK(links.seconds(2, 1, mib) < 1);
  CHECK(links.seconds(2, 1, mib) > 0);
}

TEST_CASE("samples of copies: long ones, the first few, then now and then") {
  link_times links(machine::host(2));
  CHECK_FALSE(links.wants_sample(0, 1, 100));
  CHECK_FALSE(links.wants_sample(1, 1, link_times::least_measured));
  int wanted = 0;
  for (int i = 0; i < 320; ++i) wanted += links.wants_sample(0, 1, link_times::least_measured) ? 1 : 0;
  CHECK(wanted == 14);
  CHECK(links.wants_sample(1, 0, link_times::least_measured));
}

}  // namespace
}  // namespace starling::test::link_times_tests
