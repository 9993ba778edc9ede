// Recordings that cannot become a graph: an error that says why, and streams that are as usable as before.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::recording_tests {
namespace {

struct set_five {
  sym<int> x;
  STARLING_HD void operator()(block& b) const { b.p(x, 5, b.pe()); }
};

// The streams of a test still run work, one after the other.
void check_streams(machine& m, stream& s, stream& t) {
  auto data = zeroed<int>(m, 1);
  s.launch(1, set_five{data.data()});
  s.synchronize();
  t.launch(1, set_five{data.data()});
  t.synchronize();
  CHECK(read(m, data, s.pe())[0] == 5);
  CHECK(read(m, data, t.pe())[0] == 5);
}

TEST_CASE("a stream that joined a recording and was not joined back") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  const std::string text = failure_of<argument_error>([&] {
    (void)m->record(s, [&] {
      s.record(forked);
      t.wait(forked);
      t.launch(1, set_five{data.data()});
    });
  });
  check_parts(text, {"joined", "origin"});
  check_streams(*m, s, t);
}

TEST_CASE("work after the event that joins a stream back") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  event joined = m->new_event(1);
  const std::string text = failure_of<argument_error>([&] {
    (void)m->record(s, [&] {
      s.record(forked);
      t.wait(forked);
      t.record(joined);
      t.launch(1, set_five{data.data()});
      s.wait(joined);
    });
  });
  check_parts(text, {"joined", "origin"});
  check_streams(*m, s, t);
}

TEST_CASE("synchronize inside a recording") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { (void)m->record(s, [&] { s.synchronize(); }); }),
              {"synchronize inside a recording", "after the graph was launched"});
  check_streams(*m, s, t);
}

TEST_CASE("a recording inside a recording of the same stream") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { (void)m->record(s, [&] { (void)m->record(s, [] {}); }); }),
              {"recorded already"});
  check_streams(*m, s, t);
}

TEST_CASE("a graph launched inside a recording") {
  auto m = test_machine(1);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  const graph g = m->record(s, [&] { s.launch(1, set_five{data.data()}); });
  check_parts(failure_of<argument_error>([&] { (void)m->record(s, [&] { g.launch(s); }); }),
              {"graph::launch inside a recording", "after"});
  g.launch(s);
  s.synchronize();
  CHECK(read(*m, data, 0)[0] == 5);
  check_streams(*m, s, t);
}

TEST_CASE("an exception of the caller inside a recording goes through") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  CHECK_THROWS_WITH_AS((void)m->record(s,
                                       [&] {
                                         s.record(forked);
                                         t.wait(forked);
                                         t.launch(1, set_five{data.data()});
                                         throw std::runtime_error("mine");
                                       }),
                       "mine", std::runtime_error);
  check_streams(*m, s, t);
  CHECK(read(*m, data, 1)[0] == 0);
}

TEST_CASE("a launch with bad arguments inside a recording") {
  auto m = test_machine(1);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { (void)m->record(s, [&] { s.launch(0, set_five{data.data()}); }); }),
              {"blocks = 0", "at least 1"});
  check_streams(*m, s, t);
}

}  // namespace
}  // namespace starling::test::recording_tests
