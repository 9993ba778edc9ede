// A kernel that names a PE which does not exist: range_error with the call, its place, and the PEs there are.
#include "support/failure.hpp"
#include "support/levels.hpp"
#include "support/usable.hpp"

namespace starling::test::pe_range_tests {
namespace {

// Two PEs, a source of data and a signal.
struct fixture {
  explicit fixture(machine& m) : data(zeroed<int>(m, 8)), signals(zeroed<signal>(m, 1)) {}
  symmetric_array<int> data;
  symmetric_array<signal> signals;
};

template <class Kernel>
void check_refused(machine& m, const Kernel& k, const char* call, int line, int pe) {
  const std::string text = failure_of<range_error>([&] { m.run(2, k); });
  check_parts(text, {std::string(call) + " at ", message("pe_range_kernels.cpp:", line),
                     message("PE ", pe, " of a machine with 2"), "PEs are numbered from 0 to 1", "role all"});
  check_usable(m);
}

TEST_CASE("put to a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    b.put(x, x.on(b.pe()) + 4, 4, 2);
    b.sync_all();
  };
  check_refused(*m, k, "put", line, 2);
}

TEST_CASE("put to a negative PE, by one thread") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() == 0) b.thread().put_nbi(x, x.on(b.pe()) + 4, 4, -1);
    b.sync_all();
  };
  check_refused(*m, k, "put", line, -1);
}

TEST_CASE("iput to a PE that does not exist, by a warp of one PE") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    at_level(b, level::warp, [&](const auto& w) {
      if (w.pe() == 1) w.iput(x, 2, x.on(1), 1, 2, 1000000);
    });
    b.sync_all();
  };
  check_refused(*m, k, "put", line, 1000000);
}

TEST_CASE("p to a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.p(x, 1, b.n_pes()); };
  check_refused(*m, k, "put", line, 2);
}

TEST_CASE("put_signals of which one goes to a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const sym<signal> s = f.signals.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    b.put_signals<int>(3, [=](int pe) { return signalled_put<int>{x, 4, s, pe}; }, [](int, index_t) { return 1; }, 1);
    b.sync_all();
  };
  check_refused(*m, k, "put", line, 2);
}

TEST_CASE("put_signal to a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const sym<signal> s = f.signals.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.put_signal(x, x.on(b.pe()) + 4, 4, s, 1, 9); };
  check_refused(*m, k, "put", line, 9);
}

TEST_CASE("put_signal from a generator to a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const sym<signal> s = f.signals.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    b.put_signal(x, [](index_t) { return 1; }, 4, s, 1, -7);
  };
  check_refused(*m, k, "put", line, -7);
}

TEST_CASE("packets to a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  auto boxes = zeroed<packet>(*m, 1);
  const sym<packet> x = boxes.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    b.put_packets<int>(x, [](index_t) { return packet_content<int>{}; }, 1, 1, 5);
  };
  check_refused(*m, k, "put", line, 5);
}

TEST_CASE("get from a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.get(x.on(b.pe()), x + 4, 4, 3); };
  check_refused(*m, k, "get", line, 3);
}

TEST_CASE("g from a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { *x.on(b.pe()) = b.g(x + 4, -2); };
  check_refused(*m, k, "get", line, -2);
}

TEST_CASE("a signal set at a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<signal> s = f.signals.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.signal_set(s, 1, 2); };
  check_refused(*m, k, "put", line, 2);
}

TEST_CASE("an atomic at a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { b.atomic_fetch_add(x, 1, 2); };
  check_refused(*m, k, "atomic", line, 2);
}

TEST_CASE("a broadcast from a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { *x.on(b.pe()) = b.broadcast(b.pe(), 2); };
  check_refused(*m, k, "broadcast", line, 2);
}

TEST_CASE("a wrong PE ends blocks that wait, at once and without a stall") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const sym<signal> s = f.signals.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.index() == 1 && b.pe() == 1)
      b.p(x, 1, 2);
    else
      b.wait(s, 1);
  };
  // With the deadline of 10 s this test would take that long if the waits did not end.
  check_refused(*m, k, "put", line, 2);
}

}  // namespace
}  // namespace starling::test::pe_range_tests
