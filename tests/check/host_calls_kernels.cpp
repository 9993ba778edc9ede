// Functions of the host in streams under check mode: each runs once however many schedules are explored, what it
// changed is there in all of them, and what it touches must be ordered like everything else.
#include <numeric>

#include "support/checked.hpp"

namespace starling::test::host_calls_kernels_tests {
namespace {

struct add_one {
  int* x;
  index_t n;
  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { x[i] += 1; });
  }
};

int* ints(const local_memory& m) { return reinterpret_cast<int*>(m.data()); }

std::vector<int> read(machine& m, const local_memory& from) {
  std::vector<int> out(from.size() / sizeof(int));
  m.copy(out.data(), from.data(), from.size());
  return out;
}

TEST_CASE("once, and its results on memory of the host reach the devices in every schedule") {
  machine m = checked_machine(2);
  const local_memory device = m.allocate_on(1, 4 * sizeof(int));
  const local_memory host = m.allocate_on(host_place, 4 * sizeof(int));
  m.fill(device.data(), 0, device.size());
  std::vector<int> plain = {1, 2, 3, 4};
  int ran = 0;
  stream a = m.new_stream(0);
  stream b = m.new_stream(1);
  event done = m.new_event(0);
  for (int again = 1; again <= 3; ++again) {
    a.launch(2, add_one{ints(device), 4});
    a.copy(host.data(), device.data(), host.size());
    a.copy(plain.data(), device.data(), host.size());  // memory of the host that is set back
    int* const h = ints(host);
    a.call([&, h] {
      ++ran;
      std::partial_sum(h, h + 4, h);
      for (int& x : plain) x *= 10;
    });
    a.copy(device.data(), plain.data(), host.size());
    a.record(done);
    b.wait(done);
    b.launch(1, add_one{ints(device), 4});
    b.launch(1, add_one{h, 4});
    b.synchronize();
    CHECK(ran == again);
  }
  // Each time (x + 1) * 10 + 1.
  CHECK(read(m, device) == std::vector<int>(4, 1221));
  CHECK(read(m, host) == std::vector<int>{123, 245, 367, 489});
}

TEST_CASE("a function and a kernel that nothing orders") {
  machine m = checked_machine(1);
  const local_memory host = m.allocate_on(host_place, 4 * sizeof(int));
  m.fill(host.data(), 0, host.size());
  stream a = m.new_stream(0);
  stream b = m.new_stream(0);
  event done = m.new_event(0);
  int* const h = ints(host);
  for (const bool ordered : {false, true}) {
    a.call([h] { h[2] = 7; });
    a.record(done);
    if (ordered) b.wait(done);
    b.launch(1, add_one{h, 4});
    if (ordered) {
      b.synchronize();
      CHECK(read(m, host) == std::vector<int>{1, 1, 8, 1});
    } else {
      const auto e = finding_of([&] { b.synchronize(); });
      if (e) check_parts(e->what(), {"nothing orders two accesses", "local memory of the host", "(stream)"});
    }
  }
}

TEST_CASE("a function that touches memory of a device") {
  machine m = checked_machine(1);
  const auto data = zeroed<int>(m, 1);
  const local_memory local = m.allocate_on(0, sizeof(int));
  stream s = m.new_stream(0);
  for (int* p : {data.on(0), ints(local)}) {
    s.call([p] { *p = 1; });
    const auto e = finding_of([&] { s.synchronize(); });
    if (!e) continue;
    CHECK(std::string(name(e->what_kind())) == name(defect::foreign_access));
    check_parts(e->what(), {"stream::call", "memory of a device"});
  }
}

TEST_CASE("a function of a graph runs once in each launch") {
  machine m = checked_machine(1);
  const local_memory host = m.allocate_on(host_place, sizeof(int));
  m.fill(host.data(), 0, host.size());
  stream s = m.new_stream(0);
  int ran = 0;
  int* const h = ints(host);
  recording r = m.start_recording(s);
  s.launch(1, add_one{h, 1});
  s.call([&ran, h] {
    ++ran;
    *h *= 3;
  });
  const graph g = r.finish();
  g.launch(s);
  g.launch(s);
  s.synchronize();
  g.launch(s);
  s.synchronize();
  CHECK(ran == 3);
  CHECK(read(m, host)[0] == 39);
}

TEST_CASE("a function that throws") {
  machine m = checked_machine(1);
  stream s = m.new_stream(0);
  int ran = 0;
  s.call([&] {
    ++ran;
    throw std::runtime_error("mine");
  });
  s.call([&] { ran += 100; });
  CHECK_THROWS_WITH_AS(s.synchronize(), "mine", std::runtime_error);
  CHECK(ran == 1);
  s.call([&] { ran += 5; });
  s.synchronize();
  CHECK(ran == 6);
}

}  // namespace
}  // namespace starling::test::host_calls_kernels_tests
