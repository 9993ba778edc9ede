// Scratch memory of a block: what nobody has written is not read, and indices stay inside.
#include "support/checked.hpp"

namespace starling::test::scratch_kernels_tests {
namespace {

launch_options with_scratch() { return {.scratch_bytes = 1024}; }

// What check mode finds in a kernel that has scratch memory.
template <class Kernel>
void scratch_finds(machine& m, const Kernel& k, defect what, std::initializer_list<std::string> parts) {
  const auto e = finding_of([&] { m.run(1, k, with_scratch()); });
  if (!e) return;
  CHECK_MESSAGE(std::string(name(e->what_kind())) == name(what), e->what());
  check_parts(e->what(), parts);
}

TEST_CASE("scratch memory is read before it is written") {
  machine m = one_thread_machine(2);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> y = sums.data();
  const auto kernel = [=](bool fixed) {
    return STARLING_KERNEL(block & b) {
      int* sum = b.scratch<int>(4);
      if (fixed) b.for_each(4, [=](index_t i) { sum[i] = 0; });
      b.sync();
      for (int i = 0; i < 10; ++i) sum[i % 4] += i;
      *y.on(b.pe()) = sum[3];
    };
  };
  scratch_finds(m, kernel(false), defect::uninitialised,
                {"block 0 (all) reads 4 bytes at byte 0 of 16 of scratch memory at", "scratch_kernels.cpp:27",
                 "which the block has not written"});
  m.run(1, kernel(true), with_scratch());
  CHECK(read(m, sums, 1)[0] == 3 + 7);
}

TEST_CASE("an index behind the end of a piece of scratch, and before its start") {
  machine m = checked_machine(2);
  const auto kernel = [=](int at) {
    return STARLING_KERNEL(block & b) {
      int* first = b.scratch<int>(10);
      int* second = b.scratch<int>(10);
      b.for_each(10, [=](index_t i) { first[i] = second[i] = 1; });
      first[at] = 2;
    };
  };
  scratch_finds(m, kernel(10), defect::out_of_bounds,
                {"writes 4 bytes, 0 bytes behind the end of 40 of scratch memory at", "check the index"});
  scratch_finds(m, kernel(-1), defect::out_of_bounds, {"before the first piece"});
  m.run(1, kernel(9), with_scratch());
}

TEST_CASE("a put from scratch memory, and one that goes beyond its end or is changed before quiet") {
  machine m = one_thread_machine(2);
  const auto data = zeroed<int>(m, 16);
  const sym<int> x = data.data();
  const auto kernel = [=](int n, bool wait) {
    return STARLING_KERNEL(block & b) {
      int* mine = b.scratch<int>(8);
      b.for_each(8, [=](index_t i) { mine[i] = static_cast<int>(i); });
      b.sync();
      b.put_nbi(x, mine, n, 1 - b.pe());
      if (wait) b.quiet();
      mine[1] = 5;
      b.quiet();
    };
  };
  scratch_finds(m, kernel(12, true), defect::out_of_bounds,
                {"its source, 48 bytes at byte 0 of 32 of scratch memory, is not inside one live allocation"});
  scratch_finds(m, kernel(8, false), defect::source_reused,
                {"4 bytes at byte 4 of 32 of scratch memory", "not complete before quiet"});
  m.run(1, kernel(8, true), with_scratch());
  CHECK(read(m, data, 1)[7] == 7);
}

TEST_CASE("scratch memory of one block is not another's, and dies with its kernel") {
  machine m = checked_machine(1);
  const auto box = m.allocate<int*>(2);
  for (int i = 0; i < 2; ++i) box.on(0)[i] = nullptr;
  const sym<int*> where_it_is = box.data();
  const auto kernel = STARLING_KERNEL(block & b) {
    int* mine = b.scratch<int>(1);
    *mine = b.index();
    where_it_is.on(0)[b.index()] = mine;
    b.sync_pe();
    if (b.index() == 0) *where_it_is.on(0)[1] = 7;
    b.sync_pe();
  };
  const auto e = finding_of([&] { m.run(2, kernel, with_scratch()); });
  if (e) {
    CHECK(e->what_kind() == defect::foreign_access);
    check_parts(e->what(), {"scratch memory of another block"});
  }
}

TEST_CASE("many launches of many blocks use scratch memory one after the other") {
  machine m = one_thread_machine(1, 3);
  const auto sums = zeroed<int>(m, 64);
  const sym<int> y = sums.data();
  stream s = m.new_stream(0);
  for (int round = 0; round < 3; ++round)
    s.launch(
        64,
        STARLING_KERNEL(block & b) {
          int* mine = b.scratch<int>(250);
          b.for_each(250, [=](index_t i) { mine[i] = static_cast<int>(i); });
          b.sync();
          y.on(0)[b.index()] += mine[b.index()];
        },
        with_scratch());
  s.synchronize();
  CHECK(read(m, sums, 0)[63] == 3 * 63);
}

}  // namespace
}  // namespace starling::test::scratch_kernels_tests
