// Traces that cannot be begun: an error that says what to do, and a machine that works.
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/trace_file.hpp"
#include "support/usable.hpp"

namespace starling::test::trace_tests {
namespace {

TEST_CASE("a trace never overwrites a file") {
  auto m = test_machine(2);
  if (!m) return;
  const temporary_folder folder;
  std::ofstream(folder.file("t")) << "precious";
  check_parts(failure_of<argument_error>([&] { m->trace_to(folder.file("t")); }),
              {folder.file("t"), "is there already", "choose another name"});
  std::string kept;
  std::ifstream(folder.file("t")) >> kept;
  CHECK(kept == "precious");
  CHECK(m->trace_path().empty());
  check_usable(*m);
}

TEST_CASE("a file that cannot be made") {
  auto m = test_machine(1);
  if (!m) return;
  const temporary_folder folder;
  check_parts(failure_of<argument_error>([&] { m->trace_to(folder.file("nowhere/t")); }),
              {"nowhere/t", "cannot be made", "No such file", "choose another place"});
  check_parts(failure_of<argument_error>([&] { m->trace_to(""); }), {"path is empty"});
  const environment_guard path("STARLING_TRACE", folder.file("nowhere/t").c_str());
  check_parts(failure_of<argument_error>([] { (void)machine::host(1); }), {"nowhere/t", "STARLING_TRACE"});
}

TEST_CASE("a machine that is traced already") {
  auto m = test_machine(2);
  if (!m) return;
  const temporary_folder folder;
  m->trace_to(folder.file("a"));
  check_parts(failure_of<argument_error>([&] { m->trace_to(folder.file("b")); }), {folder.file("a"), "end_trace"});
  CHECK(folder.files() == 1);
  check_usable(*m);
}

TEST_CASE("numbers of records that no ring has") {
  auto m = test_machine(1);
  if (!m) return;
  const temporary_folder folder;
  for (const int records : {-1, 1, 31, (1 << 24) + 1}) {
    CAPTURE(records);
    check_parts(failure_of<argument_error>([&] { m->trace_to(folder.file("t"), {.records = records}); }),
                {message("records = ", records), "from 32 to 16777216"});
  }
  CHECK(folder.files() == 0);
  for (const char* value : {"0", "31", "-5", "many", "1e4"}) {
    const environment_guard guard("STARLING_TRACE_RECORDS", value);
    check_parts(failure_of<argument_error>([] { (void)machine::host(1); }),
                {"STARLING_TRACE_RECORDS", value, "at least 32"});
  }
}

}  // namespace
}  // namespace starling::test::trace_tests
