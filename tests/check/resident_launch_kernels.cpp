// Resident launches in check mode: sync_pe orders their blocks, and what it does not order is found.
#include "support/checked.hpp"

namespace starling::test::resident_launch_kernels_tests {
namespace {

constexpr launch_options resident{.resident = true};

// Each block writes its element, and after the barrier, if there is one, reads its neighbour's.
struct exchange {
  int* x;
  bool meet;
  STARLING_HD void operator()(block& b) const {
    const int n = b.blocks_per_pe();
    if (meet) b.sync_pe();  // others may still read what the launch before wrote
    x[b.index()] = b.index() + 1;
    if (meet) b.sync_pe();
    x[n + b.index()] = x[(b.index() + 1) % n];
  }
};

TEST_CASE("a barrier orders the blocks of a resident launch; without it there is a race") {
  machine m = checked_machine(2);
  const local_memory x = m.allocate_on(0, 6 * sizeof(int));
  m.fill(x.data(), 0, x.size());
  auto* p = reinterpret_cast<int*>(x.data());
  stream s = m.new_stream(1);
  for (int i = 0; i < 3; ++i) s.launch(3, exchange{p, true}, resident);
  s.synchronize();
  std::vector<int> out(6);
  m.copy(out.data(), p, x.size());
  CHECK(out == std::vector<int>{1, 2, 3, 2, 3, 1});
  s.launch(3, exchange{p, false}, resident);
  const auto e = finding_of([&] { s.synchronize(); });
  if (e) check_parts(e->what(), {"nothing orders two accesses", "sync_pe"});
}

TEST_CASE("resident launches in two streams, and in a graph launched twice") {
  machine m = checked_machine(1);
  const local_memory x = m.allocate_on(0, 4 * sizeof(int));
  const local_memory y = m.allocate_on(0, 4 * sizeof(int));
  stream s = m.new_stream(0);
  stream t = m.new_stream(0);
  event forked = m.new_event(0);
  event joined = m.new_event(0);
  recording r = m.start_recording(s);
  s.record(forked);
  t.wait(forked);
  s.launch(2, exchange{reinterpret_cast<int*>(x.data()), true}, resident);
  t.launch(2, exchange{reinterpret_cast<int*>(y.data()), true}, resident);
  t.record(joined);
  s.wait(joined);
  const graph g = r.finish();
  g.launch(s);
  g.launch(s);
  s.synchronize();
  std::vector<int> out(4);
  m.copy(out.data(), y.data(), y.size());
  CHECK(out == std::vector<int>{1, 2, 2, 1});
}

TEST_CASE("a block that does not come, and barriers of several PEs") {
  machine m = checked_machine(2);
  stream s = m.new_stream(0);
  auto missing = STARLING_KERNEL(block & b) {
    if (b.index() != 1) b.sync_pe();
  };
  s.launch(3, missing, resident);
  auto e = finding_of([&] { s.synchronize(); });
  if (e) check_parts(e->what(), {"sync_pe", "has returned from the kernel"});
  auto all = STARLING_KERNEL(block & b) { b.sync_all(); };
  s.launch(2, all, resident);
  e = finding_of([&] { s.synchronize(); });
  if (e) {
    CHECK(std::string(name(e->what_kind())) == name(defect::collective));
    check_parts(e->what(), {"sync_all", "one PE"});
  }
  auto right = STARLING_KERNEL(block & b) { b.sync_pe(); };
  s.launch(3, right, resident);
  s.synchronize();
}

}  // namespace
}  // namespace starling::test::resident_launch_kernels_tests
