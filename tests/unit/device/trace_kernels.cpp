// What a block records of its calls: operation, peer, bytes, signal and value, in the order in which they began.
#include <random>

#include "support/memory.hpp"
#include "support/stall.hpp"
#include "support/test_machine.hpp"
#include "support/trace_file.hpp"

namespace starling::test::trace_tests {
namespace {

// Also where STARLING_HOSTS plays several: there each call to another host is entries of a card too.
const host_options one_host{.hosts = {0, 0}};

struct expected {
  trace_operation op;
  int peer;
  std::uint64_t bytes;
  std::uint64_t signal = 0;
  std::uint64_t value = 0;
  bool adds = false;
};

void check_records(const std::vector<trace_record>& found, const std::vector<expected>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(std::string(name(found[i].op())) == name(wanted[i].op));
    CHECK(found[i].peer == wanted[i].peer);
    CHECK(found[i].bytes == wanted[i].bytes);
    CHECK(found[i].signal == wanted[i].signal);
    CHECK(found[i].value == wanted[i].value);
    CHECK(found[i].adds() == wanted[i].adds);
    CHECK(found[i].start <= found[i].end);
    if (i > 0) CHECK(found[i - 1].start <= found[i].start);
  }
}

TEST_CASE("every call is one record") {
  auto m = test_machine(2, one_host);
  if (!m) return;
  std::random_device random;
  const index_t n = 1 + random() % 500;
  const std::uint64_t value = 1 + random() % 1000000;
  CAPTURE(n);
  CAPTURE(value);
  // The first allocation of the machine is at offset 0.
  auto signals = zeroed<signal>(*m, 4);
  auto data = zeroed<float>(*m, n);
  auto sources = zeroed<float>(*m, n);
  auto results = zeroed<float>(*m, n);
  auto words = zeroed<std::uint64_t>(*m, 1);
  const sym<signal> s = signals.data();
  const sym<float> x = data.data();
  const sym<float> from = sources.data();
  const sym<float> back = results.data();
  const sym<std::uint64_t> w = words.data();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    const float* mine = from.on(b.pe());
    b.put(x, mine, n, other);
    b.put(x, [=](index_t) { return 0.0f; }, n, other);
    b.put_nbi(x, mine, n, other);
    b.iput(x, 1, mine, 1, n, other);
    b.p(w, std::uint64_t{3}, other);
    b.quiet();
    b.put_signal(x, mine, n, s, value, other);
    b.put_signal(x, [=](index_t) { return 0.0f; }, n, s + 1, value, other, signal_op::add);
    b.wait(s, value, other);
    b.wait(s + 1, compare::eq, value, other);
    b.wait_all(s, 2, value);
    b.fence();
    b.signal_set(s + 2, value + 1, other);
    b.signal_add(s + 3, 2, other);
    b.get(back.on(b.pe()), x, n, other);
    (void)b.g(w, other);
    (void)b.atomic_fetch_add(w, 1, other);
    b.sync_pe();
    b.sync_all();
    (void)b.all_reduce(1, plus{});
    (void)b.broadcast(1, 1);
  };
  const trace_file t = traced(*m, [&] { m->run(1, k); });
  REQUIRE(t.programs.size() == 1);
  const auto bytes = static_cast<std::uint64_t>(n) * 4;
  using op = trace_operation;
  for (int pe = 0; pe < 2; ++pe) {
    CAPTURE(pe);
    const int other = 1 - pe;
    const traced_block& b = t.programs[0].at(pe, 0);
    check_records(b.records, {{op::put, other, bytes},
                              {op::put, other, bytes},
                              {op::put, other, bytes},
                              {op::put, other, bytes},
                              {op::put, other, 8},
                              {op::quiet, any_pe, 0},
                              {op::put_signal, other, bytes, 0, value},
                              {op::put_signal, other, bytes, 8, value, true},
                              {op::wait, other, 1, 0, value},
                              {op::wait, other, 1, 8, value},
                              {op::wait, any_pe, 2, 0, value},
                              {op::fence, any_pe, 0},
                              {op::signal, other, 8, 16, value + 1},
                              {op::signal, other, 8, 24, 2, true},
                              {op::get, other, bytes},
                              {op::get, other, 8},
                              {op::atomic, other, 8},
                              {op::sync_pe, any_pe, 0},
                              {op::sync_all, any_pe, 0},
                              {op::all_reduce, any_pe, 0},
                              {op::broadcast, 1, 0}});
    CHECK(b.head.written == b.records.size());
    CHECK(b.head.begin.ticks <= b.records.front().start);
    CHECK(b.records.back().end <= b.head.end.ticks);
    CHECK(b.head.begin.ns <= b.head.end.ns);
  }
}

TEST_CASE("packets: one record for those sent, and the wait for one inside it") {
  auto m = test_machine(2, one_host);
  if (!m) return;
  constexpr index_t n = 7;
  auto mail = zeroed<packet>(*m, 2 * n);
  const sym<packet> x = mail.data();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    b.put_packets<float>(x, [](index_t) { return packet_content<float>{}; }, n, 5, other);
    b.put_packets<float>(x + n, [&](index_t i) { return b.thread().take_packet<float>(x + i, 5, other); }, n, 6, other);
  };
  const trace_file t = traced(*m, [&] { m->run(1, k, {.threads = 32}); });
  for (int pe = 0; pe < 2; ++pe) {
    const traced_block& b = t.programs[0].at(pe, 0);
    const auto sent = b.of(trace_operation::put_packets);
    const auto taken = b.of(trace_operation::take_packet);
    check_records(sent, {{trace_operation::put_packets, 1 - pe, 8 * n, 8, 5},
                         {trace_operation::put_packets, 1 - pe, 8 * n, 8 + 16 * n, 6}});
    // A thread of a GPU takes one; a block of a virtual device all, of which those that it finds there are only
    // counted.
    REQUIRE(!taken.empty());
    std::uint64_t count = 0;
    for (const trace_record& r : taken) {
      count += r.bytes;
      CHECK(r.value == 5);
      CHECK(r.peer == 1 - pe);
      CHECK(r.start >= sent[1].start);
      CHECK(r.end <= sent[1].end);
    }
    CHECK(count == (on_gpus() ? 1u : static_cast<unsigned>(n)));
    CHECK(taken[0].signal == 8);
  }
}

