// Teams that cannot be made: typed errors with the values and the next step, and a machine that still works.
#include "starling/shmem/symmetric_team.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::shmem_teams_tests {
namespace {

void check_split_refused(machine& m, const shmem::team& parent, int start, int stride, int size) {
  CAPTURE(start);
  CAPTURE(stride);
  CAPTURE(size);
  check_parts(failure_of<range_error>([&] { shmem::team_split_strided(m, parent, start, stride, size); }),
              {message("start = ", start, ", stride = ", stride, ", size = ", size), "of a team of 4 PEs",
               "must be from 0 to 3"});
}

TEST_CASE("splits that leave their parent") {
  auto m = machine::host(6);
  const auto world = shmem::team_world(m);
  const auto four = shmem::team_split_strided(m, world.handle(), 1, 1, 4);
  const shmem::team parent = four.handle();
  check_split_refused(m, parent, -1, 1, 1);
  check_split_refused(m, parent, 4, 1, 1);
  check_split_refused(m, parent, 0, 1, 5);
  check_split_refused(m, parent, 0, 2, 3);
  check_split_refused(m, parent, 1, -1, 3);
  check_split_refused(m, parent, 0, 1, 0);
  check_split_refused(m, parent, 0, 1, -1);
  check_split_refused(m, parent, 0, 0, 2);
  check_split_refused(m, parent, 0, 2147483647, 2147483647);
  check_split_refused(m, parent, 3, -2147483647, 3);
  check_usable(m);
}

TEST_CASE("splits of no team, and into rows of nothing") {
  auto m = machine::host(2);
  const auto world = shmem::team_world(m);
  const auto of_none = failure_of<argument_error>([&] { shmem::team_split_strided(m, shmem::team(), 0, 1, 1); });
  check_parts(of_none, {"team_split_strided", "the parent is no team", "team_world"});
  const auto rows = failure_of<argument_error>([&] { shmem::team_split_2d(m, shmem::team(), 1); });
  check_parts(rows, {"team_split_2d", "the parent is no team"});
  for (const int xrange : {0, -3})
    check_parts(failure_of<argument_error>([&] { shmem::team_split_2d(m, world.handle(), xrange); }),
                {message("xrange = ", xrange), "at least 1"});
  check_usable(m);
}

TEST_CASE("options that make no sense") {
  auto m = machine::host(2);
  check_parts(failure_of<argument_error>([&] { shmem::team_world(m, {.blocks = 0}); }),
              {"team_options::blocks = 0", "from 1 to"});
  check_parts(failure_of<argument_error>([&] { shmem::team_world(m, {.slot_bytes = 63}); }),
              {"team_options::slot_bytes = 63", "from 64 to"});
  check_parts(failure_of<argument_error>([&] { shmem::team_world(m, {.gather_bytes = -1}); }),
              {"team_options::gather_bytes = -1", "at least 0"});
  (void)failure_of<memory_error>([&] { shmem::team_world(m, {.blocks = 1 << 20, .slot_bytes = index_t{1} << 30}); });
  check_usable(m);
}

TEST_CASE("a team that was moved from") {
  auto m = machine::host(2);
  auto first = shmem::team_world(m);
  const auto second = std::move(first);
  CHECK(second.handle().size() == 2);
  check_parts(failure_of<argument_error>([&] { (void)first.handle(); }), {"freed or moved from"});
}

}  // namespace
}  // namespace starling::test::shmem_teams_tests
