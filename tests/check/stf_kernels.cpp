// Launches of thread hierarchies and parallel loops in check mode: right ones pass all schedules, and blocks that do
// not wait for each other are found.
#include "starling/stf/detail/for_kernel.hpp"
#include "support/checked.hpp"
#include "support/stf/launching.hpp"

namespace starling::test::stf_kernels_tests {
namespace {

using namespace stf;

// Which of the two accesses comes first depends on the schedule.
void check_unordered(const check_error& e) {
  const bool found = e.what_kind() == defect::unordered_read || e.what_kind() == defect::unordered_write ||
                     e.what_kind() == defect::within_block || e.what_kind() == defect::loop_elements;
  CHECK_MESSAGE(found, e.what());
}

// Every thread reads what a thread of another block wrote.
template <bool Waits>
struct read_across {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int> a, slice<int> b) const {
    a(th.rank()) = static_cast<int>(th.rank());
    if constexpr (Waits) th.sync();
    b(th.rank()) = a(th.size() - 1 - th.rank());
  }
};

TEST_CASE("blocks that synchronise pass, blocks that do not are found") {
  machine m = checked_machine(1);
  const auto spec = con(4, con<32>());
  auto a = m.allocate<int>(128);
  auto b = m.allocate<int>(128);
  const slice<int> da(a.on(0), 128);
  const slice<int> db(b.on(0), 128);
  launch_all(m, spec, 1, body_of(spec, read_across<true>()), da, db);
  for (index_t i = 0; i < 128; ++i) CHECK(db(i) == 127 - i);
  const auto e = finding_of([&] { launch_all(m, spec, 1, body_of(spec, read_across<false>()), da, db); });
  REQUIRE(e);
  check_unordered(*e);
}

// Threads of a block, which start in another order in each schedule.
struct turn_round {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int> a) const {
    const auto ti = th.inner();
    const slice<int> s = ti.template storage<int>(0);
    for (int round = 0; round < 3; ++round) {
      s(ti.rank()) = a(th.rank());
      ti.sync();
      a(th.rank()) = s(ti.size() - 1 - ti.rank());
      ti.sync();
    }
  }
};

TEST_CASE("threads of a block that synchronise") {
  machine m = checked_machine(1);
  const auto spec = par(3, con(16, mem(16 * sizeof(int))));
  auto a = m.allocate<int>(48);
  for (int i = 0; i < 48; ++i) a.on(0)[i] = i;
  launch_all(m, spec, 1, body_of(spec, turn_round()), slice<int>(a.on(0), 48));
  for (int i = 0; i < 48; ++i) CHECK(a.on(0)[i] == i / 16 * 16 + 15 - i % 16);
}

TEST_CASE("a program that ends while threads wait") {
  machine m = checked_machine(1);
  const auto spec = con(2, con<32>());
  const auto body = [](const auto& th) {
    if (th.rank(0) == 0) th.sync();  // block 1 never comes
  };
  const auto e = finding_of([&] { launch_all(m, spec, 1, body); });
  REQUIRE(e);
  CHECK(std::string(name(e->what_kind())) == std::string(name(defect::lost_signal)));
}

TEST_CASE("elements of a loop that depend on each other") {
  machine m = checked_machine(1);
  auto a = m.allocate<int>(1001);
  stream s = m.new_stream(0);
  const auto shift = [](index_t i, slice<int> v) { v(i) = v(i + 1); };
  const auto e = finding_of([&] {
    s.fill(a.on(0), 0, 1001 * sizeof(int));
    enqueue_for(s, {4, 32}, box(1000), shift, slice<int>(a.on(0), 1001));
    s.synchronize();
  });
  REQUIRE(e);
  check_unordered(*e);
}

}  // namespace
}  // namespace starling::test::stf_kernels_tests
