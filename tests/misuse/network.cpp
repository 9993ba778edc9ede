// Machines on several hosts: arguments that make no sense, and cards that cannot do what they are asked for.
#include <doctest/doctest.h>

#include "starling/machine/machine.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/memory.hpp"

namespace starling::test::network_tests {
namespace {

TEST_CASE("hosts and rings that cannot be") {
  check_parts(failure_of<argument_error>([] { machine::host(4, {.hosts = {0, 1}}); }), {"hosts has 2", "4 PEs"});
  check_parts(failure_of<argument_error>([] { machine::host(2, {.hosts = {0, -1}}); }), {"hosts[1] = -1"});
  check_parts(failure_of<argument_error>([] { machine::host(2, {.hosts = {0, 2}}); }), {"hosts[1] = 2", "at most"});
  for (const int depth : {0, -4, 1, 3, 65536})
    check_parts(failure_of<argument_error>([&] { machine::host(2, {.hosts = {0, 1}, .queue_depth = depth}); }),
                {"queue_depth = " + std::to_string(depth), "power of two", "32768"});
}

TEST_CASE("variables that cannot be read") {
  {
    const environment_guard hosts("STARLING_HOSTS", "0");
    check_parts(failure_of<argument_error>([] { machine::host(2); }), {"STARLING_HOSTS=\"0\"", "at least 1"});
  }
  const environment_guard card("STARLING_CARD", "infiniband");
  check_parts(failure_of<argument_error>([] { machine::host(2); }), {"STARLING_CARD=\"infiniband\"", "model"});
}

TEST_CASE("a card of GPUs is refused between virtual devices") {
  check_parts(failure_of<argument_error>([] { machine::host(2, {.hosts = {0, 1}, .card = card::proxy}); }),
              {"proxy", "for GPUs", "card::model"});
  const environment_guard card("STARLING_CARD", "proxy");
  check_parts(failure_of<argument_error>([] { machine::host(2, {.hosts = {0, 1}}); }), {"STARLING_CARD=model"});
  CHECK(machine::host(2).size() == 2);  // there is none
}

TEST_CASE("STARLING_HOSTS deals PEs to hosts") {
  const environment_guard hosts("STARLING_HOSTS", "2");
  machine m = machine::host(4);
  CHECK(m.link(0, 1) == peer_link::direct);
  CHECK(m.link(1, 2) == peer_link::card);
  CHECK(machine::host(1).size() == 1);
}

struct caught {
  int pe, block, peer, status;
  operation op;
  std::string text;
};

template <class Kernel>
caught network_error_of(machine& m, const Kernel& k) {
  try {
    m.run(1, k);
  } catch (const network_error& e) {
    return {e.pe(), e.block(), e.peer(), e.status(), e.operation(), e.what()};
  }
  FAIL("no network_error");
  return {};
}

TEST_CASE("a lost link ends the program, wherever its blocks wait, and names the call") {
  for (const int how : {0, 1, 2, 3}) {
    machine m = machine::host(4, {.faults = {{lose_link{{.pe = 1, .nth = 2}}}}, .hosts = {0, 0, 1, 1}});
    auto x = zeroed<int>(m, 64);
    auto flags = zeroed<signal>(m, 1);
    const caught c = network_error_of(m, [how, x = x.data(), flag = flags.data()](block& b) {
      if (b.pe() != 1) return b.wait(flag, 1, 1);
      b.p(x, 1, 2);
      if (how == 3) {
        (void)b.atomic_fetch_add(x, 1, 3);
      } else {
        b.put_signal(x, x.on(1), 64, flag, 1, 3);
      }
      if (how == 1) b.quiet();
      if (how == 2) b.wait(flag, 1, 3);  // that nobody raises
    });
    CHECK(c.pe == 1);
    CHECK(c.block == 0);
    CHECK(c.peer == 3);
    CHECK(c.status == 0x15);
    CHECK(c.op == (how == 3 ? operation::atomic : operation::put));
    check_parts(c.text, {how == 3 ? "atomic at" : "put at", "network.cpp:", "PE 1 block 0", "PE 3",
                         "retry count exceeded", "machine::inject({})", "injected fault: lose_link: PE 1 block 0"});
    CHECK(m.faults_fired().size() == 1);
    m.inject({});
    m.run(1, [x = x.data()](block& b) { b.p(x + b.pe(), b.pe(), (b.pe() + 2) % 4); });
    CHECK(x.on(3)[1] == 1);
  }
}

TEST_CASE("calls for PEs of the same host lose no link") {
  machine m = machine::host(4, {.faults = {{lose_link{}}}, .hosts = {0, 0, 1, 1}});
  auto x = zeroed<int>(m, 4);
  m.run(1, [x = x.data()](block& b) { b.p(x, 1, b.pe() ^ 1); });
  CHECK(m.faults_fired().empty());
}

TEST_CASE("bounds are held by way of a card too") {
  machine m = machine::host(2, {.hosts = {0, 1}});
  auto x = zeroed<int>(m, 16);
  const std::string text = failure_of<range_error>([&] {
    m.run(1, [x = x.data()](block& b) {
      if (b.pe() == 0) b.put(x, x.on(0), 1000, 1);
    });
  });
  check_parts(text, {"4000 bytes", "PE 1"});
}

}  // namespace
}  // namespace starling::test::network_tests
