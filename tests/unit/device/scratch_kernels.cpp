// scratch: shared memory of a block, as much as the launch gave. Asking for more is in misuse/scratch_kernels.cpp.
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::scratch_tests {
namespace {

TEST_CASE("scratch is shared by the threads of a block and by no other block") {
  auto m = test_machine(2);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    std::int64_t* s = b.scratch<std::int64_t>(500);
    const std::int64_t mine = 1000000 * b.pe() + 10000 * b.index();
    b.for_each(500, [&](index_t i) { s[i] = mine + i; });
    b.sync_pe();
    index_t wrong = 0;
    b.for_each(500, [&](index_t i) { wrong += s[499 - i] != mine + 499 - i; });
    good.add(b, 500, wrong);
  };
  m->run(4, k, {.scratch_bytes = 500 * sizeof(std::int64_t)});
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

TEST_CASE("several pieces of scratch are aligned, apart, and may take up all there is") {
  auto m = test_machine(1);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    // Each piece is rounded up to 16 bytes: 16 + 16 + 112 + 64.
    auto* bytes = b.scratch<unsigned char>(3);
    auto* one = b.scratch<double>(1);
    auto* floats = b.scratch<float>(27);
    auto* words = b.scratch<std::uint64_t>(8);
    good.add(b, reinterpret_cast<std::uintptr_t>(bytes) % 16 == 0);
    good.add(b, reinterpret_cast<std::uintptr_t>(one) % 16 == 0);
    good.add(b, reinterpret_cast<std::uintptr_t>(floats) % 16 == 0);
    good.add(b, reinterpret_cast<std::uintptr_t>(words) % 16 == 0);
    b.for_each(3, [&](index_t i) { bytes[i] = static_cast<unsigned char>(200 + i); });
    b.for_each(1, [&](index_t) { *one = 2.5; });
    b.for_each(27, [&](index_t i) { floats[i] = static_cast<float>(i); });
    b.for_each(8, [&](index_t i) { words[i] = static_cast<std::uint64_t>(i) << 40; });
    b.sync();
    index_t wrong = 0;
    for (int i = 0; i < 3; ++i) wrong += bytes[i] != 200 + i;
    wrong += *one != 2.5;
    for (int i = 0; i < 27; ++i) wrong += floats[i] != static_cast<float>(i);
    for (int i = 0; i < 8; ++i) wrong += words[i] != static_cast<std::uint64_t>(i) << 40;
    good.add(b, 1, wrong);
  };
  m->run(1, k, {.scratch_bytes = 16 + 16 + 112 + 64});
  CHECK(t.made() == 5u * (on_gpus() ? 256 : 1));
  CHECK(t.failed() == 0);
}

TEST_CASE("the scratch that a device says it has can be used") {
  auto m = test_machine(1);
  if (!m) return;
  const std::size_t most = m->device(0).scratch_bytes;
  REQUIRE(most >= 32768);
  const auto n = static_cast<index_t>(most / sizeof(int));
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    int* s = b.scratch<int>(n);
    b.for_each(n, [&](index_t i) { s[i] = static_cast<int>(i) ^ 0x55; });
    b.sync();
    index_t wrong = 0;
    b.for_each(n, [&](index_t i) { wrong += s[n - 1 - i] != (static_cast<int>(n - 1 - i) ^ 0x55); });
    good.add(b, 1, wrong);
  };
  m->run(1, k, {.scratch_bytes = most});
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

TEST_CASE("scratch in a plain launch") {
  auto m = test_machine(1);
  if (!m) return;
  auto out = poisoned<int>(*m, 3);
  const sym<int> x = out.data();
  auto k = STARLING_KERNEL(block & b) {
    int* s = b.scratch<int>(64);
    b.for_each(64, [&](index_t i) { s[i] = static_cast<int>(i) * b.index(); });
    b.sync();
    if (b.member() == 0) x.on(0)[b.index()] = s[63];
  };
  stream s = m->new_stream(0);
  s.launch(3, k, {.scratch_bytes = 256});
  s.synchronize();
  CHECK(read(*m, out, 0) == std::vector<int>{0, 63, 126});
}

}  // namespace
}  // namespace starling::test::scratch_tests
