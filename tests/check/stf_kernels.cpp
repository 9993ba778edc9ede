// Launches of thread hierarchies and parallel loops in check mode: right ones pass all schedules, and blocks that do
// not wait for each other are found.
#include "starling/stf/context.hpp"
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

// Every thread reads what another one of its block wrote.
template <class Spec, class Wait>
std::optional<check_error> found_across(const Spec& spec, index_t shift, const Wait& wait) {
  machine m = checked_machine(1, 8);
  auto a = zeroed<int>(m, 32);
  auto b = m.allocate<int>(32);
  const auto body = [=](const auto& th, slice<int> from, slice<int> to) {
    const index_t i = th.rank();
    from(i) = static_cast<int>(i);
    wait(th);
    to(i) = from(i / 8 * 8 + (i + shift) % 8);
  };
  const slice<int> da(a.on(0), 32);
  const slice<int> db(b.on(0), 32);
  std::optional<check_error> found;
  try {
    launch_all(m, spec, 1, body_of(spec, body), da, db);
    for (index_t i = 0; i < 32; ++i) CHECK(db(i) == i / 8 * 8 + (i + shift) % 8);
  } catch (const check_error& e) {
    found = e;
  }
  CHECK(m.checked().threads_seen == 32);
  return found;
}

void check_within(const std::optional<check_error>& e) {
  REQUIRE(e);
  CHECK_MESSAGE(e->what_kind() == defect::within_block, e->what());
  check_parts(e->what(), {"writes them at tests/check/stf_kernels.cpp:", "reads them at tests/check/stf_kernels.cpp:"});
}

TEST_CASE("threads of a block are ordered by its barrier, and by nothing else") {
  const auto nothing = [](const auto&) {};
  check_within(found_across(con<32>(), 1, nothing));
  check_within(found_across(par(32), 1, nothing));
  CHECK_FALSE(found_across(con<32>(), 1, [](const auto& th) { th.sync(); }));
  CHECK_FALSE(found_across(par(1, con<32>()), 1, [](const auto& th) { th.inner().sync(); }));
}

TEST_CASE("a barrier of a part of a block orders that part") {
  const auto spec = par(1, con(8, hw_scope::thread, con<4>()));
  const auto within_four = [](const auto& th) { th.inner().inner().sync(); };
  check_within(found_across(spec, 4, within_four));
  CHECK_FALSE(found_across(spec, 4, [](const auto& th) { th.inner().sync(); }));
  CHECK_FALSE(found_across(spec, 8, within_four));
  CHECK_FALSE(found_across(par(1, con(4, hw_scope::thread, con<8>())), 5, within_four));
}

TEST_CASE("threads that do not come to a barrier of theirs") {
  const auto all_but_one = [](const auto& th) {
    if (th.rank() != 5) th.inner().sync();
  };
  const auto some = [](const auto& th) {
    if (th.rank() % 4 != 1) th.inner().inner().sync();
  };
  for (const auto& e : {found_across(par(1, con<32>()), 8, all_but_one),
                        found_across(par(1, con(8, hw_scope::thread, con<4>())), 8, some)}) {
    REQUIRE(e);
    CHECK_MESSAGE(e->what_kind() == defect::collective, e->what());
    check_parts(e->what(), {"threads missing", "sync at tests/check/stf_kernels.cpp:"});
  }
}

TEST_CASE("a launch in a persistent loop") {
  constexpr auto spec = par(2, con<32>());
  for (const bool waits : {true, false}) {
    std::vector<int> x(64);
    for (int i = 0; i < 64; ++i) x[static_cast<std::size_t>(i)] = i;
    const machine m = checked_machine(1, 8);
    const auto run = [&] {
      persistent_ctx ctx(m);
      auto a = ctx.logical_data(x);
      ctx.repeat(3, [&] {
        ctx.parallel_for(a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
        ctx.launch(spec, exec_place::device(0), a.rw())
                ->*STARLING_KERNEL(thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<int> v) {
          const index_t first = th.rank() / 32 * 32;
          const int other = v(first + (th.rank() + 1) % 32);
          if (waits) th.inner().sync();
          v(th.rank()) = other;
        };
      });
      ctx.finalize();
    };
    if (waits) {
      run();
      for (int i = 0; i < 64; ++i) CHECK(x[static_cast<std::size_t>(i)] == i / 32 * 32 + (i + 3) % 32 + 3);
    } else {
      const auto e = finding_of(run);
      REQUIRE(e);
      CHECK_MESSAGE(e->what_kind() == defect::within_block, e->what());
    }
    CHECK(m.checked().threads_seen == 32);
  }
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
