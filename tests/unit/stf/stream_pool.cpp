// Stream slots: what waits for a sync point starts after it, directly or by what slots cover of each other; random
// orders against a count that the host keeps.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "stf/order/stream_pool.hpp"
#include "support/random.hpp"

namespace starling::test::stream_pool_tests {
namespace {

using stf::stream_pool;
using stf::stream_slot;
using stf::sync_point;
using stf::sync_point_list;

TEST_CASE("a list of sync points keeps the latest of each slot") {
  sync_point_list list;
  for (const sync_point m : {sync_point{1, 5}, sync_point{2, 3}, sync_point{1, 4}, sync_point{1, 9}, sync_point{2, 3}})
    list.add(m);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> seen;
  for (const sync_point& m : list) seen.emplace_back(m.slot, m.number);
  CHECK(seen == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{1, 9}, {2, 3}});
  list.clear();
  CHECK(list.empty());
}

TEST_CASE("a slot that waited for another covers what that one covers") {
  stream_pool streams(machine::host(3));
  sync_point_list none;
  stream_slot& a = streams.take(0, none);
  stream_slot& b = streams.take(1, none);
  stream_slot& c = streams.take(2, none);
  const sync_point first = a.record();
  const auto order = [&](stream_slot& later, const sync_point& m) {
    sync_point_list list;
    list.add(m);
    streams.order(later, list);
  };
  CHECK_FALSE(b.covers(first));
  order(b, first);
  CHECK(b.covers(first));
  const sync_point second = b.record();
  CHECK_FALSE(c.covers(first));
  order(c, second);
  CHECK(c.covers(first));
  CHECK(c.covers(second));
  // Not what comes later.
  const sync_point third = a.record();
  CHECK_FALSE(c.covers(third));
  streams.wait_for_all();
  CHECK(a.completed() == third.number);
  for (stream_slot* slot : {&a, &b, &c}) slot->leave();
}

TEST_CASE("tasks with a priority have slots of their own, whose streams are made when they are used") {
  stream_pool streams(machine::host(2));
  const sync_point_list none;
  std::vector<stream_slot*> seen;
  for (const int pe : {0, 1})
    for (const int priority : {0, 1, 2}) {
      stream_slot& slot = streams.take(pe, none, priority);
      CHECK(slot.pe() == pe);
      CHECK(slot.used() == (priority == 0));
      CHECK(std::find(seen.begin(), seen.end(), &slot) == seen.end());
      seen.push_back(&slot);
      sync_point_list first;
      first.add(slot.record());
      slot.leave();
      CHECK(&streams.take(pe, first, priority) == &slot);
      slot.leave();
      CHECK(&streams.take(pe, first, (priority + 1) % 3) != &slot);
    }
  CHECK(streams.take(host_place, none, 2).used());
  streams.wait_for_all();
}

TEST_CASE("a slot whose newest work is waited for is taken again") {
  stream_pool streams(machine::host(1));
  sync_point_list before;
  stream_slot& a = streams.take(0, before);
  before.add(a.record());
  // Somebody has it.
  stream_slot& b = streams.take(0, before);
  CHECK(&a != &b);
  a.leave();
  CHECK(&streams.take(0, before) == &a);
  a.leave();
  a.record();
  // It has newer work now.
  stream_slot& c = streams.take(0, before);
  CHECK(&c != &a);
  b.leave();
  c.leave();
}

// Work number k says that it is over; work that waits for sync points looks whether all they cover is.
struct watched {
  struct piece {
    sync_point end;
    std::shared_ptr<std::atomic<bool>> over;
  };
  std::vector<piece> all;
  std::atomic<int> wrong{0};

  void put(stream_pool& streams, stream_slot& slot, const std::vector<std::size_t>& after) {
    sync_point_list before;
    std::vector<std::shared_ptr<std::atomic<bool>>> wanted;
    for (const std::size_t k : after) {
      before.add(all[k].end);
      wanted.push_back(all[k].over);
    }
    streams.order(slot, before);
    auto over = std::make_shared<std::atomic<bool>>(false);
    slot.stream().call([this, wanted, over] {
      for (const auto& w : wanted)
        if (!*w) ++wrong;
      *over = true;
    });
    all.push_back({slot.record(), over});
  }
};

TEST_CASE("random orders between slots are kept") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    random r(seed);
    INFO("STARLING_TEST_SEED=" << r.seed);
    const int n_pes = 1 + static_cast<int>(r.below(3));
    stream_pool streams(machine::host(n_pes));
    watched work;
    for (int i = 0; i < 400; ++i) {
      std::vector<std::size_t> after;
      const index_t n = r.below(4);
      // Mostly recent work, at times what no recorded point is near any more.
      for (index_t k = 0; k < n && !work.all.empty(); ++k) {
        const auto size = static_cast<index_t>(work.all.size());
        after.push_back(static_cast<std::size_t>(
            size - 1 - (r.below(5) == 0 ? r.below(size) : r.below(std::min<index_t>(size, 6)))));
      }
      sync_point_list before;
      for (const std::size_t k : after) before.add(work.all[k].end);
      if (r.below(4) == 0) {
        const int from = static_cast<int>(r.below(n_pes + 1)) - 1;
        const int to = static_cast<int>(r.below(n_pes + 1)) - 1;
        work.put(streams, streams.for_copy(from, to), after);
      } else {
        stream_slot& slot =
            streams.take(static_cast<int>(r.below(n_pes + 1)) - 1, before, static_cast<int>(r.below(3)));
        work.put(streams, slot, after);
        slot.leave();
      }
      if (r.below(60) == 0) {
        streams.wait_for_all();
        for (const auto& p : work.all)
          if (!*p.over) FAIL_CHECK("not over");
      }
      if (r.below(40) == 0) {
        sync_point_list one;
        const auto& p = work.all[static_cast<std::size_t>(r.below(static_cast<index_t>(work.all.size())))];
        one.add(p.end);
        streams.wait(one);
        CHECK(*p.over);
        CHECK(streams.over(one));
      }
    }
    streams.wait_for_all();
    CHECK(work.wrong == 0);
  }
}

TEST_CASE("of work from before a recording it is not known whether it is over") {
  machine m = machine::host(1);
  if (m.checking()) return;  // nothing runs there before somebody waits
  stream_pool streams(m);
  CHECK(streams.over({}));
  std::atomic<bool> go{false};
  stream_slot& slot = streams.take(0, {});
  slot.stream().call([&] {
    while (!go) std::this_thread::yield();
  });
  (void)slot.record();
  slot.leave();
  streams.begin_recording();
  streams.abandon_recording();
  streams.resume();
  CHECK_FALSE(streams.over({}));
  go = true;
  streams.wait_for_all();
}

}  // namespace
}  // namespace starling::test::stream_pool_tests
