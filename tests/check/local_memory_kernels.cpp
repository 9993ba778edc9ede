// Local memory in check mode: races between streams and programs on it are found, wherever it lies; ordered work
// passes.
#include "support/checked.hpp"

namespace starling::test::local_memory_kernels_tests {
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

TEST_CASE("two streams on local memory: a race without an event, none with one") {
  machine m = checked_machine(2);
  for (const int home : {host_place, 0, 1}) {
    const local_memory x = m.allocate_on(home, 8 * sizeof(int));
    m.fill(x.data(), 0, x.size());
    stream a = m.new_stream(0);
    stream b = m.new_stream(1);
    event done = m.new_event(0);
    for (const bool ordered : {false, true}) {
      a.launch(2, add_one{ints(x), 8});
      a.record(done);
      if (ordered) b.wait(done);
      b.launch(1, add_one{ints(x), 8});
      if (ordered) {
        b.synchronize();
        CHECK(read(m, x) == std::vector<int>(8, 2));
        continue;
      }
      const auto e = finding_of([&] { b.synchronize(); });
      if (e) {
        check_parts(e->what(),
                    {"nothing orders two accesses", "an allocation of 32", "record an event",
                     home == host_place ? "local memory of the host" : message("local memory of PE ", home)});
        CHECK(e->blocks().size() == 2);
      }
      CHECK(read(m, x) == std::vector<int>(8, 0));
    }
  }
}

TEST_CASE("copies between local memory and a kernel that nothing orders") {
  machine m = checked_machine(2);
  const local_memory x = m.allocate_on(1, 64);
  const local_memory y = m.allocate_on(host_place, 64);
  m.fill(x.data(), 0, 64);
  stream a = m.new_stream(0);
  stream b = m.new_stream(1);
  a.copy(y.data(), x.data(), 64);
  b.launch(1, add_one{ints(x), 16});
  CHECK(finding_of([&] { a.synchronize(); }));
  a.copy(y.data(), x.data(), 64);
  a.launch(1, add_one{ints(y), 16});
  a.synchronize();
  CHECK(read(m, y) == std::vector<int>(16, 1));
}

TEST_CASE("a program on local memory of several PEs") {
  machine m = checked_machine(2);
  const std::size_t page = m.page_bytes();
  const local_memory x = m.allocate_over({{1, page}, {0, page}});
  m.fill(x.data(), 0, x.size());
  int* const p = ints(x);
  const index_t half = static_cast<index_t>(page / sizeof(int));
  auto apart = STARLING_KERNEL(block & b) {  // each PE on the other's memory
    b.for_each(3, [&](index_t i) { p[b.pe() * half + i] += 1; });
  };
  m.run(1, apart);
  CHECK(read(m, x)[0] == 1);
  CHECK(read(m, x)[static_cast<std::size_t>(half) + 2] == 1);
  auto same = STARLING_KERNEL(block & b) {
    b.for_each(1, [&](index_t) { p[5] = b.pe(); });
  };
  check_finds(m, 1, same, defect::unordered_write, {"local memory of PE 1", "byte 20"});
}

TEST_CASE("local memory that nothing has written, and beyond its end") {
  machine m = checked_machine(1);
  const local_memory x = m.allocate_on(0, 32);
  stream s = m.new_stream(0);
  s.launch(1, add_one{ints(x), 8});
  auto e = finding_of([&] { s.synchronize(); });
  if (e) CHECK(std::string(name(e->what_kind())) == name(defect::uninitialised));
  m.fill(x.data(), 0, 32);
  s.launch(1, add_one{ints(x), 9});
  e = finding_of([&] { s.synchronize(); });
  if (e) {
    CHECK(std::string(name(e->what_kind())) == name(defect::out_of_bounds));
    check_parts(e->what(), {"0 bytes behind the end of an allocation of 32"});
  }
}

TEST_CASE("local memory freed while work that uses it is still to come") {
  machine m = checked_machine(1);
  local_memory x = m.allocate_on(0, 32);
  m.fill(x.data(), 0, 32);
  stream s = m.new_stream(0);
  s.launch(1, add_one{ints(x), 8});
  x = local_memory();
  const auto e = finding_of([&] { s.synchronize(); });
  if (e) CHECK(std::string(name(e->what_kind())) == name(defect::out_of_bounds));
}

TEST_CASE("atomic operations of a block on local memory") {
  machine m = checked_machine(2);
  const local_memory x = m.allocate_on(host_place, sizeof(int));
  m.fill(x.data(), 0, x.size());
  const sym<int> count(ints(x), 0);
  m.run(3, STARLING_KERNEL(block & b) { b.atomic_fetch_add(count, 1, 0); });
  CHECK(read(m, x)[0] == 6);
}

}  // namespace
}  // namespace starling::test::local_memory_kernels_tests
