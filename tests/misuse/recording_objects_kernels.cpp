// Recordings that the host begins and ends, used wrongly: an error that says why, and streams as usable as before.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::recording_objects_tests {
namespace {

struct add {
  sym<int> x;
  STARLING_HD void operator()(block& b) const { b.p(x, 5, b.pe()); }
};

TEST_CASE("a stream that joined is not joined back: finishing fails, and the graph there is as before") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  graph g = m->record(s, [&] { s.launch(1, add{data.data()}); });
  for (const bool into : {false, true}) {
    recording r = m->start_recording(s);
    s.record(forked);
    t.wait(forked);
    t.launch(1, add{data.data()});
    const auto finish = [&] {
      if (into)
        (void)r.finish_into(g);
      else
        (void)r.finish();
    };
    check_parts(failure_of<argument_error>(finish), {"joined", "origin"});
    check_parts(failure_of<argument_error>(finish), {"recording::finish", "start_recording"});
  }
  g.launch(s);
  s.synchronize();
  t.synchronize();
  CHECK(read(*m, data, 0)[0] == 5);
  CHECK(read(*m, data, 1)[0] == 0);
  check_usable(*m);
}

TEST_CASE("a recording that is over or was moved from") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  recording r = m->start_recording(s);
  recording other = std::move(r);
  CHECK_THROWS_AS((void)r.finish(), argument_error);
  graph g = other.finish();
  CHECK(g.operations() == 0);
  check_parts(failure_of<argument_error>([&] { (void)other.finish_into(g); }), {"recording::finish_into", "over"});
  g.launch(s);
  s.synchronize();
}

TEST_CASE("two recordings of one stream") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  const recording r = m->start_recording(s);
  check_parts(failure_of<argument_error>([&] { (void)m->start_recording(s); }), {"recorded already"});
}

TEST_CASE("two recordings that meet") {
  auto m = test_machine(2);
  if (!m) return;
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event e = m->new_event(0);
  {
    const recording a = m->start_recording(s);
    const recording b = m->start_recording(t);
    s.record(e);
    CHECK_THROWS_AS(t.wait(e), argument_error);
  }
  s.synchronize();
  t.synchronize();
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::recording_objects_tests
