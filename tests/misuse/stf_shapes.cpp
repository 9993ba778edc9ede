// Shapes and partitions that make no sense.
#include <limits>

#include "starling/stf/partition_grid.hpp"
#include "support/failure.hpp"

namespace starling::test::stf_shapes_tests {
namespace {

using namespace stf;

TEST_CASE("boxes that make no sense") {
  check_parts(failure_of<argument_error>([] { (void)box(-1); }), {"dimension 0", "from 0 to -1", "before the start"});
  check_parts(failure_of<argument_error>([] { (void)box(3, index_t{-7}); }), {"dimension 1", "-7"});
  check_parts(failure_of<argument_error>([] { (void)box(index_range{4, 2}); }), {"from 4 to 2"});
  constexpr index_t far = std::numeric_limits<index_t>::max();
  check_parts(failure_of<argument_error>([=] { (void)box(index_range{-2, far}); }), {"from -2 to", "2^63"});
  check_parts(failure_of<argument_error>([] { (void)box(index_t{1} << 40, index_t{1} << 40); }),
              {"1099511627776 x 1099511627776", "2^63"});
  CHECK(box(index_t{1} << 40, index_t{1} << 40, 0).size() == 0);
  CHECK(box(0).size() == 0);
}

TEST_CASE("owners and dimensions that do not exist") {
  check_parts(failure_of<argument_error>([] { (void)blocked().part(box(4), 2, 2); }), {"owner 2 of 2"});
  check_parts(failure_of<argument_error>([] { (void)cyclic().part(box(4), -1, 2); }), {"owner -1 of 2"});
  check_parts(failure_of<argument_error>([] { (void)tiled<2>().part(box(4), 0, 0); }), {"owner 0 of 0"});
  check_parts(failure_of<argument_error>([] { (void)cyclic().owner(coords<1>{{3}}, box(4), 0); }), {"of 0"});
  check_parts(failure_of<argument_error>([] { (void)blocked{2}.part(box(4, 4), 0, 2); }),
              {"dimension 2", "2 dimensions"});
  check_parts(failure_of<argument_error>([] { (void)blocked{-1}.owner(coords<1>{{3}}, box(4), 2); }), {"dimension -1"});
}

TEST_CASE("grids of owners that do not fit") {
  check_parts(failure_of<argument_error>([] { (void)blocked_grid{2, 0}; }), {"2 x 0", "at least one"});
  check_parts(failure_of<argument_error>([] { (void)tiled_grid<4, 4>{-1, 3}; }), {"-1 x 3", "at least one"});
  check_parts(failure_of<argument_error>([] { (void)blocked_grid{index_t{1} << 32, 3}; }), {"less than 2^31"});
  check_parts(failure_of<argument_error>([] { (void)blocked_grid{2, 2}.part(box(4, 4), 0, 3); }),
              {"2 x 2 owners", "2 dimensions and 3 owners"});
  check_parts(failure_of<argument_error>([] { (void)blocked_grid{2, 2}.part(box(4), 0, 4); }),
              {"2 x 2 owners", "1 dimension and 4 owners"});
  check_parts(failure_of<argument_error>([] { (void)blocked_grid{2}.owner(coords<2>{{0, 0}}, box(4, 4), 2); }),
              {"grid of 2 owners", "2 dimensions"});
  check_parts(failure_of<argument_error>([] { (void)tiled_grid<2, 2>{2, 2}.part(box(4, 4), 4, 4); }), {"owner 4 of 4"});
  check_parts(failure_of<argument_error>([] { (void)tiled_grid<2, 2>{2, 2}.owner(coords<2>{{0, 0}}, box(4, 4), 2); }),
              {"2 x 2 owners", "2 owners"});
}

TEST_CASE("bounds and margins that make no sense") {
  check_parts(failure_of<argument_error>([] { (void)box({3, 1}); }), {"dimension 0", "from 3 to 1"});
  check_parts(failure_of<argument_error>([] { (void)box({0, 3}, {5, 4}); }), {"dimension 1", "from 5 to 4"});
  check_parts(failure_of<argument_error>([] { (void)box<2>({{0, 3}, {1, 2}, {2, 3}}); }), {"3 ranges", "2 dimensions"});
  check_parts(failure_of<argument_error>([] { (void)inner(box(5), -1); }), {"inner: -1", "at least 0"});
}

}  // namespace
}  // namespace starling::test::stf_shapes_tests
