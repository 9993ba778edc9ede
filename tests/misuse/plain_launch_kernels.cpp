// Kernels that call in a plain launch what only the blocks of a persistent program may call, and errors of streams:
// they surface at synchronize, later work is skipped until then, and the stream is usable after.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::plain_launch_tests {
namespace {

template <class Kernel>
void check_refused(const Kernel& k, const char* call, int line) {
  auto m = test_machine(2);
  if (!m) return;
  stream s = m->new_stream(1);
  s.launch(2, k);
  check_parts(failure_of<argument_error>([&] { s.synchronize(); }),
              {std::string(call) + " at ", message("plain_launch_kernels.cpp:", line), "plain launch", "machine::run"});
  s.synchronize();
  check_usable(*m);
}

TEST_CASE("sync_pe in a plain launch") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.sync_pe(); };
  check_refused(k, "sync_pe", line);
}

TEST_CASE("sync_all in a plain launch") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.sync_all(); };
  check_refused(k, "sync_all", line);
}

TEST_CASE("barrier_all in a plain launch") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.barrier_all(); };
  check_refused(k, "sync_all", line);
}

TEST_CASE("all_reduce in a plain launch") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { (void)b.all_reduce(1, plus{}); };
  check_refused(k, "all_reduce", line);
}

TEST_CASE("broadcast in a plain launch") {
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { (void)b.broadcast(1, 0); };
  check_refused(k, "broadcast", line);
}

TEST_CASE("a stream is usable after its error was thrown") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  const sym<int> x = data.data();
  auto wrong = STARLING_KERNEL(block & b) { b.p(x, 1, 7); };
  auto right = STARLING_KERNEL(block & b) { b.p(x, 5, 1); };
  stream s = m->new_stream(0);
  for (int again = 0; again < 3; ++again) {
    m->fill(data.on(1), 0, sizeof(int));
    s.launch(1, wrong);
    check_parts(failure_of<range_error>([&] { s.synchronize(); }), {"put at ", "PE 7 of a machine with 2"});
    s.launch(1, right);
    CHECK_NOTHROW(s.synchronize());
    CHECK(read(*m, data, 1)[0] == 5);
  }
}

TEST_CASE("an error in one stream is not an error of another") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  const sym<int> x = data.data();
  auto wrong = STARLING_KERNEL(block & b) { b.p(x, 1, 7); };
  auto right = STARLING_KERNEL(block & b) { b.p(x, 5, 1); };
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  event e = m->new_event(0);
  s.launch(1, wrong);
  s.record(e);
  t.wait(e);  // the event comes although the work before it failed
  t.launch(1, right);
  CHECK_NOTHROW(t.synchronize());
  CHECK(read(*m, data, 1)[0] == 5);
  CHECK_THROWS_AS(s.synchronize(), range_error);
}

TEST_CASE("a wait past its deadline in a plain launch is a stall") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> x = signals.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.wait(x, 3, 0); };
  stream s = m->new_stream(1);
  s.launch(1, k, {.deadline = 0.1});
  const std::string text = failure_of<stall_error>([&] { s.synchronize(); });
  check_parts(text, {"deadline of 0.1 s", "PE 1 block 0", message("plain_launch_kernels.cpp:", line), ">= 3 wanted",
                     "0 seen", "from PE 0"});
  CHECK(text.find("PE 0 block 0") == std::string::npos);  // there is no such block
  s.launch(1, STARLING_KERNEL(block & b) { b.signal_set(x, 1, 1); });
  CHECK_NOTHROW(s.synchronize());
  check_usable(*m);
}

TEST_CASE("an error in a graph surfaces at synchronize of the stream that launched it") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  const sym<int> x = data.data();
  auto k = STARLING_KERNEL(block & b) { b.p(x, 1, 1 + *x.on(b.pe())); };
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  event joined = m->new_event(1);
  const graph g = m->record(s, [&] {
    s.record(forked);
    t.wait(forked);
    t.launch(1, k);
    t.record(joined);
    s.wait(joined);
  });
  g.launch(s);  // PE 1 puts 1 to itself
  CHECK_NOTHROW(s.synchronize());
  g.launch(s);  // and now names PE 2
  check_parts(failure_of<range_error>([&] { s.synchronize(); }), {"put at ", "PE 2 of a machine with 2"});
  m->fill(data.on(1), 0, sizeof(int));
  g.launch(s);
  CHECK_NOTHROW(s.synchronize());
  CHECK(read(*m, data, 1)[0] == 1);
}

}  // namespace
}  // namespace starling::test::plain_launch_tests
