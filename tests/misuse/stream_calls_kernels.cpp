// Functions of the host in streams that throw, are empty, or wait for their own stream.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stream_calls_tests {
namespace {

struct nothing {
  STARLING_HD void operator()(block&) const {}
};

TEST_CASE("a function that throws: synchronize says so, later functions are skipped until then") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  for (int again = 0; again < 3; ++again) {
    int ran = 0;
    s.call([&] { ++ran; });
    s.call([] { throw std::runtime_error("mine"); });
    s.call([&] { ran += 100; });
    CHECK_THROWS_WITH_AS(s.synchronize(), "mine", std::runtime_error);
    CHECK(ran == 1);
    s.call([&] { ran += 5; });
    s.synchronize();
    CHECK(ran == 6);
  }
  check_usable(*m);
}

TEST_CASE("a function of a graph that throws") {
  auto m = test_machine(2);
  if (!m) return;
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  event joined = m->new_event(1);
  bool bad = true;
  const graph g = m->record(s, [&] {
    s.record(forked);
    t.wait(forked);
    t.call([&] {
      if (bad) throw std::runtime_error("in a graph");
    });
    t.record(joined);
    s.wait(joined);
  });
  for (int again = 0; again < 2; ++again) {
    bad = true;
    g.launch(s);
    CHECK_THROWS_WITH_AS(s.synchronize(), "in a graph", std::runtime_error);
    bad = false;
    g.launch(s);
    s.synchronize();
  }
  check_usable(*m);
}

TEST_CASE("no function") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { s.call(nullptr); }), {"stream::call", "empty"});
  s.synchronize();
}

TEST_CASE("a function that waits for its own stream") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  event e = m->new_event(0);
  s.record(e);
  s.call([&] { s.synchronize(); });
  CHECK_THROWS_AS(s.synchronize(), error);
  if (on_gpus()) return;
  s.call([&] { e.synchronize(); });
  check_parts(failure_of<argument_error>([&] { s.synchronize(); }), {"event::synchronize", "stream::call"});
  s.call([&] { m->run(1, nothing()); });
  check_parts(failure_of<argument_error>([&] { s.synchronize(); }), {"machine::run", "stream::call"});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::stream_calls_tests
