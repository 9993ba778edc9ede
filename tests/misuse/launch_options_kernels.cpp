// Launches with options that no device accepts: refused before anything runs, with the value and what is allowed.
#include <cmath>

#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::launch_options_tests {
namespace {

struct count_blocks {
  sym<int> x;
  STARLING_HD void operator()(block& b) const { b.atomic_fetch_add(x, 1, b.pe()); }
};

// Neither a program nor a plain launch runs with these options.
template <class Error>
void check_refused(const launch_options& options, std::initializer_list<std::string> parts) {
  auto m = test_machine(1);
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  const count_blocks k{count.data()};
  stream s = m->new_stream(0);
  check_parts(failure_of<Error>([&] { m->run(1, k, options); }), parts);
  check_parts(failure_of<Error>([&] { s.launch(1, k, options); }), parts);
  check_parts(failure_of<Error>([&] { (void)m->blocks_that_fit(k, options); }), parts);
  s.synchronize();
  CHECK(read(*m, count, 0)[0] == 0);
  check_usable(*m);
}

TEST_CASE("threads that are not a multiple of 32") {
  check_refused<argument_error>({.threads = 100}, {"threads = 100", "multiple of 32"});
}

TEST_CASE("no threads") { check_refused<argument_error>({.threads = 0}, {"threads = 0", "from 32 to 1024"}); }

TEST_CASE("more threads than a block may have") {
  check_refused<argument_error>({.threads = 1056}, {"threads = 1056", "from 32 to 1024"});
}

TEST_CASE("a negative deadline") { check_refused<argument_error>({.deadline = -1}, {"deadline = -1", "more than 0"}); }

TEST_CASE("a deadline that is not a number") {
  check_refused<argument_error>({.deadline = NAN}, {"deadline = ", "nan", "more than 0"});
}

TEST_CASE("a deadline of two weeks") {
  check_refused<argument_error>({.deadline = 1.3e6}, {"deadline = 1.3e+06", "less than 1e6"});
}

TEST_CASE("more scratch memory than a block can have") {
  check_refused<launch_error>({.scratch_bytes = std::size_t{1} << 32}, {"scratch_bytes = 4294967296", "at most"});
}

TEST_CASE("a program without blocks") {
  auto m = test_machine(1);
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  const count_blocks k{count.data()};
  check_parts(failure_of<argument_error>([&] { m->run(0, k); }), {"0 blocks", "at least 1"});
  check_parts(failure_of<argument_error>([&] { m->run(-3, k); }), {"-3 blocks", "at least 1"});
  CHECK(read(*m, count, 0)[0] == 0);
}

TEST_CASE("a plain launch without blocks") {
  auto m = test_machine(1);
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { s.launch(0, count_blocks{count.data()}); }),
              {"blocks = 0", "at least 1"});
  check_parts(failure_of<argument_error>([&] { s.launch(-1, count_blocks{count.data()}); }), {"blocks = -1"});
  s.synchronize();
  CHECK(read(*m, count, 0)[0] == 0);
}

TEST_CASE("a run of no program") {
  auto m = test_machine(1);
  if (!m) return;
  check_parts(failure_of<argument_error>([&] { m->run(std::vector<program>{}); }), {"no program", "at least one"});
}

}  // namespace
}  // namespace starling::test::launch_options_tests
