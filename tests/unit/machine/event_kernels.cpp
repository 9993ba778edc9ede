// Events: what a wait is for, what done() says, and the time between two.
#include "starling/machine/stream.hpp"

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::event_tests {
namespace {

struct set_to {
  sym<signal> s;
  std::uint64_t value;
  STARLING_HD void operator()(block& b) const { b.signal_set(s, value, b.pe()); }
};

struct wait_for {
  sym<signal> s;
  std::uint64_t value;
  STARLING_HD void operator()(block& b) const { b.wait(s, value); }
};

TEST_CASE("an event that was never recorded is done, and waiting for it waits for nothing") {
  auto m = test_machine(1);
  if (!m) return;
  const event e = m->new_event(0);
  CHECK(e.done());
  e.synchronize();
  stream s = m->new_stream(0);
  s.wait(e);
  s.synchronize();
}

TEST_CASE("an event is done when the work before it is, not earlier") {
  auto m = test_machine(1);
  if (!m) return;
  auto go = zeroed<signal>(*m, 1);
  stream first = m->new_stream(0);
  stream second = m->new_stream(0);
  // All kernels have run once before one of them waits for another.
  second.launch(1, set_to{go.data(), 1});
  second.synchronize();
  first.launch(1, wait_for{go.data(), 1});
  first.synchronize();
  event e = m->new_event(0);
  first.launch(1, wait_for{go.data(), 2});
  first.record(e);
  CHECK_FALSE(e.done());
  second.launch(1, set_to{go.data(), 2});
  e.synchronize();
  CHECK(e.done());
  first.synchronize();
  second.synchronize();
}

// The first stream hangs behind its second record until the second stream, which waits for the first, lets it go on.
TEST_CASE("a wait is for the record that was newest when it was asked for") {
  auto m = test_machine(1);
  if (!m) return;
  auto go = zeroed<signal>(*m, 1);
  stream first = m->new_stream(0);
  stream second = m->new_stream(0);
  second.launch(1, set_to{go.data(), 1});
  second.synchronize();
  event e = m->new_event(0);
  first.launch(1, wait_for{go.data(), 1});
  first.record(e);
  second.wait(e);
  first.launch(1, wait_for{go.data(), 2});
  first.record(e);
  second.launch(1, set_to{go.data(), 2});
  CHECK_NOTHROW(second.synchronize());
  CHECK_NOTHROW(first.synchronize());
  CHECK(e.done());
}

TEST_CASE("seconds between two events are those between the ends of the work before them") {
  auto m = test_machine(1);
  if (!m) return;
  auto go = zeroed<signal>(*m, 1);
  stream s = m->new_stream(0);
  event start = m->new_event(0);
  event end = m->new_event(0);
  s.record(start);
  for (std::uint64_t i = 1; i <= 10; ++i) s.launch(1, set_to{go.data(), i});
  s.record(end);
  end.synchronize();
  CHECK(event::seconds_between(start, end) >= 0);
  CHECK(event::seconds_between(start, end) == -event::seconds_between(end, start));
  CHECK(event::seconds_between(start, start) == 0);
}

TEST_CASE("seconds between events that were not both recorded are refused") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  event recorded = m->new_event(0);
  const event never = m->new_event(0);
  s.record(recorded);
  s.synchronize();
  check_parts(failure_of<argument_error>([&] { event::seconds_between(recorded, never); }),
              {"recorded", "synchronize"});
  const event ordering = m->new_event(0, event_use::ordering);
  check_parts(failure_of<argument_error>([&] { event::seconds_between(recorded, ordering); }),
              {"event::seconds_between", "event_use::timing"});
  check_parts(failure_of<argument_error>([&] { event::seconds_between(never, recorded); }),
              {"recorded", "synchronize"});
}

}  // namespace
}  // namespace starling::test::event_tests
