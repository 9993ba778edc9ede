// The trace of a machine: its file, programs and roles in it, what the host did.
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"
#include "support/trace_file.hpp"

namespace starling::test::trace_tests {
namespace {

struct meet {
  STARLING_HD void operator()(block& b) const { b.sync_pe(); }
};

std::string text_of(std::initializer_list<const char*> parts) {
  std::string all;
  for (const char* part : parts) all += part;
  return all;
}

TEST_CASE("programs that run together have rings of their own, with the names of their roles") {
  auto m = test_machine(2);
  if (!m) return;
  role_plan first(3);
  first.add("left \"edge\"", 1);
  first.add("inner\\part", 2);
  role_plan second;
  second.add("helper", 1);
  auto sums = STARLING_KERNEL(block & b) { (void)b.all_reduce(1, plus{}); };
  const temporary_folder folder;
  m->trace_to(folder.file("t"));
  m->run({program{first, make_kernel(meet{}), {}}, program{second, make_kernel(sums), {.threads = 64}}});
  m->run(2, meet{});
  const trace_file t(folder.file("t"));  // whole after every run
  REQUIRE(t.programs.size() == 3);
  CHECK(t.programs[0].n_blocks == 3);
  CHECK(t.programs[1].n_blocks == 1);
  CHECK(t.programs[2].n_blocks == 2);
  check_parts(t.programs[0].facts, {text_of({R"({"name": "left \"edge\"", "first": 0})"}),
                                    text_of({R"({"name": "inner\\part", "first": 1})"})});
  check_parts(t.programs[1].facts, {R"({"name": "helper", "first": 0})"});
  check_parts(t.programs[2].facts, {R"({"name": "all", "first": 0})"});
  for (const traced_block& b : t.programs[0].blocks) {
    REQUIRE(b.records.size() == 1);
    CHECK(b.records[0].op() == trace_operation::sync_pe);
  }
  for (const traced_block& b : t.programs[1].blocks) {
    REQUIRE(b.records.size() == 1);
    CHECK(b.records[0].op() == trace_operation::all_reduce);
  }
  CHECK(t.of(traced_run).size() == 2);
  CHECK(t.of(traced_run)[0].blocks == 4);
}

TEST_CASE("the host's work is in the trace") {
  auto m = test_machine(2);
  if (!m) return;
  auto before = zeroed<int>(*m, 64);
  stream s = m->new_stream(1);
  const temporary_folder folder;
  m->trace_to(folder.file("t"));
  {
    auto a = zeroed<int>(*m, 100);
    std::vector<int> here(100, 3);
    m->copy(a.on(0), here.data(), 400);
    s.copy(before.on(1), before.on(0), 256);
    s.fill(before.on(1), 0, 256);
    auto k = STARLING_KERNEL(block & b) { b.sync(); };
    s.launch(3, k);
    s.synchronize();
  }
  m->end_trace();
  const trace_file t(folder.file("t"));
  REQUIRE(t.of(traced_allocate).size() == 1);
  CHECK(t.of(traced_allocate)[0].bytes == 400);
  CHECK(t.of(traced_free).size() == 1);
  const auto copies = t.of(traced_copy);
  REQUIRE(copies.size() == 2);
  CHECK(copies[0].bytes == 400);
  CHECK(copies[0].from == -1);
  CHECK(copies[0].to == 0);
  CHECK(copies[0].stream == 0);
  CHECK(copies[1].bytes == 256);
  CHECK(copies[1].from == 0);
  CHECK(copies[1].to == 1);
  CHECK(copies[1].pe == 1);
  CHECK(copies[1].stream != 0);
  CHECK(t.of(traced_fill).size() == 3);
  REQUIRE(t.of(traced_launch).size() == 1);
  CHECK(t.of(traced_launch)[0].blocks == 3);
  for (const traced_activity& a : t.activities) {
    CHECK(a.start <= a.end);
    CHECK(a.failed == 0);
  }
}

TEST_CASE("a machine's trace begins and ends when it is told to") {
  auto m = test_machine(1);
  if (!m) return;
  const temporary_folder folder;
  m->end_trace();  // there is none
  CHECK(m->trace_path().empty());
  for (const char* name : {"a", "b"}) {
    m->trace_to(folder.file(name));
    CHECK(m->trace_path() == folder.file(name));
    m->run(1, meet{});
    m->end_trace();
    m->run(1, meet{});
    CHECK(trace_file(folder.file(name)).programs.size() == 1);
  }
  CHECK(folder.files() == 2);
}

TEST_CASE("STARLING_TRACE traces every machine into a file of its own") {
  const temporary_folder folder;
  const environment_guard path("STARLING_TRACE", folder.file("t").c_str());
  const environment_guard records("STARLING_TRACE_RECORDS", "100");
  auto one = test_machine(1);
  auto two = test_machine(1);
  if (!one || !two) return;
  CHECK(one->trace_path() == folder.file("t"));
  CHECK(two->trace_path() == folder.file("t.1"));
  two->run(2, meet{});
  CHECK(trace_file(folder.file("t")).programs.empty());
  const trace_file t(folder.file("t.1"));
  REQUIRE(t.programs.size() == 1);
  CHECK(t.programs[0].capacity == 128);
}

}  // namespace
}  // namespace starling::test::trace_tests
