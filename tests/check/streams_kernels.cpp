// Streams in check mode: events alone order them.
#include "support/checked.hpp"

namespace starling::test::streams_kernels_tests {
namespace {

struct add_one {
  sym<int> x;
  index_t n;
  STARLING_HD void operator()(block& b) const {
    const index_range mine = b.my_share(n);
    int* p = x.on(b.pe()) + mine.begin;
    b.for_each(mine.size(), [&](index_t i) { p[i] += 1; });
  }
};

TEST_CASE("launches and copies of one stream are in order, blocks of a launch are not") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 100);
  std::vector<int> out(100, -1);
  stream s = m.new_stream(1);
  s.launch(3, add_one{data.data(), 100});
  s.launch(2, add_one{data.data(), 100});
  s.copy(out.data(), data.on(1), 400);
  s.synchronize();
  CHECK(out == std::vector<int>(100, 2));
  const sym<int> x = data.data();
  s.launch(2, STARLING_KERNEL(block&) { *x.on(1) = 1; });
  const auto e = finding_of([&] { s.synchronize(); });
  if (e) CHECK(std::string(name(e->what_kind())) == name(defect::unordered_write));
}

TEST_CASE("streams that no event orders") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 8);
  stream a = m.new_stream(0);
  stream b = m.new_stream(1);
  event done = m.new_event(0);
  for (const bool ordered : {false, true}) {
    a.launch(1, add_one{data.data(), 8});
    a.record(done);
    if (ordered) b.wait(done);
    b.copy(data.on(1), data.on(0), 32);
    if (ordered) {
      b.synchronize();
      CHECK(read(m, data, 1) == std::vector<int>(8, 1));
      continue;
    }
    const auto e = finding_of([&] { b.synchronize(); });
    if (e) check_parts(e->what(), {"nothing orders two accesses", "(stream)"});
    CHECK(read(m, data, 0) == std::vector<int>(8, 0));
  }
}

TEST_CASE("memory of the host that a copy wrote is set back between schedules, and when something is found") {
  machine m = checked_machine(1);
  const auto data = zeroed<int>(m, 2);
  std::vector<int> host = {5, 6};
  stream s = m.new_stream(0);
  s.copy(data.on(0), host.data(), 8);
  s.launch(1, add_one{data.data(), 2});
  s.copy(host.data(), data.on(0), 8);
  s.synchronize();
  CHECK(host == std::vector<int>{6, 7});
  stream other = m.new_stream(0);
  s.copy(host.data(), data.on(0), 8);
  s.launch(1, add_one{data.data(), 2});
  s.copy(host.data(), data.on(0), 8);
  other.launch(1, add_one{data.data(), 2});
  CHECK(finding_of([&] { s.synchronize(); }));
  CHECK(host == std::vector<int>{6, 7});
}

TEST_CASE("graphs, launched twice") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 4);
  stream a = m.new_stream(0);
  stream b = m.new_stream(1);
  event forth = m.new_event(0);
  event back = m.new_event(1);
  const graph g = m.record(a, [&] {
    a.launch(2, add_one{data.data(), 4});
    a.record(forth);
    b.wait(forth);
    b.copy(data.on(1), data.on(0), 16);
    b.launch(2, add_one{data.data(), 4});
    b.record(back);
    a.wait(back);
  });
  g.launch(a);
  g.launch(a);
  a.synchronize();
  CHECK(read(m, data, 0) == std::vector<int>(4, 2));
  CHECK(read(m, data, 1) == std::vector<int>(4, 3));
}

TEST_CASE("events: looked at often enough they are reached, waited for they are reached") {
  machine m = checked_machine(1);
  const auto data = zeroed<int>(m, 1);
  stream s = m.new_stream(0);
  event e = m.new_event(0);
  s.launch(1, add_one{data.data(), 1});
  s.record(e);
  CHECK_FALSE(e.done());
  int looks = 0;
  while (!e.done() && looks < 1000000) ++looks;
  CHECK(e.done());
  CHECK(read(m, data, 0)[0] == 1);
  s.launch(1, add_one{data.data(), 1});
  s.record(e);
  e.synchronize();
  CHECK(read(m, data, 0)[0] == 2);
}

TEST_CASE("kernels of streams put to other PEs; what they put has arrived when the launch is over") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 16);
  const sym<int> x = data.data();
  stream s = m.new_stream(0);
  stream t = m.new_stream(1);
  event sent = m.new_event(0);
  s.launch(
      2, STARLING_KERNEL(block & b) {
        const index_range mine = b.my_share(16);
        const auto value = [=](index_t i) { return static_cast<int>(mine.begin + i); };
        b.put(x + mine.begin, value, mine.size(), 1);
      });
  s.record(sent);
  t.wait(sent);
  t.launch(2, add_one{x, 16});
  t.synchronize();
  for (int i = 0; i < 16; ++i) CHECK(read(m, data, 1)[static_cast<std::size_t>(i)] == i + 1);
}

TEST_CASE("a failure in a stream leaves the others and the machine usable") {
  machine m = checked_machine(1);
  const auto data = zeroed<int>(m, 4);
  stream s = m.new_stream(0);
  event e = m.new_event(0);
  s.launch(1, add_one{data.data(), 5});  // one element beyond the end
  s.record(e);
  const auto f = finding_of([&] { s.synchronize(); });
  if (f) CHECK(std::string(name(f->what_kind())) == name(defect::out_of_bounds));
  CHECK(e.done());
  s.launch(1, add_one{data.data(), 4});
  s.synchronize();
  CHECK(read(m, data, 0) == std::vector<int>(4, 1));
}

}  // namespace
}  // namespace starling::test::streams_kernels_tests
