// Exceptions that a kernel throws on a virtual device: they end all blocks and come out as they were thrown.
#include <stdexcept>

#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::kernel_exception_tests {
namespace {

struct my_error : std::runtime_error {
  my_error(const std::string& text, int n) : std::runtime_error(text), number(n) {}
  int number;
};

TEST_CASE("an exception of one block ends the program, waiting blocks too") {
  if (skipped_on_gpus("can throw from kernels")) return;
  machine m = machine::host(3);
  auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  const auto k = [=](block& b) {
    if (b.pe() == 2 && b.index() == 1) throw my_error("thrown in a kernel", 17);
    if (b.index() == 0) b.wait(s, 1);
    b.sync_all();
  };
  try {
    m.run(3, k);
    FAIL_CHECK("no exception");
  } catch (const my_error& e) {
    CHECK(std::string(e.what()) == "thrown in a kernel");
    CHECK(e.number == 17);
  }
  check_usable(m);
}

TEST_CASE("something that is no std::exception comes out too") {
  if (skipped_on_gpus("can throw from kernels")) return;
  machine m = machine::host(2);
  CHECK_THROWS_AS(m.run(2,
                        [](block& b) {
                          if (b.pe() == 1) throw 42;
                        }),
                  int);
  check_usable(m);
}

TEST_CASE("a kernel that catches everything of std does not swallow the end of its program") {
  if (skipped_on_gpus("can throw from kernels")) return;
  machine m = machine::host(2);
  auto after = zeroed<int>(m, 1);
  const sym<int> x = after.data();
  const auto k = [=](block& b) {
    try {
      b.p(x, 1, 7);
    } catch (const std::exception&) {
    }
    *x.on(b.pe()) = 1;
  };
  check_parts(failure_of<range_error>([&] { m.run(1, k); }), {"put at ", "PE 7 of a machine with 2"});
  for (int pe = 0; pe < 2; ++pe) CHECK(read(m, after, pe)[0] == 0);
  check_usable(m);
}

TEST_CASE("an exception in a plain launch surfaces at synchronize, and later work is skipped until then") {
  if (skipped_on_gpus("can throw from kernels")) return;
  machine m = machine::host(1);
  auto count = zeroed<int>(m, 1);
  const sym<int> x = count.data();
  stream s = m.new_stream(0);
  event e = m.new_event(0);
  s.launch(1, [](block&) { throw my_error("first", 1); });
  s.launch(1, [](block&) { throw my_error("second", 2); });
  s.launch(1, [=](block& b) { b.atomic_fetch_add(x, 1, 0); });
  s.record(e);
  e.synchronize();
  CHECK(e.done());
  CHECK(failure_of<my_error>([&] { s.synchronize(); }) == "first");
  CHECK(read(m, count, 0)[0] == 0);
  s.launch(1, [=](block& b) { b.atomic_fetch_add(x, 1, 0); });
  CHECK_NOTHROW(s.synchronize());
  CHECK(read(m, count, 0)[0] == 1);
}

TEST_CASE("an exception in one of two programs ends the other") {
  if (skipped_on_gpus("can throw from kernels")) return;
  machine m = machine::host(2);
  role_plan one;
  one.add("one", 1);
  const auto throws = [](block& b) {
    if (b.pe() == 1) throw my_error("thrown", 3);
    b.sync_all();
  };
  const auto waits = [](block& b) {
    if (b.pe() == 0) b.sync_all();
  };
  CHECK(failure_of<my_error>(
            [&] { m.run({program{one, make_kernel(waits), {}}, program{one, make_kernel(throws), {}}}); }) == "thrown");
  check_usable(m);
}

TEST_CASE("a kernel that was not compiled for GPUs") {
  if (!on_gpus()) return;
  auto m = test_machine(1);
  if (!m) return;
  check_parts(failure_of<unsupported_error>([&] { m->run(1, [](block&) {}); }), {"virtual devices only", "nvcc"});
}

}  // namespace
}  // namespace starling::test::kernel_exception_tests
