// More scratch memory than the launch gave: range_error with both numbers and the option to raise.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::scratch_tests {
namespace {

template <class Kernel>
void check_refused(const Kernel& k, std::size_t given, int line, std::initializer_list<std::string> parts) {
  auto m = test_machine(2);
  if (!m) return;
  const std::string text = failure_of<range_error>([&] { m->run(1, k, {.scratch_bytes = given}); });
  check_parts(text, {"scratch at ", message("scratch_kernels.cpp:", line), "launch_options::scratch_bytes"});
  check_parts(text, parts);
  check_usable(*m);
}

TEST_CASE("scratch in a launch that gave none") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { *b.scratch<int>(1) = 5; };
  check_refused(k, 0, line, {"16 B of scratch memory wanted", "gave 0 B"});
}

TEST_CASE("one element of scratch too many") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { *b.scratch<double>(129) = 5; };
  check_refused(k, 1024, line, {"1.016 KiB of scratch memory wanted", "gave 1 KiB"});
}

TEST_CASE("pieces of scratch that do not fit together") {
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    *b.scratch<double>(64) = 1;
    *b.scratch<double>(65) = 2;
    b.sync_all();
  };
  check_refused(k, 1024, line, {"1.016 KiB of scratch memory wanted", "gave 1 KiB"});
}

TEST_CASE("as much scratch as does not fit into 32 bits") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { *b.scratch<double>(index_t{1} << 29) = 5; };
  check_refused(k, 1024, line, {"4 GiB of scratch memory wanted", "gave 1 KiB"});
}

TEST_CASE("a negative number of scratch elements") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { *b.scratch<double>(-4) = 5; };
  check_refused(k, 1024, line, {"of scratch memory wanted", "gave 1 KiB"});
}

}  // namespace
}  // namespace starling::test::scratch_tests
