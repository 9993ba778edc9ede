// Recordings that the host begins and ends, and graphs that take on new work. Misuse is in
// misuse/recording_objects_kernels.cpp.
#include <memory>
#include <optional>
#include <thread>

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::recording_tests {
namespace {

struct add {
  sym<int> x;
  int value;
  STARLING_HD void operator()(block& b) const {
    b.for_each(1, [&](index_t) { *x.on(b.pe()) += value; });
  }
};

TEST_CASE("a recording without a callback") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  event joined = m->new_event(1);
  recording r = m->start_recording(s);
  s.launch(1, add{data.data(), 1});
  s.record(forked);
  recording moved = std::move(r);
  t.wait(forked);
  t.launch(1, add{data.data(), 10});
  t.record(joined);
  s.wait(joined);
  const graph g = moved.finish();
  CHECK(g.operations() == 2);
  CHECK(read(*m, data, 0)[0] == 0);
  for (int i = 0; i < 3; ++i) g.launch(s);
  s.synchronize();
  CHECK(read(*m, data, 0)[0] == 3);
  CHECK(read(*m, data, 1)[0] == 30);
}

TEST_CASE("an abandoned recording leaves streams as before, and runs nothing") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  {
    const recording r = m->start_recording(s);
    s.launch(1, add{data.data(), 1});
    s.record(forked);
    t.wait(forked);
    t.launch(1, add{data.data(), 1});
  }
  s.launch(1, add{data.data(), 2});
  t.launch(1, add{data.data(), 2});
  s.synchronize();
  t.synchronize();
  CHECK(read(*m, data, 0)[0] == 2);
  CHECK(read(*m, data, 1)[0] == 2);
}

TEST_CASE("a graph takes on new work, of the same shape or another; launches before did the old") {
  auto m = test_machine(1);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  auto other = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  const auto record = [&](int first, int second) {
    recording r = m->start_recording(s);
    s.launch(1, add{data.data(), first});
    s.launch(1, add{other.data(), second});
    return r;
  };
  graph g = record(1, 2).finish();
  const graph copy = g;
  g.launch(s);
  CHECK(record(100, 200).finish_into(g));
  g.launch(s);
  copy.launch(s);
  s.synchronize();
  CHECK(read(*m, data, 0)[0] == 201);
  CHECK(read(*m, other, 0)[0] == 402);
  recording r = m->start_recording(s);
  s.fill(data.on(0), 0, sizeof(int));
  s.launch(1, add{data.data(), 5});
  s.launch(1, add{data.data(), 6});
  CHECK_FALSE(r.finish_into(g));
  CHECK(g.operations() == 3);
  g.launch(s);
  copy.launch(s);
  s.synchronize();
  CHECK(read(*m, data, 0)[0] == 11);
  CHECK(read(*m, other, 0)[0] == 402);
}

TEST_CASE("functions and resident launches in a graph that takes on new ones") {
  auto m = test_machine(1);
  if (!m) return;
  auto data = zeroed<int>(*m, 1);
  stream s = m->new_stream(0);
  int ran = 0;
  const auto record = [&](int value) {
    recording r = m->start_recording(s);
    const sym<int> x = data.data();
    s.launch(3,
             STARLING_KERNEL(block & b) {
               b.sync_pe();
               if (b.index() == 0 && b.member() == 0) *x.on(0) += value;
               b.sync_pe();
             },
             {.resident = true});
    s.call([&ran, value] { ran += value; });
    return r;
  };
  graph g = record(1).finish();
  for (int i = 0; i < 3; ++i) g.launch(s);
  CHECK(record(10).finish_into(g));
  for (int i = 0; i < 3; ++i) g.launch(s);
  s.synchronize();
  CHECK(ran == 33);
  CHECK(read(*m, data, 0)[0] == 33);
}

TEST_CASE("threads record graphs on streams of their own at the same time") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr int threads = 4;
  std::vector<symmetric_array<int>> data;
  std::vector<stream> streams;
  for (int i = 0; i < threads; ++i) {
    data.push_back(zeroed<int>(*m, 1));
    streams.push_back(m->new_stream(i % 2));
  }
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      stream& s = streams[i];
      for (int again = 0; again < 10; ++again) {
        recording r = m->start_recording(s);
        for (int k = 0; k < 5; ++k) s.launch(1, add{data[i].data(), k});
        const graph g = r.finish();
        g.launch(s);
        s.launch(1, add{data[i].data(), 1});
        s.synchronize();
      }
    });
  for (std::thread& t : all) t.join();
  for (std::size_t i = 0; i < threads; ++i) CHECK(read(*m, data[i], static_cast<int>(i % 2))[0] == 110);
}

TEST_CASE("what a recording keeps") {
  const auto m = test_machine(1);
  if (!m) return;
  machine mine = *m;
  stream s = mine.new_stream(0);
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> there = kept;
  CHECK_FALSE(s.keep_with_recording(kept));
  CHECK(kept.use_count() == 1);
  std::optional<graph> g = mine.record(s, [&] {
    CHECK(s.keep_with_recording(nullptr));
    CHECK(s.keep_with_recording(std::move(kept)));
    s.call([] {});
  });
  CHECK_FALSE(there.expired());
  g->launch(s);
  s.synchronize();
  CHECK_FALSE(there.expired());
  // A graph that takes on new work lets go of what the old one kept.
  recording next = mine.start_recording(s);
  s.call([] {});
  (void)next.finish_into(*g);
  g->launch(s);
  s.synchronize();
  CHECK(there.expired());
  // One that is dropped does when its launches are over.
  auto more = std::make_shared<int>(2);
  const std::weak_ptr<int> more_there = more;
  g = mine.record(s, [&] { (void)s.keep_with_recording(std::move(more)); });
  g->launch(s);
  g.reset();
  s.synchronize();
  s.call([] {});
  s.synchronize();
  CHECK(more_there.expired());
}

}  // namespace
}  // namespace starling::test::recording_tests
