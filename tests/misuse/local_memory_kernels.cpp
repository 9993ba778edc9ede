// Local memory asked for or used wrongly: an error that names the value, and a machine that works on.
#include "starling/machine/local_memory.hpp"

#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::local_memory_tests {
namespace {

TEST_CASE("local memory on a PE that is not there") {
  auto m = test_machine(2);
  if (!m) return;
  for (const int pe : {-3, 2, 1000}) {
    check_parts(failure_of<range_error>([&] { (void)m->allocate_on(pe, 10); }),
                {message("PE ", pe), "of 2", "host_place"});
    check_parts(failure_of<range_error>([&] { (void)m->free_bytes(pe); }), {message("PE ", pe)});
    check_parts(failure_of<range_error>([&] { (void)m->allocate_over({{0, m->page_bytes()}, {pe, m->page_bytes()}}); }),
                {"piece 1", message("PE ", pe)});
  }
  for (const int place : {host_place, managed_place})
    check_parts(failure_of<range_error>([&] { (void)m->allocate_over({{place, m->page_bytes()}}); }), {"piece 0"});
  check_usable(*m);
}

TEST_CASE("no bytes, no pieces, pieces that are no pages") {
  auto m = test_machine(1);
  if (!m) return;
  check_parts(failure_of<argument_error>([&] { (void)m->allocate_on(0, 0); }), {"bytes = 0", "at least 1"});
  check_parts(failure_of<argument_error>([&] { (void)m->allocate_over({}); }), {"no pieces"});
  const std::size_t page = m->page_bytes();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, page - 1, page + 1})
    check_parts(failure_of<argument_error>([&] { (void)m->allocate_over({{0, page}, {0, bytes}}); }),
                {"piece 1", message(bytes), message(page)});
  check_parts(failure_of<argument_error>(
                  [&] { (void)m->allocate_over({{0, std::size_t{1} << 60}, {0, std::size_t{1} << 60}}); }),
              {"pieces up to 1"});
  check_usable(*m);
}

TEST_CASE("more local memory than there is") {
  auto m = test_machine(2, {.memory_bytes = 1 << 20});
  if (!m) return;
  const std::size_t there = m->free_bytes(1);
  check_parts(failure_of<memory_error>([&] { (void)m->allocate_on(1, there + (std::size_t{64} << 20)); }),
              {"PE 1", "free"});
  CHECK_THROWS_AS((void)m->allocate_on(1, ~std::size_t{0}), memory_error);
  CHECK_THROWS_AS((void)m->allocate_on(host_place, ~std::size_t{0}), memory_error);
  CHECK_THROWS_AS((void)m->allocate_on(managed_place, ~std::size_t{0}), memory_error);
  const std::size_t page = m->page_bytes();
  check_parts(failure_of<memory_error>(
                  [&] { (void)m->allocate_over({{0, page}, {1, (there / page + 64) * page}, {0, page}}); }),
              {"PE 1"});
  CHECK(m->free_bytes(1) == there);
  check_usable(*m);
}

TEST_CASE("local memory used after it was freed, and beyond its end") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  for (const int home : {0, host_place}) {
    if (home == host_place && on_gpus()) continue;  // indistinguishable from any other memory of the host
    local_memory a = m->allocate_on(home, 100);
    std::byte* start = a.data();
    char out[128] = {};
    const auto refused = [&](std::byte* address, std::size_t bytes) {
      const std::string text = failure_of<range_error>([&] { s.copy(out, address, bytes); });
      check_parts(text, {"stream::copy (source)", message(bytes, " bytes"), "still allocated"});
      CHECK_THROWS_AS(s.fill(address, 0, bytes), range_error);
      CHECK_THROWS_AS(m->copy(address, out, bytes), range_error);
      CHECK_THROWS_AS(m->fill(address, 0, bytes), range_error);
    };
    refused(start, 101);
    refused(start + 100, 1);
    s.fill(start, 1, 100);
    s.synchronize();
    a = local_memory();
    refused(start, 1);
  }
  check_usable(*m);
}

TEST_CASE("a put to local memory that was freed") {
  if (skipped_on_gpus("check the far side of a put")) return;
  machine m = machine::host(1);
  local_memory a = m.allocate_on(0, 64);
  const sym<int> there(reinterpret_cast<int*>(a.data()), 0);
  auto k = STARLING_KERNEL(block & b) { b.p(there, 5, 0); };
  m.run(1, k);
  CHECK(*reinterpret_cast<int*>(a.data()) == 5);
  a = local_memory();
  CHECK_THROWS_AS(m.run(1, k), range_error);
  check_usable(m);
}

TEST_CASE("local memory refused by an injected fault") {
  if (skipped_on_gpus("have faults")) return;
  machine m = machine::host(2);
  m.inject({{fail_allocation{.nth = 2}}});
  const local_memory a = m.allocate_on(0, 64);
  check_parts(failure_of<memory_error>([&] { (void)m.allocate_on(1, 64); }), {"local memory", "fail_allocation"});
  const local_memory b = m.allocate_on(1, 64);
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::local_memory_tests
