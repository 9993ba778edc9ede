// Levels that synchronise: threads that exchange values in rounds, at every level of the hardware, with other threads
// in between. A barrier that lets a thread through early, or groups that are mixed up, give wrong values.
#include "support/random.hpp"
#include "support/stf/launching.hpp"
#include "support/test_machine.hpp"

namespace starling::test::synchronising_tests {
namespace {

using namespace stf;

constexpr int rounds = 6;

STARLING_HD constexpr index_t value_of(index_t thread, index_t round) {
  return static_cast<index_t>(mix(static_cast<std::uint64_t>(thread), static_cast<std::uint64_t>(round)) >> 1);
}

// In each round every thread leaves a value in its group's slots, and after a barrier compares its right neighbour's;
// another barrier, and the next round. Groups further in synchronise a number of times of their own.
template <int Level>
struct exchange {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<index_t> slots, slice<int> wrong) const {
    const auto group = group_of<Level>(th);
    const index_t n = group.size();
    const index_t first = th.rank() - group.rank();
    const index_t right = first + (group.rank() + 1) % n;
    int bad = 0;
    for (index_t round = 0; round < rounds + first % 3; ++round) {
      slots(th.rank()) = value_of(th.rank(), round);
      group.sync();
      bad += slots(right) != value_of(right, round);
      group.sync();
    }
    wrong(th.rank()) = bad;
  }

  template <int L, class Th>
  STARLING_HD static auto group_of(const Th& th) {
    if constexpr (L == 0)
      return th;
    else
      return group_of<L - 1>(th.inner());
  }
};

template <int Level, class Spec>
void check_exchange(machine& m, const Spec& spec, index_t size) {
  CAPTURE(Level);
  CAPTURE(size);
  auto slots = poisoned<index_t>(m, size);
  auto wrong = poisoned<int>(m, size);
  launch_all(m, spec, 1, body_of(spec, exchange<Level>()), slice<index_t>(slots.on(0), size),
             slice<int>(wrong.on(0), size));
  CHECK(read(m, wrong, 0) == std::vector<int>(static_cast<std::size_t>(size), 0));
}

TEST_CASE("all threads of a hierarchy") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_t n : {1, 2, 7, 32, 33, 100, 256}) check_exchange<0>(*m, con(n), n);
  check_exchange<0>(*m, con<64>(), 64);
  check_exchange<0>(*m, con<48>(hw_scope::thread), 48);
  check_exchange<0>(*m, con(2, con<32>()), 64);
  check_exchange<0>(*m, con(5, par(32)), 160);
  check_exchange<0>(*m, con(2, par(3, con(32))), 192);
  check_exchange<0>(*m, con(4, hw_scope::thread, par(3)), 12);
  check_exchange<0>(*m, con(1280), 1280);
  check_exchange<0>(*m, con<1>(), 1);
}

TEST_CASE("as a program, beside a stream's launches") {
  auto m = test_machine(1);
  if (!m) return;
  const auto spec = con(3, con<32>());
  auto slots = poisoned<index_t>(*m, 96);
  auto wrong = poisoned<int>(*m, 96);
  const auto body = body_of(spec, exchange<0>());
  const slice<index_t> s(slots.on(0), 96);
  const slice<int> w(wrong.on(0), 96);
  const hierarchy_map map = plan_launch(*m, spec, 0, 1, body, s, w);
  CHECK(map.resident);
  using kernel_t = launch_kernel<std::remove_const_t<decltype(spec)>, std::remove_const_t<decltype(body)>,
                                 slice<index_t>, slice<int>>;
  m->run(map.blocks, kernel_t{map, body, {{{s}, {w}}}}, {.threads = map.threads});
  CHECK(read(*m, wrong, 0) == std::vector<int>(96, 0));
}

TEST_CASE("groups of threads in a block") {
  auto m = test_machine(1);
  if (!m) return;
  check_exchange<1>(*m, par(9, con<32>()), 288);
  check_exchange<1>(*m, par(9, con(20)), 180);
  check_exchange<1>(*m, con(2, con<32>()), 64);
  check_exchange<1>(*m, con(4, hw_scope::thread, con<8>()), 32);
  check_exchange<2>(*m, par(3, par(4, hw_scope::thread, con<8>())), 96);
  check_exchange<2>(*m, par(3, par(3, hw_scope::thread, con<64>())), 576);
  check_exchange<2>(*m, par(3, con(3, hw_scope::thread, con<64>())), 576);
  check_exchange<1>(*m, par(3, con(3, hw_scope::thread, con<64>())), 576);
  check_exchange<1>(*m, par(3, con(5, hw_scope::thread, par(2))), 30);
}

