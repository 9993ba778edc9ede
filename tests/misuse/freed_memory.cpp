// Kernels that use an array after it was freed, through a handle they still have. Virtual devices find this.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::freed_memory_tests {
namespace {

template <class Kernel>
void check_refused(machine& m, const Kernel& k, const char* call, int line) {
  check_parts(failure_of<range_error>([&] { m.run(1, k); }),
              {message(call, " at "), message("freed_memory.cpp:", line), "not inside one live allocation",
               "whether the array is still allocated"});
  check_usable(m);
}

TEST_CASE("put to an array that was freed") {
  if (skipped_on_gpus("know which memory was freed")) return;
  machine m = machine::host(2);
  auto a = m.allocate<int>(10);
  const sym<int> x = a.data();
  a.reset();
  const int line = __LINE__ + 1;
  check_refused(m, [=](block& b) { b.p(x, 1, 1 - b.pe()); }, "put", line);
}

TEST_CASE("get from an array that was freed when its owner was moved over") {
  if (skipped_on_gpus("know which memory was freed")) return;
  machine m = machine::host(2);
  auto a = m.allocate<int>(10);
  const sym<int> x = a.data();
  auto larger = m.allocate<int>(100);
  a = std::move(larger);
  const int line = __LINE__ + 1;
  check_refused(m, [=](block& b) { (void)b.g(x, 1 - b.pe()); }, "get", line);
}

TEST_CASE("a signal that was freed") {
  if (skipped_on_gpus("know which memory was freed")) return;
  machine m = machine::host(2);
  auto a = m.allocate<signal>(1);
  const sym<signal> x = a.data();
  a.reset();
  const int line = __LINE__ + 1;
  check_refused(m, [=](block& b) { b.signal_set(x, 1, b.pe()); }, "put", line);
}

TEST_CASE("a wait for a signal that was freed") {
  if (skipped_on_gpus("know which memory was freed")) return;
  machine m = machine::host(2);
  auto a = m.allocate<signal>(1);
  const sym<signal> x = a.data();
  a.reset();
  const int line = __LINE__ + 1;
  check_refused(m, [=](block& b) { b.wait(x, 1); }, "wait", line);
}

TEST_CASE("put to the part of a reused place that is not allocated any more") {
  if (skipped_on_gpus("know which memory was freed")) return;
  machine m = machine::host(2);
  auto a = m.allocate<int>(1000);
  const sym<int> x = a.data();
  a.reset();
  const auto smaller = zeroed<int>(m, 10);
  const int line = __LINE__ + 1;
  check_refused(m, [=](block& b) { b.p(x + 500, 1, 1 - b.pe()); }, "put", line);
  CHECK(read(m, smaller, 0) == std::vector<int>(10, 0));
}

TEST_CASE("a plain launch that puts to an array freed since") {
  if (skipped_on_gpus("know which memory was freed")) return;
  machine m = machine::host(2);
  auto a = m.allocate<int>(10);
  const sym<int> x = a.data();
  a.reset();
  stream s = m.new_stream(0);
  s.launch(1, [=](block& b) { b.p(x, 1, 1); });
  check_parts(failure_of<range_error>([&] { s.synchronize(); }), {"put at ", "not inside one live allocation"});
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::freed_memory_tests
