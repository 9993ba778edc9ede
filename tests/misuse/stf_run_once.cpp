// run_once where it cannot be, and functions that throw.
#include <functional>
#include <stdexcept>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_run_once_tests {
namespace {

using stf::context;
using stf::slice;

TEST_CASE("a function that throws leaves no result") {
  machine m = machine::host(1);
  context ctx(m);
  int calls = 0;
  const auto f = [&](bool good) {
    return ctx.run_once(1)->*[&](int) {
      ++calls;
      if (!good) throw std::runtime_error("no");
      return 5;
    };
  };
  for (int i = 0; i < 2; ++i) CHECK(failure_of<std::runtime_error>([&] { (void)f(false); }) == "no");
  CHECK(f(true) == 5);
  CHECK(f(false) == 5);
  CHECK(calls == 3);
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("a function that asks for its own result") {
  machine m = machine::host(1);
  context ctx(m);
  struct ask {
    context& ctx;
    int operator()(int n) const { return n == 0 ? 0 : 1 + (ctx.run_once(n)->*ask{ctx}); }
    int down(int n) const {
      return ctx.run_once(n)->*[this](int k) { return k == 0 ? 0 : 1 + down(k - 1); };
    }
  };
  CHECK(ask{ctx}.down(5) == 5);  // with other arguments it may
  check_parts(failure_of<argument_error>([&] { (void)(ctx.run_once(3)->*ask{ctx}); }),
              {"run_once", "its own result", "wait for itself"});
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("a first call in what is recorded, and data that is none") {
  machine m = machine::host(1);
  context ctx(m);
  check_parts(failure_of<argument_error>([&] { ctx.record([&] { ctx.run_once(1)->*[](int) { return 1; }; }); }),
              {"run_once", "no result yet", "before record"});
  check_parts(failure_of<argument_error>(
                  [&] { ctx.run_once(stf::logical_data<slice<int>>())->*[](const stf::logical_data<slice<int>>&) {}; }),
              {"run_once", "none", "context::logical_data"});
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("two functions that wait for the results of each other") {
  const environment_guard patience("STARLING_DEADLINE", "0.3");
  machine m = machine::host(1);
  context ctx(m);
  std::atomic<int> inside{0};
  const std::function<int(int, bool)> f = [&](int which, bool outer) {
    return ctx.run_once(which)->*[&, outer](int w) {
      if (!outer) return 1;
      ++inside;
      while (inside < 2) std::this_thread::yield();
      return f(1 - w, false);
    };
  };
  std::atomic<int> refused{0};
  const auto try_it = [&](int which) {
    try {
      (void)f(which, true);
    } catch (const stf::task_error& e) {
      check_parts(e.what(), {"another thread", "0.3 s", "STARLING_DEADLINE"});
      ++refused;
    }
  };
  std::thread other([&] { try_it(1); });
  try_it(0);
  other.join();
  CHECK(refused >= 1);
  ctx.finalize();
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_run_once_tests
