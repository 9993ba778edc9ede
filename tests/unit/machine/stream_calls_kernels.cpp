// Functions of the host in streams and graphs: in order with the stream, once for each time they were given.
#include <atomic>
#include <thread>

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::stream_calls_tests {
namespace {

struct add {
  sym<int> x;
  int value;
  STARLING_HD void operator()(block& b) const {
    b.for_each(1, [&](index_t) { *x.on(b.pe()) += value; });
  }
};

TEST_CASE("a function runs after earlier and before later work, on another thread") {
  auto m = test_machine(1);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  const local_memory place = m->allocate_on(host_place, sizeof(int));
  int& there = *reinterpret_cast<int*>(place.data());
  stream s = m->new_stream(0);
  std::vector<int> seen;
  std::thread::id where;
  for (int i = 0; i < 20; ++i) {
    s.launch(1, add{data.data(), i});
    s.copy(place.data(), data.on(0), sizeof(int));
    s.call([&] {
      seen.push_back(there);
      there *= 2;
      where = std::this_thread::get_id();
    });
    s.copy(data.on(0), place.data(), sizeof(int));
  }
  s.synchronize();
  std::vector<int> wanted;
  int x = 0;
  for (int i = 0; i < 20; ++i) {
    x += i;
    wanted.push_back(x);
    x *= 2;
  }
  CHECK(seen == wanted);
  CHECK(read(*m, data, 0)[0] == x);
  CHECK(where != std::this_thread::get_id());
}

TEST_CASE("a function of a graph runs once in each launch of it") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  event joined = m->new_event(1);
  std::atomic<int> here = 0;
  std::atomic<int> there = 0;
  {
    const graph g = m->record(s, [&] {
      s.launch(1, add{data.data(), 1});
      s.record(forked);
      t.wait(forked);
      s.call([&, kept = std::make_shared<int>(3)] { here += *kept; });
      t.call([&] { ++there; });
      t.record(joined);
      s.wait(joined);
    });
    CHECK(g.operations() == 3);
    CHECK(here == 0);
    for (int i = 0; i < 10; ++i) g.launch(s);
  }
  s.synchronize();
  CHECK(here == 30);
  CHECK(there == 10);
  CHECK(read(*m, data, 0)[0] == 10);
}

TEST_CASE("an event after a function is reached after it") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  event e = m->new_event(0);
  int ran = 0;
  s.call([&] { ++ran; });
  s.record(e);
  e.synchronize();
  CHECK(ran == 1);
}

TEST_CASE("streams of GPUs have a native handle") {
  auto m = test_machine(1);
  if (!m) return;
  const stream s = m->new_stream(0);
  CHECK((s.native() != nullptr) == on_gpus());
}

}  // namespace
}  // namespace starling::test::stream_calls_tests