TEST_CASE("groups of blocks, one group after another") {
  auto m = test_machine(1);
  if (!m) return;
  check_exchange<1>(*m, par(3, con(4, par(32))), 384);
  check_exchange<1>(*m, par(2, con(3, con(64))), 384);
  check_exchange<2>(*m, par(2, con(3, con(64))), 384);
  check_exchange<1>(*m, par(hw_scope::device, con(320)), 320);
}

// Levels by number, mixed in one body, with values in the scratch memory of each.
struct at_all_levels {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int> wrong) const {
    const slice<index_t> all = th.template storage<index_t>(0);
    const slice<index_t> mine = th.template storage<index_t>(1);
    const auto ti = th.inner();
    int bad = 0;
    for (index_t round = 0; round < rounds; ++round) {
      mine(ti.rank()) = value_of(th.rank(), round);
      th.sync(1);
      index_t sum = 0;
      for (index_t i = 0; i < ti.size(); ++i) sum += mine(i) & 0xffff;
      if (ti.rank() == 0) all(th.rank(0)) = sum;
      th.sync(0);
      index_t wanted = 0;
      for (index_t i = 0; i < th.size(); ++i) wanted += value_of(i, round) & 0xffff;
      for (index_t g = 0; g < th.size(0); ++g) wanted -= all(g);
      bad += wanted != 0;
      th.sync();
    }
    wrong(th.rank()) = bad;
  }
};

template <class Spec>
void check_all_levels(machine& m, const Spec& spec, index_t size) {
  auto wrong = poisoned<int>(m, size);
  launch_all(m, spec, 1, body_of(spec, at_all_levels()), slice<int>(wrong.on(0), size));
  CHECK(read(m, wrong, 0) == std::vector<int>(static_cast<std::size_t>(size), 0));
}

TEST_CASE("scratch memory of blocks and of the device") {
  auto m = test_machine(1);
  if (!m) return;
  check_all_levels(*m, con(4, mem(4 * 8), con(32, mem(32 * 8))), 128);
  check_all_levels(*m, con(4, hw_scope::thread, mem(4 * 8), con(16, mem(16 * 8))), 64);
}

// Scratch memory of groups that are not alone: nobody else writes into it.
struct own_storage {
  template <class Th>
  STARLING_HD void operator()(const Th& th, slice<int> wrong) const {
    const slice<index_t> outer = th.template storage<index_t>(0);
    const slice<index_t> middle = th.template storage<index_t>(1);
    const slice<index_t> inner = th.template storage<index_t>(2);
    const auto last = th.inner().inner();
    int bad = outer.extent(0) != 2 || middle.extent(0) != 4 || inner.extent(0) != 10;
    inner(last.rank()) = th.rank();
    if (last.rank() == 0) middle(th.rank(1)) = th.rank();
    if (th.rank(1) == 0 && last.rank() == 0) outer(th.rank(0)) = th.rank();
    last.sync();
    for (index_t i = 0; i < last.size(); ++i) bad += inner(i) != th.rank() - last.rank() + i;
    bad += middle(th.rank(1)) != th.rank() - last.rank();
    if (th.rank(1) == 0) bad += outer(th.rank(0)) != th.rank() - last.rank();
    wrong(th.rank()) = bad;
  }
};

TEST_CASE("every group has scratch memory of its own") {
  auto m = test_machine(1);
  if (!m) return;
  const auto check = [&](const auto& spec) {
    auto wrong = poisoned<int>(*m, 64);
    launch_all(*m, spec, 1, body_of(spec, own_storage()), slice<int>(wrong.on(0), 64));
    CHECK(read(*m, wrong, 0) == std::vector<int>(64, 0));
  };
  check(par(2, mem(16), par(4, mem(32), con(8, mem(80)))));
  check(par(2, mem(16), par(4, hw_scope::thread, mem(32), con(8, mem(80)))));
}

TEST_CASE("a level without mem has no storage") {
  auto m = test_machine(1);
  if (!m) return;
  const auto spec = par(2, con<4>());
  auto extents = poisoned<index_t>(*m, 2);
  auto body = STARLING_KERNEL(thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<index_t> e) {
    if (th.rank() == 0)
      for (int l = 0; l < 2; ++l) e(l) = th.storage<double>(l).extent(0);
  };
  launch_all(*m, spec, 1, body, slice<index_t>(extents.on(0), 2));
  CHECK(read(*m, extents, 0) == std::vector<index_t>{0, 0});
}

}  // namespace
}  // namespace starling::test::synchronising_tests
