// Lanes: what waits for a sync point starts after it, directly or by what lanes know of each other; random orders
// against a count that the host keeps.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "stf/order/lane_set.hpp"
#include "support/random.hpp"

namespace starling::test::lanes_tests {
namespace {

using stf::lane;
using stf::lane_set;
using stf::sync_point;
using stf::sync_point_list;

TEST_CASE("a list of sync points keeps the latest of each lane") {
  sync_point_list list;
  for (const sync_point m : {sync_point{1, 5}, sync_point{2, 3}, sync_point{1, 4}, sync_point{1, 9}, sync_point{2, 3}})
    list.add(m);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> seen;
  for (const sync_point& m : list) seen.emplace_back(m.lane, m.number);
  CHECK(seen == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{1, 9}, {2, 3}});
  list.clear();
  CHECK(list.empty());
}

TEST_CASE("a lane that waited for another knows what that one knew") {
  lane_set lanes(machine::host(3));
  sync_point_list none;
  lane& a = lanes.take(0, none);
  lane& b = lanes.take(1, none);
  lane& c = lanes.take(2, none);
  const sync_point first = a.mark();
  const auto order = [&](lane& later, const sync_point& m) {
    sync_point_list list;
    list.add(m);
    lanes.order(later, list);
  };
  CHECK_FALSE(b.covers(first));
  order(b, first);
  CHECK(b.covers(first));
  const sync_point second = b.mark();
  CHECK_FALSE(c.covers(first));
  order(c, second);
  CHECK(c.covers(first));
  CHECK(c.covers(second));
  // Not what comes later.
  const sync_point third = a.mark();
  CHECK_FALSE(c.covers(third));
  lanes.wait_for_all();
  CHECK(a.completed() == third.number);
  for (lane* l : {&a, &b, &c}) l->leave();
}

TEST_CASE("tasks with a priority have lanes of their own, whose streams are made when they are used") {
  lane_set lanes(machine::host(2));
  const sync_point_list none;
  std::vector<lane*> seen;
  for (const int pe : {0, 1})
    for (const int priority : {0, 1, 2}) {
      lane& l = lanes.take(pe, none, priority);
      CHECK(l.pe() == pe);
      CHECK(l.used() == (priority == 0));
      CHECK(std::find(seen.begin(), seen.end(), &l) == seen.end());
      seen.push_back(&l);
      sync_point_list first;
      first.add(l.mark());
      l.leave();
      CHECK(&lanes.take(pe, first, priority) == &l);
      l.leave();
      CHECK(&lanes.take(pe, first, (priority + 1) % 3) != &l);
    }
  CHECK(lanes.take(host_place, none, 2).used());
  lanes.wait_for_all();
}

TEST_CASE("a lane whose newest work is waited for is taken again") {
  lane_set lanes(machine::host(1));
  sync_point_list before;
  lane& a = lanes.take(0, before);
  before.add(a.mark());
  // Somebody has it.
  lane& b = lanes.take(0, before);
  CHECK(&a != &b);
  a.leave();
  CHECK(&lanes.take(0, before) == &a);
  a.leave();
  a.mark();
  // It has newer work now.
  lane& c = lanes.take(0, before);
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

  void put(lane_set& lanes, lane& l, const std::vector<std::size_t>& after) {
    sync_point_list before;
    std::vector<std::shared_ptr<std::atomic<bool>>> wanted;
    for (const std::size_t k : after) {
      before.add(all[k].end);
      wanted.push_back(all[k].over);
    }
    lanes.order(l, before);
    auto over = std::make_shared<std::atomic<bool>>(false);
    l.stream().call([this, wanted, over] {
      for (const auto& w : wanted)
        if (!*w) ++wrong;
      *over = true;
    });
    all.push_back({l.mark(), over});
  }
};

TEST_CASE("random orders between lanes are kept") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    random r(seed);
    INFO("STARLING_TEST_SEED=" << r.seed);
    const int n_pes = 1 + static_cast<int>(r.below(3));
    lane_set lanes(machine::host(n_pes));
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
        work.put(lanes, lanes.for_copy(from, to), after);
      } else {
        lane& l = lanes.take(static_cast<int>(r.below(n_pes + 1)) - 1, before, static_cast<int>(r.below(3)));
        work.put(lanes, l, after);
        l.leave();
      }
      if (r.below(60) == 0) {
        lanes.wait_for_all();
        for (const auto& p : work.all)
          if (!*p.over) FAIL_CHECK("not over");
      }
      if (r.below(40) == 0) {
        sync_point_list one;
        const auto& p = work.all[static_cast<std::size_t>(r.below(static_cast<index_t>(work.all.size())))];
        one.add(p.end);
        lanes.wait(one);
        CHECK(*p.over);
        CHECK(lanes.over(one));
      }
    }
    lanes.wait_for_all();
    CHECK(work.wrong == 0);
  }
}

}  // namespace
}  // namespace starling::test::lanes_tests
