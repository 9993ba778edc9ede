// Thread hierarchies that cannot be mapped, bodies that synchronise wrongly, and exceptions in bodies.
#include "support/failure.hpp"
#include "support/stf/launching.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_hierarchies_tests {
namespace {

using namespace stf;

const auto nothing = [](const auto&) {};

template <class Spec>
hierarchy_map plan(const Spec& spec, int place = 0, int places = 1) {
  return map_hierarchy(spec, place, places, false, [](int, std::size_t) { return 64; });
}

TEST_CASE("widths that make no sense") {
  check_parts(failure_of<argument_error>([] { (void)par(0); }), {"width of 0", "at least 1"});
  check_parts(failure_of<argument_error>([] { (void)con(-5, par()); }), {"width of -5"});
  check_parts(failure_of<argument_error>([] { (void)plan(par(2, con(1025))); }), {"1025 threads", "1024"});
  check_parts(failure_of<argument_error>([] { (void)plan(con(2, hw_scope::thread, con(600))); }), {"1200 threads"});
  check_parts(failure_of<argument_error>([] { (void)plan(con(5000)); }), {"con of 5000", "use 5024"});
  check_parts(failure_of<argument_error>([] { (void)plan(con(3, con(20))); }),
              {"blocks of 20 threads", "multiple of 32"});
  check_parts(failure_of<argument_error>([] { (void)plan(par(2, con(2, hw_scope::thread, con(20)))); }),
              {"groups of 20 threads", "level 2"});
  check_parts(failure_of<argument_error>([] { (void)plan(par(2, par(16, hw_scope::thread, con(64)))); }),
              {"groups of 64 threads", "16 in a block", "at most 15"});
  check_parts(failure_of<launch_error>([] { (void)plan(con(65, con(32))); }), {"65 blocks", "holds 64"});
  const index_t huge = index_t{1} << 40;
  check_parts(failure_of<argument_error>([=] { (void)plan(par(huge, par(huge, con<32>()))); }), {"2^63"});
}

TEST_CASE("places that make no sense") {
  check_parts(failure_of<argument_error>([] { (void)plan(par(), 2, 2); }), {"place 2 of 2"});
  check_parts(failure_of<argument_error>([] { (void)plan(par(), -1, 2); }), {"place -1"});
  check_parts(failure_of<argument_error>([] { (void)plan(par(hw_scope::block, con()), 0, 2); }),
              {"2 places", "hw_scope"});
  check_parts(failure_of<argument_error>([] { (void)plan(par(3, hw_scope::device, con()), 0, 2); }),
              {"width 3 on 2 places"});
  check_parts(failure_of<unsupported_error>([] { (void)plan(con(), 0, 2); }), {"con over 2 places", "sync_all"});
}

TEST_CASE("fewer members than places: some get nothing") {
  machine m = machine::host(3);
  auto seen = zeroed<int>(m, 2);
  const auto spec = par(2, con<4>());
  launch_all(
      m, spec, 3, [](thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<int> s) { ++s(th.rank(0)); },
      slice<int>(seen.on(0), 2));
  CHECK(read(m, seen, 0) == std::vector<int>{4, 4});
  CHECK(plan(spec, 2, 3).blocks == 0);
}

TEST_CASE("scratch memory of several blocks without memory") {
  machine m = machine::host(1);
  stream s = m.new_stream(0);
  check_parts(failure_of<argument_error>([&] { enqueue_launch(s, m, par(4, mem(100), con<8>()), 0, 1, nothing); }),
              {"112 bytes", "device_scratch"});
}

TEST_CASE("a level that is not there") {
  machine m = machine::host(1);
  const auto spec = par(2, con<4>());
  for (const int level : {-1, 2})
    for (const int call : {0, 1, 2}) {
      const auto body = [=](const auto& th) {
        if (call == 0) (void)th.rank(level);
        if (call == 1) (void)th.size(level);
        if (call == 2) (void)th.template storage<int>(level);
      };
      check_parts(failure_of<range_error>([&] { launch_all(m, spec, 1, body); }),
                  {message("level ", level), "2 levels"});
    }
}

TEST_CASE("levels that cannot synchronise") {
  machine m = machine::host(1);
  const auto sync_at = [](int level) { return [=](const auto& th) { th.sync(level); }; };
  for (const int level : {-1, 0, 2})
    check_parts(failure_of<argument_error>([&] { launch_all(m, par(2, con<4>()), 1, sync_at(level)); }),
                {message("sync(", level, ")"), "make it con"});
  check_parts(failure_of<argument_error>([&] { launch_all(m, con(2, con(2, con<32>())), 1, sync_at(1)); }),
              {"sync(1)", "con level outside"});
  check_usable(m);
}

TEST_CASE("threads that do not come to a barrier") {
  machine m = machine::host(1);
  const auto one_returns = [](const auto& th) {
    if (th.rank() == 5) return;
    th.inner().sync();
  };
  check_parts(failure_of<argument_error>([&] { launch_all(m, par(con<8>()), 1, one_returns); }),
              {"sync at", "stf_hierarchies.cpp:", "group of 8 threads", "1 have returned"});
  const auto different_levels = [](const auto& th) { th.sync(th.rank() < 3 ? 0 : 1); };
  check_parts(
      failure_of<argument_error>([&] { launch_all(m, con(2, hw_scope::thread, con<4>()), 1, different_levels); }),
      {"return", "all threads of a group"});
  check_usable(m);
}

// Counts how often it is destroyed: threads that are ended unwind.
struct counted {
  int* n;
  ~counted() { ++*n; }
};

TEST_CASE("an exception in one thread ends them all and reaches the host") {
  machine m = machine::host(1);
  struct odd {};
  for (const index_t thrower : {0, 3, 15}) {
    int ended = 0;
    int passed = 0;
    const auto body = [&, thrower](const auto& th) {
      const counted c{&ended};
      th.inner().sync();
      if (th.inner().rank() == thrower) throw odd();
      th.inner().sync();
      ++passed;
    };
    stream s = m.new_stream(0);
    enqueue_launch(s, m, par(1, con<16>()), 0, 1, body);
    CHECK_THROWS_AS(s.synchronize(), odd);
    CHECK(ended == 16);
    CHECK(passed == 0);
    check_usable(m);
  }
}

TEST_CASE("an exception while blocks synchronise with each other") {
  machine m = machine::host(1);
  const auto body = [](const auto& th) {
    th.sync();
    if (th.rank() == 37) throw argument_error("thread 37");
    th.sync();
  };
  check_parts(failure_of<argument_error>([&] { launch_all(m, con(3, con<32>()), 1, body); }), {"thread 37"});
  check_usable(m);
}

TEST_CASE("bodies that catch everything, and exceptions within exceptions") {
  machine m = machine::host(1);
  const auto spec = par(1, con<8>());
  int caught = 0;
  // Each thread handles an exception of its own while others run.
  launch_all(m, spec, 1, [&](const auto& th) {
    try {
      throw static_cast<int>(th.rank());
    } catch (int mine) {
      th.inner().sync();
      try {
        throw;
      } catch (int again) {
        caught += again == mine && mine == th.rank() ? 1 : 0;
      }
    }
  });
  CHECK(caught == 8);
  // A body that swallows what ends it is ended by its next barrier again.
  const auto stubborn = [&](const auto& th) {
    if (th.rank() == 0) throw range_error("thread 0");
    for (int i = 0; i < 3; ++i) try {
        th.inner().sync();
      } catch (...) {
      }
    th.inner().sync();
  };
  check_parts(failure_of<range_error>([&] { launch_all(m, spec, 1, stubborn); }), {"thread 0"});
  check_usable(m);
}

TEST_CASE("more blocks that synchronise than the device holds") {
  machine m = machine::host(1, {.max_blocks = 3});
  stream s = m.new_stream(0);
  check_parts(failure_of<launch_error>([&] { enqueue_launch(s, m, con(4, con<32>()), 0, 1, nothing); }),
              {"4 blocks", "3"});
  enqueue_launch(s, m, con(3, con<32>()), 0, 1, nothing);
  s.synchronize();
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_hierarchies_tests
