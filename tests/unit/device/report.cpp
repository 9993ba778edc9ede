// What a block says of itself: names, and the place in the source.
#include "starling/device/report.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

namespace starling::test::report_tests {
namespace {

TEST_CASE("operations have the names of the calls") {
  CHECK(std::string(name(operation::wait)) == "wait");
  CHECK(std::string(name(operation::sync_pe)) == "sync_pe");
  CHECK(std::string(name(operation::sync_all)) == "sync_all");
  CHECK(std::string(name(operation::all_reduce)) == "all_reduce");
  CHECK(std::string(name(operation::broadcast)) == "broadcast");
  CHECK(std::string(name(operation::put)) == "put");
  CHECK(std::string(name(operation::get)) == "get");
  CHECK(std::string(name(operation::atomic)) == "atomic");
  CHECK(std::string(name(operation::scratch)) == "scratch");
}

TEST_CASE("where is the place of the call") {
  const int line = __LINE__ + 1;
  const where here = where::current();
  CHECK(here.line == line);
  CHECK(std::string(here.file).find("report.cpp") != std::string::npos);
}

TEST_CASE("a path that is too long keeps its end") {
  const std::size_t room = sizeof(block_report{}.file) - 1;
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, room - 1, room, room + 1, 3 * room}) {
    CAPTURE(length);
    std::string path;
    for (std::size_t i = 0; i < length; ++i) path += static_cast<char>('a' + i % 26);
    block_report r;
    for (char& c : r.file) c = '#';
    set_place(r, {path.c_str(), 17});
    CHECK(r.line == 17);
    CHECK(std::string(r.file) == (length > room ? path.substr(length - room) : path));
  }
}

TEST_CASE("a fresh report says that nothing is known yet, and is plain data") {
  const block_report r;
  CHECK(r.state == block_state::running);
  CHECK(r.op == operation::none);
  CHECK(r.peer == any_pe);
  CHECK(std::is_trivially_copyable_v<block_report>);
}

}  // namespace
}  // namespace starling::test::report_tests
