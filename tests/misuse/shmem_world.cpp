// Wrong uses of the host's side of OpenSHMEM: each is a typed error that names the value and the next step.
#include "starling/shmem/world.hpp"

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::shmem_world_tests {
namespace {

TEST_CASE("a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  shmem::world w(*m);
  for (const int pe : {-1, 2, 1000})
    check_parts(failure_of<range_error>([&] { (void)w.on(pe); }),
                {message("PE ", pe, " of a machine with 2"), "numbered from 0 to 1"});
}

TEST_CASE("more elements than the array has") {
  auto m = test_machine(2);
  if (!m) return;
  shmem::world w(*m);
  const auto x = w.calloc<int>(4);
  std::vector<int> mine(8, 3);
  check_parts(failure_of<range_error>([&] { w.on(1).put(x, mine.data(), 5); }),
              {"20 bytes at 0x", "not inside one live symmetric allocation"});
  check_parts(failure_of<range_error>([&] { w.on(0).get(mine.data(), x.data() + 1, 4); }), {"16 bytes at 0x"});
  check_parts(failure_of<range_error>([&] { w.on(0).iput(x, mine.data(), 2, 1, 3); }), {"not inside one live"});
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, x, pe) == std::vector<int>(4, 0));
  CHECK(mine == std::vector<int>(8, 3));
}

TEST_CASE("counts and strides that make no sense") {
  auto m = test_machine(1);
  if (!m) return;
  shmem::world w(*m);
  const auto x = w.calloc<int>(4);
  int mine[4] = {};
  check_parts(failure_of<argument_error>([&] { w.on(0).put(x, mine, -1); }), {"put of -1 elements", "at least 0"});
  check_parts(failure_of<argument_error>([&] { w.on(0).get(mine, x, index_t{1} << 62); }), {"no memory has as many"});
  check_parts(failure_of<argument_error>([&] { w.on(0).iget(mine, x, 0, 1, 2); }), {"strides of 0 and 1"});
  check_parts(failure_of<argument_error>([&] { w.on(0).iput(x, mine, 1, -3, 2); }), {"strides of 1 and -3"});
  check_parts(failure_of<argument_error>([&] { w.on(0).ibput(x, mine, 2, 1, 2, 2); }),
              {"must be at least 2, the elements"});
  check_parts(failure_of<argument_error>([&] { w.on(0).ibget(mine, x, 1, 1, -1, 2); }), {"piece of -1 elements"});
}

TEST_CASE("an alignment that no allocation has") {
  auto m = test_machine(1);
  if (!m) return;
  shmem::world w(*m);
  for (const std::size_t a : {std::size_t{0}, std::size_t{3}, std::size_t{512}})
    check_parts(failure_of<argument_error>([&] { (void)w.align<int>(a, 4); }),
                {message("alignment = ", a), "a power of two up to 256"});
}

TEST_CASE("an array that was freed, and one that does not fit") {
  auto m = test_machine(1);
  if (!m) return;
  shmem::world w(*m);
  auto x = w.calloc<int>(4);
  w.free(x);
  check_parts(failure_of<argument_error>([&] { w.on(0).p(x, 1); }), {"after it was freed", "allocate it again"});
  check_parts(failure_of<memory_error>([&] { (void)w.malloc<double>(index_t{1} << 55); }), {"symmetric memory"});
}

}  // namespace
}  // namespace starling::test::shmem_world_tests