TEST_CASE("calls of a warp and of a thread are recorded when the first thread makes them") {
  auto m = test_machine(2, one_host);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    b.signal_set(s, 1, other);
    if (b.warp().rank() == 0) b.warp().signal_set(s, 2, other);
    if (b.member() == 0) b.thread().signal_set(s, 3, other);
    if (b.member() == b.members() - 1 && b.members() > 1) b.thread().signal_add(s, 0, b.pe());
  };
  const trace_file t = traced(*m, [&] { m->run(2, k, {.threads = 64}); });
  for (const traced_block& b : t.programs[0].blocks) {
    REQUIRE(b.records.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(b.records[i].value == i + 1);
  }
}

TEST_CASE("a full ring drops the oldest records and counts all") {
  auto m = test_machine(2, one_host);
  if (!m) return;
  std::random_device random;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  for (const int calls : {31, 32, 33, 32 * 3, 200 + static_cast<int>(random() % 3000)}) {
    CAPTURE(calls);
    auto k = STARLING_KERNEL(block & b) {
      // Each block fills its ring to a degree of its own.
      for (int i = 1; i <= calls + b.index(); ++i) b.signal_set(s, i, 1 - b.pe());
    };
    // Rounded up to a power of two.
    for (const int records : {32, 33}) {
      const trace_file t = traced(*m, [&] { m->run(2, k, {.threads = 32}); }, records);
      const int capacity = records == 32 ? 32 : 64;
      CHECK(t.programs[0].capacity == capacity);
      for (int block = 0; block < 2; ++block) {
        const traced_block& b = t.programs[0].at(1, block);
        const int all = calls + block;
        CHECK(b.head.written == static_cast<std::uint64_t>(all));
        const int kept = std::min(all, capacity);
        REQUIRE(b.records.size() == static_cast<std::size_t>(kept));
        for (int i = 0; i < kept; ++i) {
          const trace_record& r = b.records[static_cast<std::size_t>(i)];
          CHECK(r.value == static_cast<std::uint64_t>(all - kept + i + 1));
          CHECK(r.start <= r.end);
        }
      }
    }
  }
}

TEST_CASE("a call around more calls than the ring holds does not harm their records") {
  auto m = test_machine(1);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  auto data = zeroed<int>(*m, 1000);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  constexpr int inside = 77;
  auto k = STARLING_KERNEL(block & b) {
    b.put(
        x,
        [&](index_t i) {
          for (int j = 1; j <= (i == 0 ? inside : 0); ++j) b.thread().signal_set(s, j, 0);
          return 0;
        },
        1000, 0);
  };
  const trace_file t = traced(*m, [&] { m->run(1, k, {.threads = 32}); }, 32);
  const traced_block& b = t.programs[0].at(0, 0);
  CHECK(b.head.written == inside + 1);
  REQUIRE(b.records.size() == 32);
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(b.records[i].value == inside - 31 + i);
    CHECK(b.records[i].start <= b.records[i].end);
  }
}

TEST_CASE("without a trace there are no rings") {
  auto m = test_machine(2, one_host);
  if (!m) return;
  auto seen = zeroed<int>(*m, 1);
  const sym<int> x = seen.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() == 0) *x.on(b.pe()) = b.state().trace.heads == nullptr && b.state().trace.records == nullptr ? 1 : 2;
  };
  const auto run_and_look = [&] {
    m->run(1, k);
    return read(*m, seen, 1)[0];
  };
  CHECK(run_and_look() == 1);
  (void)traced(*m, [&] { CHECK(run_and_look() == 2); });
  CHECK(run_and_look() == 1);
}

TEST_CASE("after a stall the trace goes up to it, and the calls that did not return are open") {
  auto m = test_machine(2, one_host);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 2);
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) {
    b.signal_set(s, 7, 1 - b.pe());
    b.wait(s, 7, 1 - b.pe());
    if (b.index() == 0) b.wait(s + 1, 40 + b.pe(), 1 - b.pe());
    b.sync_pe();
  };
  const trace_file t = traced(*m, [&] { (void)stall_of([&] { m->run(2, k, {.deadline = stall_deadline}); }); });
  REQUIRE(t.programs.size() == 1);
  for (int pe = 0; pe < 2; ++pe) {
    const traced_block& waits = t.programs[0].at(pe, 0);
    REQUIRE(waits.records.size() == 3);
    CHECK(waits.records[1].end != 0);
    CHECK(waits.records[2].op() == trace_operation::wait);
    CHECK(waits.records[2].value == 40u + static_cast<unsigned>(pe));
    CHECK(waits.records[2].end == 0);
    CHECK(waits.head.end.ticks == 0);
    const traced_block& meets = t.programs[0].at(pe, 1);
    REQUIRE(meets.records.size() == 3);
    CHECK(meets.records[2].op() == trace_operation::sync_pe);
    CHECK(meets.records[2].end == 0);
  }
  REQUIRE(t.of(traced_run).size() == 1);
  CHECK(t.of(traced_run)[0].failed == 1);
}

}  // namespace
}  // namespace starling::test::trace_tests
